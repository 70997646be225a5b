"""What training sampled leaves as files, each episode once."""

from __future__ import annotations

from pathlib import Path

from robustops.core.episode import Episode, EpisodeGroup
from robustops.core.episode_row import read_episodes
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


def test_a_group_handed_over_twice_is_written_once(tmp_path: Path) -> None:
    TrainingLog(tmp_path, IDENTITY).add("slot-1", group("a"))
    resumed = TrainingLog(tmp_path, IDENTITY)
    resumed.add("slot-1", group("a"))
    resumed.add("slot-2", group("b"))
    lines = list(read_lines(tmp_path / "trajectories.jsonl"))
    assert [(line["source"]["slot"], line["source"]["member"]) for line in lines] == [
        ("slot-1", 0),
        ("slot-1", 1),
        ("slot-2", 0),
        ("slot-2", 1),
    ]


def test_a_line_cut_by_a_kill_is_written_again(tmp_path: Path) -> None:
    TrainingLog(tmp_path, IDENTITY).add("slot-1", group("a"))
    path = tmp_path / "trajectories.jsonl"
    path.write_bytes(path.read_bytes()[:-20])
    TrainingLog(tmp_path, IDENTITY).add("slot-1", group("a"))
    assert [line["source"]["member"] for line in read_lines(path)] == [0, 1]


def test_finish_writes_a_row_for_every_line(tmp_path: Path) -> None:
    log = TrainingLog(tmp_path, IDENTITY)
    log.add("slot-1", group("a"))
    log.finish({"t": TASK}, about={"revision": "x"})
    rows = read_episodes(tmp_path / "episodes.parquet")
    assert [(row.case_id, row.stage, row.success) for row in rows] == [
        ("t|oracle|clean|0", "rl", None),
        ("t|oracle|clean|1", "rl", None),
    ]
    assert read_json(tmp_path / "run.json")["num_episodes"] == 2
