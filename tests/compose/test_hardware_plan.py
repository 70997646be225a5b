"""The plan accepts what the project promises to run, refuses what cannot fit, and counts measured episodes."""

from __future__ import annotations

from pathlib import Path

import pytest
from hydra import compose

from robustops.compose import plan
from robustops.config import RunConfig, typed
from robustops.core.episode import Episode, Turn
from robustops.core.errors import ConfigError, TableError
from robustops.core.tables import append_line
from robustops.core.task import Case
from robustops.rollout.run_folder import TRAJECTORIES
from robustops.rollout.trajectory import dump_episode

pytestmark = pytest.mark.usefixtures("hydra_knows_the_tree")

SFT = ("+experiment=sft", "algorithm.demonstrations=file")
RL = ("+experiment=rl120",)
EVAL = ("+experiment=eval_test", "plan.job=evaluate")


def planned(*overrides: str) -> None:
    config = typed(compose("plan", overrides=[*overrides, "run.dir=somewhere"]))
    assert isinstance(config, RunConfig)
    plan.run(config, Path("somewhere"))


@pytest.mark.parametrize(
    "overrides",
    [
        (*EVAL, "hardware=eval_16g"),
        (*EVAL, "hardware=eval_32g"),
        (*SFT, "hardware=gpu1_80g"),
        (*SFT, "hardware=gpu2_96g"),
        (*RL, "hardware=gpu1_80g"),
        (*RL, "hardware=gpu2_96g"),
        (*RL, "hardware=node8"),
    ],
)
def test_what_is_promised_fits(overrides, capsys):
    planned(*overrides)
    assert "fits" in capsys.readouterr().out.splitlines()[-1]


@pytest.mark.parametrize(
    ("overrides", "reason"),
    [
        ((*EVAL, "hardware=eval_16g", "engine.concurrency=2"), r"decoding needs .* GiB.*engine\.concurrency"),
        ((*EVAL, "hardware=eval_16g", "engine.gpu_memory_utilization=0.5"), r"0\.5 of 16 GiB is 8\.0"),
        ((*RL, "hardware=eval_32g"), "rollout needs"),
        ((*RL, "hardware=gpu1_80g", "algorithm.activation_checkpointing=false"), "activation_checkpointing=true"),
        ((*RL, "hardware=gpu1_80g", "engine.gpu_memory_utilization=0.9"), "engine.gpu_memory_utilization"),
        ((*RL, "hardware=gpu1_80g", "model.max_context_tokens=65536"), "gradients needs"),
        (("hardware=cpu",), r"hardware\.memory_gib"),
        ((*RL, "~model.shape.num_attention_heads"), r"model\.shape: num_attention_heads"),
        ((*RL, "plan.episodes=nowhere"), r"plan\.episodes"),
    ],
)
def test_what_cannot_fit_is_refused_with_the_key_to_change(overrides, reason):
    with pytest.raises((ConfigError, TableError), match=reason):
        planned(*overrides)


def test_the_share_of_measured_episodes_within_each_cap_is_shown(tmp_path, capsys):
    for number, length in enumerate((3000, 5000, 9000, 40_000)):
        turn = Turn(
            context_ids=(1,) * (length - 5), sampled_ids=(2,) * 5, logprobs=(0.0,) * 5, weight_version=0, text=""
        )
        case = Case(task_id=f"csm/{number}", tool_mode="oracle", condition="clean")
        episode = Episode(case=case, turns=(turn,), boundary=None, end=None, stop_reason="stop")
        append_line(tmp_path / TRAJECTORIES, dump_episode(episode, source={}))
    planned(*RL, "hardware=gpu2_96g", f"plan.episodes={tmp_path}")
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in capsys.readouterr().out.splitlines()]
    shares = {row[0]: row[2] for row in rows if len(row) == 3}
    assert shares["4096"] == "25.0%"
    assert shares["8192"] == "50.0%"
    assert shares["16384"] == shares["32768"] == "75.0%"
    assert shares["49152"] == "100.0%"
