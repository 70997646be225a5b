"""Servers with a clock of their own: a replay may differ from the clean pass in what that clock writes alone."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from itertools import count
from typing import Any

import pytest
from desk_agent import DeskPolicy, careful
from desk_groups import DeskSlot, collect, collector_for
from desk_gym import DeskGym, DeskSession

from robustops.core.episode import EpisodeGroup, ToolResult
from robustops.core.task import Task
from robustops.gym.domains import volatile_columns
from robustops.rollout.groups import Rejection
from robustops.rollout.scout import masked


class WallClockDesk(DeskSession):
    """Its clock ticks with every call and no restore sets it back."""

    def __init__(self, volatile: frozenset[str]) -> None:
        super().__init__()
        self.volatile = volatile
        self._ticks = count(100)

    async def call(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        self._clock = next(self._ticks)
        return await super().call(name, arguments)

    async def masked_hash(self) -> str:
        columns = [
            name for name in ("case_id", "account_id", "title", "state", "written_at") if name not in self.volatile
        ]
        return repr(self._rows(f"SELECT {', '.join(columns)} FROM support_case ORDER BY case_id"))


class WallClockGym(DeskGym):
    def __init__(self, volatile: frozenset[str]) -> None:
        super().__init__()
        self.volatile = volatile

    @asynccontextmanager
    async def open(self, task: Task) -> AsyncIterator[DeskSession]:
        yield WallClockDesk(self.volatile)


async def test_what_the_clock_writes_is_left_out_of_the_comparison() -> None:
    gym = WallClockGym(frozenset({"written_at"}))
    (outcome,) = await collect(collector_for(DeskPolicy(careful), ("lost_ack",), gym=gym), [DeskSlot("fault")])
    assert isinstance(outcome, EpisodeGroup)
    assert all(episode.end is not None and episode.end.strict for episode in outcome.episodes)


@pytest.mark.parametrize("volatile", [frozenset(), frozenset({"title"})])
async def test_any_other_difference_is_refused(volatile: frozenset[str]) -> None:
    (outcome,) = await collect(
        collector_for(DeskPolicy(careful), ("lost_ack",), gym=WallClockGym(volatile)), [DeskSlot("fault")]
    )
    assert isinstance(outcome, Rejection)
    assert "native reply differs" in outcome.detail
    assert "written_at" in outcome.detail


def test_masks_know_both_spellings_and_leave_the_rest() -> None:
    volatile = frozenset({"updated_at"})
    assert masked('{"updatedAt": 1, "a": [{"updated_at": 2, "due": 3}]}', volatile) == masked(
        '{"updatedAt": 8, "a": [{"updated_at": 9, "due": 3}]}', volatile
    )
    assert masked('{"due": 3}', volatile) != masked('{"due": 4}', volatile)
    assert masked("Operation completed", volatile) == "Operation completed"


def test_the_volatile_columns_are_those_that_the_domain_stamps() -> None:
    assert "sys_updated_on" in volatile_columns("sn-csm-server")
    assert "account_id" not in volatile_columns("sn-csm-server")
    assert volatile_columns("a-server-nobody-declares") == frozenset()
