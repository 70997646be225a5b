"""Task files and data-set rows in, `Task`s out; every mistake named by file, field, what was found and expected.

Knows the public format and no gym: whether a selected tool exists is the server's answer.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from robustops.core.errors import TaskError
from robustops.core.json_lines import read_lines
from robustops.core.task import Check, GymServer, Task
from robustops.data.task_wire import TaskWire, VerifierWire, read_wire

DOMAIN_OF_SERVER: Mapping[str, str] = {
    "sn-csm-server": "csm",
    "gym-teams-mcp": "teams",
    "gym-calendar": "calendar",
    "gym-email-mcp": "email",
    "gym-itsm-mcp": "itsm",
    "sn-hr-internal": "hr",
    "gym-google-drive-mcp": "drive",
}
CHECK_FIELDS = frozenset({"query", "expected_value", "comparison_type"})


def load_task(path: Path, *, seed_root: Path | None = None, task_id: str = "", template: str = "") -> Task:
    """One JSON file. Named after the file, or after its folder where the file is called task.json.

    `seed_root`: the folder that seed paths start from; the file's own by default.
    """
    if not path.is_file():
        raise TaskError(f"{path}: no such task file")
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise TaskError(f"{path}:{error.lineno}: not JSON ({error.msg})") from error
    except UnicodeDecodeError as error:
        raise TaskError(f"{path}: not UTF-8 text ({error.reason} at byte {error.start})") from error
    own_id = path.parent.name if path.name == "task.json" else path.stem
    root = path.parent if seed_root is None else seed_root
    return read_task(value, where=str(path), task_id=task_id or own_id, seed_root=root, template=template)


def read_task(
    value: Any,
    *,
    where: str,
    task_id: str,
    seed_root: Path,
    template: str = "",
) -> Task:
    """A decoded JSON object into a Task. `where` opens every error; an id in the value itself comes first."""
    wire = read_wire(value, where)
    if not (wire.task_id or task_id):
        raise TaskError(f"{where}: task_id: missing; expected an id, as every data-set row has")
    names = [server.mcp_server_name for server in wire.gym_servers_config]
    return Task(
        task_id=wire.task_id or task_id,
        domain=wire.domain or _domain(names),
        policy=wire.system_prompt,
        request=wire.user_prompt,
        tools=tuple(name for name in dict.fromkeys(wire.selected_tools) if name not in wire.restricted_tools),
        servers=_servers(wire),
        checks=tuple(_check(index, verifier) for index, verifier in enumerate(wire.verifiers)),
        seed_root=str(seed_root),
        template=template,
    )


def domains_of(task: Task) -> tuple[str, ...]:
    """The domains of a task's servers, in the task's order; a hybrid task has several."""
    return tuple(dict.fromkeys(DOMAIN_OF_SERVER.get(server.name, server.name) for server in task.servers))


def _servers(wire: TaskWire) -> tuple[GymServer, ...]:
    return tuple(
        GymServer(
            name=server.mcp_server_name,
            seed_file=server.seed_database_file,
            url=server.mcp_server_url,
            context=server.context,
        )
        for server in wire.gym_servers_config
    )


def _check(index: int, verifier: VerifierWire) -> Check:
    config = verifier.validation_config
    return Check(
        index=index,
        kind=verifier.verifier_type,
        name=verifier.name,
        gym=verifier.gym_name or None,
        query=str(config.get("query", "")),
        expected=config.get("expected_value"),
        comparison=str(config.get("comparison_type", "equals")),
        config={name: item for name, item in config.items() if name not in CHECK_FIELDS},
    )


def _domain(server_names: list[str]) -> str:
    """One server's domain; several make a task hybrid, as the public data set has it."""
    if len(set(server_names)) > 1:
        return "hybrid"
    return DOMAIN_OF_SERVER.get(server_names[0], server_names[0])


def load_values(path: Path) -> list[dict[str, Any]]:
    """The rows of a data-set file as they are. Raises TaskError for a file that is neither Parquet nor JSON Lines."""
    if not path.is_file():
        raise TaskError(f"{path}: no such data-set file")
    if path.suffix == ".jsonl":
        return list(read_lines(path))
    if path.suffix == ".parquet":
        try:
            rows: list[dict[str, Any]] = pq.read_table(path).to_pylist()
        except pa.ArrowInvalid as error:
            raise TaskError(f"{path}: not a Parquet file ({error})") from error
        return rows
    raise TaskError(f"{path}: got a {path.suffix or 'nameless'} file; expected .parquet or .jsonl")
