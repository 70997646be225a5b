"""The scripted tasks that the package agentrelbench ships: real seeds, scripted calls, expected outcomes."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from robustops.core.episode import ToolCall
from robustops.core.task import Check, GymServer, Task


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """One scripted run of a task, and whether its checks must pass in the end."""

    name: str
    task: Task
    calls: tuple[ToolCall, ...]
    answer: str
    succeeds: bool


def suite_root() -> Path | None:
    if importlib.util.find_spec("agentrelbench") is None:
        return None
    return Path(str(files("agentrelbench"))) / "suite"


def scripts(domain: str) -> list[Script]:
    root = suite_root()
    if root is None:
        return []
    folders = [task for part in ("tasks", "tasks-escalated") for task in sorted((root / part / domain).iterdir())]
    return [script for folder in folders for script in _scripts(root, folder)]


def _scripts(root: Path, folder: Path) -> Iterator[Script]:
    task = read_task(root, folder / "task.json")
    for path in [folder / "oracle.script.json", *sorted((folder / "counterexamples").glob("*.script.json"))]:
        data = json.loads(path.read_text())
        steps = data["script"]
        yield Script(
            name=f"{folder.parent.parent.name}/{folder.name}/{path.name.removesuffix('.script.json')}",
            task=task,
            calls=tuple(
                ToolCall(name=call["name"], arguments=call["arguments"])
                for step in steps
                for call in step.get("tool_calls", ())
            ),
            answer=steps[-1].get("content", ""),
            succeeds=data["expected"]["eog_success"],
        )


def read_task(root: Path, path: Path) -> Task:
    data = json.loads(path.read_text())
    return Task(
        task_id=path.parent.name,
        domain=path.parent.parent.name,
        policy=data["system_prompt"],
        request=data["user_prompt"],
        tools=tuple(data["selected_tools"]),
        servers=tuple(
            GymServer(
                name=server["mcp_server_name"],
                seed_file=server["seed_database_file"],
                url=server["mcp_server_url"],
                context=server.get("context") or {},
            )
            for server in data["gym_servers_config"]
        ),
        checks=tuple(
            Check(
                index=index,
                kind=entry["verifier_type"],
                name=entry["name"],
                gym=entry.get("gym_name"),
                query=entry["validation_config"]["query"],
                expected=entry["validation_config"]["expected_value"],
                comparison=entry["validation_config"]["comparison_type"],
            )
            for index, entry in enumerate(data["verifiers"])
        ),
        seed_root=str(root),
    )
