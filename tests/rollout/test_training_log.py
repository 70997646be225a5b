"""What training sampled leaves as files, each episode once."""

from __future__ import annotations

from pathlib import Path

import pytest

from robustops.core.episode import Episode, EpisodeGroup
from robustops.core.episode_row import read_episodes
from robustops.core.errors import TableError
from robustops.core.files import read_json
from robustops.core.json_lines import read_lines
from robustops.core.task import Case, Task
from robustops.rollout.rows import RunIdentity
from robustops.rollout.training_log import TrainingLog

IDENTITY = RunIdentity(run="r", model="m", stage="rl", split="train", seed=3, policy_mode="sampled")
TASK = Task(task_id="t", domain="csm", policy="", request="", tools=(), servers=(), checks=())


def group(group_id: str) -> EpisodeGroup:
    episodes = tuple(
        Episode(case=Case(task_id="t", attempt=member), turns=(), boundary=None, end=None, stop_reason="stop")
        for member in range(2)
    )
    return EpisodeGroup(group_id=group_id, condition="clean", episodes=episodes)


def named(folder: Path) -> list[tuple[str, str, int]]:
    """Slot, group and member of each line."""
    sources = [line["source"] for line in read_lines(folder / "trajectories.jsonl")]
    return [(source["slot"], source["group"], source["member"]) for source in sources]


def test_a_group_that_a_resumed_run_adds_again_stands_there_once(tmp_path: Path) -> None:
    first = TrainingLog(tmp_path, IDENTITY)
    first.add(0, "slot-1", group("a"))
    first.add(1, "slot-2", group("b"))
    resumed = TrainingLog(tmp_path, IDENTITY)
    resumed.add(1, "slot-2", group("b"))
    resumed.add(1, "slot-3", group("c"))
    slots = (("slot-1", "a"), ("slot-2", "b"), ("slot-3", "c"))
    assert named(tmp_path) == [(*slot, member) for slot in slots for member in range(2)]


def test_of_a_step_that_is_played_anew_nothing_is_left(tmp_path: Path) -> None:
    """As after a damaged state: other weights, other groups in slots of the same names, fewer of them."""
    first = TrainingLog(tmp_path, IDENTITY)
    for step, slot, name in ((0, "slot-1", "a"), (1, "slot-2", "b"), (1, "slot-3", "c"), (2, "slot-4", "d")):
        first.add(step, slot, group(name))
    TrainingLog(tmp_path, IDENTITY).add(1, "slot-2", group("e"))
    assert named(tmp_path) == [("slot-1", "a", 0), ("slot-1", "a", 1), ("slot-2", "e", 0), ("slot-2", "e", 1)]


def test_a_line_cut_by_a_kill_goes(tmp_path: Path) -> None:
    TrainingLog(tmp_path, IDENTITY).add(0, "slot-1", group("a"))
    path = tmp_path / "trajectories.jsonl"
    path.write_bytes(path.read_bytes()[:-20])
    TrainingLog(tmp_path, IDENTITY).add(1, "slot-2", group("b"))
    assert named(tmp_path) == [("slot-1", "a", 0), ("slot-2", "b", 0), ("slot-2", "b", 1)]


def test_a_log_of_an_earlier_build_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "trajectories.jsonl").write_text('{"source": {"slot": "0/clean/0", "member": 0}}\n')
    with pytest.raises(TableError, match="of an earlier build"):
        TrainingLog(tmp_path, IDENTITY).add(1, "slot-1", group("a"))


def test_finish_writes_a_row_for_every_line(tmp_path: Path) -> None:
    log = TrainingLog(tmp_path, IDENTITY)
    log.add(0, "slot-1", group("a"))
    log.finish({"t": TASK}, about={"revision": "x"})
    rows = read_episodes(tmp_path / "episodes.parquet")
    assert [(row.case_id, row.stage, row.success) for row in rows] == [
        ("t|oracle|clean|0", "rl", None),
        ("t|oracle|clean|1", "rl", None),
    ]
    assert read_json(tmp_path / "run.json")["num_episodes"] == 2
