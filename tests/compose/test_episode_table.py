"""Sample episodes reach a W&B run that has no network."""

from __future__ import annotations

import json

import pytest
from lightning.pytorch.loggers import WandbLogger

from robustops.compose.episode_table import COLUMNS, MAX_CHARS, episode_table, rows_of, transcript
from robustops.core.episode import CheckResult, Episode, EpisodeGroup, ToolResult, Turn, Verdict
from robustops.core.task import Case
from robustops.learn.collection import Played
from robustops.rollout.score import RewardWeights, score

WEIGHTS = RewardWeights()


def played(flow: str, name: str, text: str = "hello") -> Played:
    def verdict(passed: bool) -> Verdict:
        return Verdict(checks=(CheckResult(index=0, name="check", passed=passed),), gated=int(passed))

    turn = Turn(
        context_ids=(1,),
        sampled_ids=(2,),
        logprobs=(-1.0,),
        weight_version=0,
        text=text,
        shown=ToolResult(text="a reply", observation="{}"),
    )
    episodes = tuple(
        Episode(
            case=Case(task_id="t", condition=flow, attempt=member),
            turns=(turn,),
            boundary=verdict(False),
            end=verdict(member == 0),
            stop_reason="stop",
        )
        for member in range(2)
    )
    scores = tuple(found for episode in episodes if (found := score(episode)) is not None)
    return Played(group=EpisodeGroup(group_id=name, condition=flow, episodes=episodes), scores=scores)


def test_the_first_groups_of_each_flow_are_shown_with_their_rewards():
    found = rows_of(6, [played("clean", f"c{n}") for n in range(3)] + [played("fault", "f0")], WEIGHTS)
    rows = [dict(zip(COLUMNS, row, strict=True)) for row in found]
    assert [(row["group"], row["member"]) for row in rows] == [
        ("c0", 0), ("c0", 1), ("c1", 0), ("c1", 1), ("f0", 0), ("f0", 1),
    ]  # fmt: skip
    assert [row["reward"] for row in rows[:2]] == pytest.approx([1.4, 0.0])
    assert rows[0]["transcript"] == "hello\n-> a reply"
    assert {row["step"] for row in rows} == {6}


def test_a_long_transcript_loses_its_middle():
    text = transcript(played("clean", "c", "x" * 9000 + "end").group.episodes[0])
    assert len(text) == MAX_CHARS + len("\n...\n")
    assert text.endswith("end\n-> a reply")


@pytest.mark.filterwarnings("ignore")
def test_an_offline_run_holds_the_table(tmp_path):
    logger = WandbLogger(project="robustops", save_dir=tmp_path, offline=True, id="run")
    show = episode_table(logger, WEIGHTS)
    show(1, [played("clean", "c0")])
    show(2, [played("clean", "not shown: every fifth step")])
    logger.experiment.finish()
    [path] = tmp_path.glob("wandb/offline-run-*/files/media/table/*.json")
    table = json.loads(path.read_text())
    assert table["columns"] == COLUMNS
    assert [row[1] for row in table["data"]] == ["c0", "c0"]


def test_other_loggers_have_no_table():
    assert episode_table(None, WEIGHTS) is None
