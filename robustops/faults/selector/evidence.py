"""What a selector may go by: a task, its tools with their servers, and the replies seen in a clean pass. Knows no plan.

Replies are reduced to their shape, so that a selector speaks about kinds of calls and not about rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from robustops.core.task import Task, ToolSchema
from robustops.faults.mechanism import Attempt
from robustops.faults.shapes import list_reply, parsed

Form = Literal["list", "object", "text", "error"]
MAX_KEYS = 12  # of a reply's names, enough to see what it is about


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyShape:
    """`arguments`: names of those sent. `is_write`: the databases differ afterwards. `num_rows`: of a list."""

    arguments: tuple[str, ...]
    form: Form
    is_write: bool
    num_rows: int
    num_chars: int
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolEvidence:
    """One tool and the shapes of its native replies, in order; none for a tool that the clean pass did not call."""

    tool: ToolSchema
    replies: tuple[ReplyShape, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskEvidence:
    task: Task
    tools: tuple[ToolEvidence, ...]

    @property
    def tool_names(self) -> tuple[str, ...]:
        return tuple(seen.tool.name for seen in self.tools)


def shape_of(attempt: Attempt) -> ReplyShape:
    """The shape of one executed call."""
    native = attempt.native
    if native is None:
        raise ValueError(f"{attempt.tool.name}: a call that did not run has no reply to look at")
    value, listed = parsed(native), list_reply(native)
    form: Form = "text"
    keys: Sequence[str] = ()
    if native.is_error:
        form = "error"
    elif listed is not None:
        form = "list"
        keys = tuple(listed.rows[0]) if listed.rows and isinstance(listed.rows[0], dict) else ()
    elif isinstance(value, dict):
        form, keys = "object", tuple(value)
    return ReplyShape(
        arguments=tuple(sorted(attempt.arguments)),
        form=form,
        is_write=attempt.is_write,
        num_rows=len(listed.rows) if listed is not None else 0,
        num_chars=len(native.text),
        keys=tuple(keys[:MAX_KEYS]),
    )


def as_json(evidence: TaskEvidence) -> dict[str, Any]:
    """Everything a model is told of a task. Checks are told by name and kind: their queries would give values away."""
    task = evidence.task
    return {
        "request": task.request,
        "policy": task.policy,
        "tools": [
            {
                "name": seen.tool.name,
                "server": seen.tool.gym,
                "description": seen.tool.description,
                "parameters": seen.tool.input_schema,
                "replies_seen": [asdict(shape) for shape in seen.replies],
            }
            for seen in evidence.tools
        ],
        "checks": [{"name": check.name, "kind": check.kind, "comparison": check.comparison} for check in task.checks],
    }
