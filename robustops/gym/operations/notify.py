"""Sending a notification where the server looks at the recipient: a create with one check more."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from robustops.gym.domain import Domain, Tool
from robustops.gym.hashing import quoted
from robustops.gym.operations.checks import scoped
from robustops.gym.operations.kind import Call, Kind, Operation, ToolFailure
from robustops.gym.operations.writes import CREATE


def _notify(domain: Domain, tool: Tool) -> Operation:
    """Options: `users`, the table where the address must occur; `refuse_caller` where one may not write to oneself."""
    create = CREATE.compile(domain, tool)
    users = domain.tables[tool.options["users"]]
    refuses_caller = bool(tool.options.get("refuse_caller"))

    def run(call: Call, arguments: Mapping[str, Any]) -> Any:
        email = arguments["email"]
        text, values = scoped(domain, users, call, "email = ?", (email,))
        if call.database.row(f"SELECT 1 FROM {quoted(users.name)} WHERE {text}", values) is None:
            raise ToolFailure("email does not belong to a user", code="USER_EMAIL_NOT_FOUND", field="email")
        if refuses_caller and email == call.caller["email"]:
            raise ToolFailure("Cannot send notification to yourself", code="CANNOT_SEND_TO_SELF", field="email")
        return create(call, arguments)

    return run


NOTIFY = Kind(compile=_notify, output=CREATE.output, is_write=True, place="body")
