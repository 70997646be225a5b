"""What servers answered to `tools/list`, kept in files: a folder in, tool schemas by domain out.

Shown instead of our own declarations, they make prompts equal to the original's, byte for byte. A file holds such an
answer, bare or as the JSON-RPC message, and is of the server that its `gym_name` or its own name says.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from robustops.core.errors import ConfigError
from robustops.core.task import ToolSchema
from robustops.gym.domains import FOLDERS, load_toolbox
from robustops.gym.public import BY_DOMAIN, BY_NAME
from robustops.gym.toolbox import Toolbox

logger = logging.getLogger(__name__)
Advertised = Mapping[str, Sequence[ToolSchema]]
KEY = "gym.tool_snapshots"


class _Tool(BaseModel):
    model_config = ConfigDict(extra="ignore")

    name: str
    description: str = ""
    inputSchema: dict[str, Any]
    outputSchema: dict[str, Any] | None = None


class _Answer(BaseModel):
    model_config = ConfigDict(extra="ignore")

    gym_name: str = ""
    tools: list[_Tool]


def read_tool_snapshots(folder: Path) -> dict[str, tuple[ToolSchema, ...]]:
    """By domain. Raises ConfigError for a folder without any, a file that is none, and two of one domain."""
    if not folder.is_dir():
        raise ConfigError(f"{KEY}: {folder}: no such folder; give one with files such as csm.json")
    found: dict[str, tuple[ToolSchema, ...]] = {}
    for path in sorted(folder.glob("*.json")):
        answer = _read(path)
        domain = _domain(answer.gym_name or path.stem)
        if domain is None:
            raise ConfigError(
                f"{path}: of server {answer.gym_name or path.stem!r}, expected a domain or one of "
                f"{', '.join(BY_NAME)}; name the file after its domain, or move it elsewhere"
            )
        if domain in found:
            raise ConfigError(f"{path}: a second snapshot of {domain}; leave one of them in {folder}")
        found[domain] = tuple(_schema(tool, domain) for tool in answer.tools)
    if not found:
        raise ConfigError(f"{KEY}: {folder}: no .json file in it; give a folder with files such as csm.json")
    return found


def advertising(toolbox: Toolbox, snapshots: Advertised) -> Toolbox:
    """The same tools, told of in the server's own words where there is a snapshot, and those that it lists alone.

    A tool that only the snapshot has cannot run here: it is left out, and named in the log.
    """
    domain = toolbox.domain
    if domain.name not in snapshots:
        return toolbox
    tools = snapshots[domain.name]
    if unknown := [tool.name for tool in tools if tool.name not in domain.tools]:
        logger.warning("%s: in the tool snapshot alone, and left out: %s", domain.name, ", ".join(unknown))
    return toolbox.of(replace(domain, advertised=tuple(tool for tool in tools if tool.name in domain.tools)))


def toolboxes(snapshots: Advertised) -> tuple[Toolbox, ...]:
    """Those of every embedded domain."""
    return tuple(advertising(load_toolbox(name), snapshots) for name in FOLDERS)


def _read(path: Path) -> _Answer:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
        return _Answer.model_validate(value["result"] if isinstance(value, dict) and "result" in value else value)
    except ValidationError as error:
        fault = error.errors()[0]
        where = ".".join(map(str, fault["loc"])) or "the file"
        raise ConfigError(
            f"{path}: no answer to tools/list: {where}: {fault['msg']}; expected an object with `tools`"
        ) from error
    except ValueError as error:
        raise ConfigError(f"{path}: not JSON text ({error}); expected an answer to tools/list") from error


def _domain(name: str) -> str | None:
    if name in BY_NAME:
        return BY_NAME[name].domain
    return name if name in BY_DOMAIN else None


def _schema(tool: _Tool, domain: str) -> ToolSchema:
    return ToolSchema(
        name=tool.name,
        description=tool.description,
        input_schema=tool.inputSchema,
        gym=BY_DOMAIN[domain].name,
        output_schema=tool.outputSchema,
    )
