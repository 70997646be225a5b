"""What training writes of token advantages belongs to the tokens that were sampled, turn by turn."""

from __future__ import annotations

from pathlib import Path

import torch

from robustops.compose.advantage_log import AdvantageLog
from robustops.core.episode import Episode, EpisodeGroup, Turn
from robustops.core.json_lines import read_lines
from robustops.core.task import Case
from robustops.learn.batch import TrainingBatch
from robustops.learn.denominators import count_tokens
from robustops.learn.trajectory import trajectory


def turn(context: tuple[int, ...], sampled: tuple[int, ...], *, generated: bool = True) -> Turn:
    logprobs = (-0.1,) * len(sampled)
    return Turn(
        context_ids=context, sampled_ids=sampled, logprobs=logprobs, weight_version=0, text="", generated=generated
    )


def episode(*turns: Turn) -> Episode:
    return Episode(case=Case(task_id="t"), turns=turns, boundary=None, end=None, stop_reason="stop")


def played_group() -> tuple[EpisodeGroup, TrainingBatch]:
    played = episode(turn((4,), (5,)))
    row = trajectory(played, group_id="g", flow=0, advantage_T=torch.tensor([0.5]))
    batch = TrainingBatch(trajectories=(row,), scores=(), tokens=count_tokens([1], [0]))
    return EpisodeGroup(group_id="g", condition="clean", episodes=(played,)), batch


def test_a_line_that_a_kill_cut_short_does_not_spoil_the_next_one(tmp_path: Path) -> None:
    group, batch = played_group()
    AdvantageLog(tmp_path, str).add([group], batch)
    path = tmp_path / "advantages.jsonl"
    whole = path.read_text()
    path.write_text(whole + whole[:20])
    resumed = AdvantageLog(tmp_path, str)
    resumed.add([group], batch)
    resumed.add([group], batch)
    assert path.read_text() == whole * 3


def test_every_sampled_token_has_its_own_advantage_and_a_member_without_any_is_passed_over(tmp_path: Path) -> None:
    played = episode(turn((1, 2), (3,), generated=False), turn((4,), (5, 6)), turn((7, 8), (9,)))
    silent = episode(turn((1,), (2,), generated=False))
    group = EpisodeGroup(group_id="g", condition="fault", episodes=(silent, played))
    row = trajectory(played, group_id="g", flow=1, advantage_T=torch.tensor([0.5, -0.25, 1.0]))
    batch = TrainingBatch(trajectories=(row,), scores=(), tokens=count_tokens([3], [1]))
    AdvantageLog(tmp_path, lambda ids: f"<{ids[0]}>").add([group], batch)
    (line,) = read_lines(tmp_path / "advantages.jsonl")
    assert (line["group"], line["member"]) == ("g", 1)
    assert line["turns"] == [
        {"pieces": [], "advantages": []},
        {"pieces": ["<5>", "<6>"], "advantages": [0.5, -0.25]},
        {"pieces": ["<9>"], "advantages": [1.0]},
    ]
