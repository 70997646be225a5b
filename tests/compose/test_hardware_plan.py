"""The plan accepts what the project promises to run, refuses what cannot fit, and counts measured episodes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hydra import compose

from robustops.compose import plan
from robustops.compose.plan_memory import longest_row, phases_of
from robustops.config import RunConfig, typed
from robustops.core.episode import Episode, Turn
from robustops.core.errors import ConfigError, TableError
from robustops.core.json_lines import append_line
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
        (*RL, "hardware=gpu1_80g", "model.lora.rank=16"),
        (*RL, "hardware=gpu2_96g", "model.lora.rank=16", "model.attn=flash_attention_2"),
        (*SFT, "hardware=gpu2_96g", "model.lora.rank=16"),
        (*RL, "hardware=gpu1_80g", "engine.urls=[http://host:8000]", "engine.gpu_memory_utilization=0.9"),
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
        ((*RL, "hardware=gpu2_96g", "hardware.gpus=0"), r"hardware\.gpus: got 0"),
        ((*RL, "hardware=gpu1_80g", "hardware.tflops=0"), r"hardware\.tflops: got 0"),
        ((*RL, "hardware=gpu1_80g", "engine.gpu_memory_utilization=1.5"), "at most 1"),
        ((*RL, "hardware=gpu1_80g", "engine.gpu_memory_utilization=0"), "engine.gpu_memory_utilization: got 0.0"),
        ((*RL, "hardware=gpu1_80g", "hardware.gpus=2"), r"gradients needs .* GiB of one GPU"),
        ((*RL, "hardware=gpu1_80g", "engine=api"), r"engine\.kind: got 'api'"),
        ((*EVAL, "hardware=eval_16g", "engine=api"), "nothing to plan"),
        ((*EVAL, "hardware=eval_16g", "engine.kv_cache_mib=256"), r"engine\.kv_cache_mib: 256 MiB"),
        ((*RL, "hardware=gpu1_80g", "engine=hf"), r"rollout needs .*engine\.concurrency"),
        ((*RL, "hardware=gpu1_80g", "algorithm.micro_batch_tokens=200000"), r"lower algorithm\.micro_batch_tokens"),
        ((*RL, "model.lora.rank=8", "model.lora.targets=[nothing]"), r"model\.lora\.targets: got 'nothing'"),
        ((*RL, "model.lora.rank=8", "model.lora.targets=[]"), r"model\.lora\.targets: got no layer"),
        ((*RL, "model.lora.rank=8", "model.lora.dropout=0.1"), r"model\.lora\.dropout: got 0\.1 with algorithm=grpo"),
        ((*SFT, "hardware=gpu1_80g", "model.lora.rank=8", "model.lora.dropout=1"), r"model\.lora\.dropout: got 1\.0"),
        (
            (*RL, "hardware=gpu1_80g", "model.attn=flash_attention_2", "hardware.precision=fp32"),
            r"model\.attn=flash_attention_2 computes in bf16",
        ),
        ((*RL, "hardware=gpu2_96g", "engine.deterministic=true"), r"engine\.deterministic=true: a vLLM server"),
        ((*RL, "model.shape.num_hidden_layers=many"), r"model\.shape: expected whole numbers"),
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


@pytest.mark.parametrize("text", ['{"num_hidden', "[]", '{"num_attention_heads": 0, "hidden_size": 8}'])
def test_a_config_json_that_is_none_is_one_line(text, tmp_path):
    (tmp_path / "config.json").write_text(text)
    with pytest.raises(ConfigError, match=r"config\.json|model\.shape"):
        planned(*RL, f"model.path={tmp_path}")


def shown_estimate(capsys, *overrides: str) -> tuple[float, ...]:
    planned(*overrides)
    (line,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("estimate")]
    return tuple(float(number) for number in re.findall(r"(?:update|rollout) (\d+) s", line))


def test_the_estimate_is_that_of_the_data_sheet(capsys):
    """128 episodes of 16,384 tokens: 10 operations a parameter and token at 35% of 312 TFLOP/s; 15% of the tokens are
    sampled, by as many episodes at a time as 19 GiB of cache hold of 36 layers x 8 heads x 128 x 2 x 2 bytes."""
    parameters, tokens = 4.0224e9, 128 * 16384
    update_s = 10 * parameters * tokens / (0.35 * 312e12)
    token_bytes = 36 * 8 * 128 * 2 * 2
    num_decoding = (0.35 * 80 * 2**30 - 2 * parameters - 1.5 * 2**30) / (16384 * token_bytes)
    tokens_per_s = num_decoding * 0.6 * 2039e9 / (2 * parameters + num_decoding * 16384 * token_bytes)
    found = shown_estimate(capsys, *RL, "hardware=gpu1_80g")
    assert found == pytest.approx((update_s, 0.15 * tokens / tokens_per_s), rel=0.01)


def test_adapters_save_the_gradients_of_frozen_weights(capsys):
    """4 + 2 + 2 operations in place of 6 + 2 + 2."""
    whole, adapters = (shown_estimate(capsys, *RL, "hardware=gpu1_80g", f"model.lora.rank={rank}") for rank in (0, 16))
    assert adapters[0] == pytest.approx(0.8 * whole[0], rel=0.01)


def test_the_transformers_engine_keeps_its_weights_on_the_device_while_the_trainer_works():
    """2 bytes of each of 4.02 B parameters, in every phase; vLLM's are away."""
    sizes = {}
    for engine in ("vllm", "hf"):
        config = typed(compose("plan", overrides=[*RL, "hardware=gpu1_80g", f"engine={engine}", "run.dir=somewhere"]))
        assert isinstance(config, RunConfig)
        found = phases_of(config, plan.shape_of(config), longest_row(config))
        sizes[engine] = {phase.name: phase.total for phase in found if phase.name != "rollout"}
    kept = [sizes["hf"][name] - sizes["vllm"][name] for name in sizes["vllm"]]
    assert kept == [pytest.approx(2 * 4.02e9, rel=0.005)] * 3
