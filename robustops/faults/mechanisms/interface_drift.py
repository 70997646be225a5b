"""Family `interface_drift`: a tool's parameter has another name than its schema says. Sound recovery: use the new one.

For evaluation alone. The error names the old and the new name; calls with the new one run as usual.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from robustops.core.episode import ToolResult
from robustops.core.task import ToolSchema
from robustops.faults.mechanism import Attempt, Draw, Need, required_names
from robustops.faults.replies import renamed_error, with_text
from robustops.gym.session import Session


class SchemaDrift:
    """Calls with the parameter's old name are turned away; `native_arguments` undoes the renaming for the tool."""

    subtype = "schema_drift"
    executes = False
    needs: frozenset[Need] = frozenset()

    async def is_eligible(self, attempt: Attempt, session: Session) -> bool:
        renamed = renaming(attempt.tool)
        return renamed is not None and renamed[0] in attempt.arguments

    async def reply(self, attempt: Attempt, session: Session, draw: Draw) -> ToolResult:
        renamed = renaming(attempt.tool)
        assert renamed is not None
        return with_text(None, json.dumps(renamed_error(*renamed)), is_error=True, executed=False)


def renaming(tool: ToolSchema) -> tuple[str, str] | None:
    """Old and new name of the parameter that drifts: the first required one, else the first; None without any."""
    known = list(tool.input_schema.get("properties") or {})
    old = next(iter((*required_names(tool), *known)), None)
    if old is None:
        return None
    camel = re.sub(r"_+([a-zA-Z0-9])", lambda match: match.group(1).upper(), old)
    new = camel if camel != old else f"{old}Value"
    while new in known:
        new += "New"
    return old, new


def native_arguments(tool: ToolSchema, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    """What the tool itself understands: a call that uses the new name, put back to the old one."""
    renamed = renaming(tool)
    if renamed is None or renamed[1] not in arguments or renamed[0] in arguments:
        return arguments
    return {(renamed[0] if name == renamed[1] else name): value for name, value in arguments.items()}
