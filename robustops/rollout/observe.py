"""Watch a clean pass for a selector: a task in, the evidence about its tools out."""

from __future__ import annotations

from robustops.core.episode import Turn
from robustops.core.errors import GymError
from robustops.core.task import Case, Task, ToolSchema
from robustops.faults.mechanism import Attempt
from robustops.faults.selector.evidence import ReplyShape, TaskEvidence, ToolEvidence, shape_of
from robustops.gym.session import Session
from robustops.rollout.play import Hooks, selected_tools
from robustops.rollout.setup import Setup, play_in


class Watch(Hooks):
    """Keeps the shape of every native reply, by tool."""

    def __init__(self) -> None:
        self.shapes: dict[str, list[ReplyShape]] = {}

    async def after_call(self, session: Session, turn: Turn) -> None:
        tool = next((tool for tool in session.tools if turn.call and tool.name == turn.call.name), None)
        if tool is None or turn.call is None or turn.native is None:
            return
        attempt = Attempt(
            tool=tool,
            arguments=turn.call.arguments,
            hash_before=turn.hash_before,
            native=turn.native,
            hash_after=turn.hash_after,
        )
        self.shapes.setdefault(tool.name, []).append(shape_of(attempt))


async def observe(setup: Setup, task: Task) -> TaskEvidence:
    """Play a task once without faults. Raises GymError, naming the task, when the pass breaks down."""
    watch = Watch()
    tools: tuple[ToolSchema, ...] = ()
    async with setup.gym.open(task) as session:
        tools = selected_tools(task, session.tools)
        episode = await play_in(session, setup, task, Case(task_id=task.task_id, tool_mode=task.tool_mode), hooks=watch)
    if episode.is_spoilt:
        raise GymError(f"labels: the clean pass of {task.task_id} failed: {episode.error}")
    seen = tuple(ToolEvidence(tool=tool, replies=tuple(watch.shapes.get(tool.name, ()))) for tool in tools)
    return TaskEvidence(task=task, tools=seen)
