"""Several policies in one evaluation, side by side on the same cases; what changes no episode is no part of a run."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from analysis.align import align, load_run
from robustops.agent.scripted import ScriptedExpert
from robustops.compose.evaluate import arms_of, run
from robustops.compose.play import Arm, play_arms
from robustops.compose.run_identity import identity_of, settings_sha
from robustops.compose.scene import build_scene
from robustops.config.tree import (
    EngineConfig,
    EvaluationConfig,
    FaultPolicyConfig,
    GymConfig,
    ModelConfig,
    RunConfig,
    SftConfig,
    SplitConfig,
)
from robustops.core.errors import ConfigError, TableError
from robustops.core.folders import sole_writer
from robustops.data.paraphrase import LEVELS, paraphrased
from robustops.rollout.evaluate import paired_cases

TINY = Path(__file__).resolve().parents[2] / "robustops" / "assets" / "models" / "tiny-base"


def configured(root: Path, **evaluation: object) -> RunConfig:
    return RunConfig(
        algorithm=SftConfig(demonstrations="none"),
        model=ModelConfig(
            name="tiny", path=str(TINY), tool_schema="compact", max_context_tokens=1536, reserve_tokens=128
        ),
        split=SplitConfig(root=str(root / "tasks"), part="test", num_train=4, num_val=1, num_test=3, limit=3),
        fault_policy=FaultPolicyConfig(name="train"),
        engine=EngineConfig(kind="scripted", concurrency=4, max_tokens_per_turn=128),
        evaluation=EvaluationConfig(**evaluation),  # type: ignore[arg-type]
    )


def test_two_arms_leave_two_run_folders_of_the_same_cases(tmp_path: Path) -> None:
    run(configured(tmp_path, arms=["base:one", "rl:two"], conditions=["clean"], attempts=2), tmp_path / "run")
    runs = [load_run(tmp_path / "run" / stage) for stage in ("base", "rl")]
    aligned = align(runs)
    assert len(aligned.slots["clean"]) == 3 * 2
    assert set(aligned.num_left_out.values()) == {0}
    assert all(row.success and row.damage_rows == 0 for run in runs for row in run.rows.values())


class Noting:
    """The expert, noting whose turn it was; gives way so that others can play in between."""

    def __init__(self, name: str, expert: ScriptedExpert, seen: list[str]) -> None:
        self._name, self._expert, self._seen = name, expert, seen

    async def act(self, prompt, sampling):  # type: ignore[no-untyped-def]
        self._seen.append(self._name)
        await asyncio.sleep(0)
        return await self._expert.act(prompt, sampling)

    async def close(self) -> None:
        self._seen.append(f"{self._name} closed")


def test_arms_take_turns_from_the_first_case_on(tmp_path: Path) -> None:
    config = configured(tmp_path, conditions=["clean"])
    scene, seen = build_scene(config, "test"), []
    arms = [
        Arm(
            config=config,
            policy=Noting(name, ScriptedExpert(scene.task_set.plans, scene.codec), seen),
            identity=identity_of(config, tmp_path / name, model="m", stage=name, split="test", policy_mode="greedy"),
            folder=tmp_path / name,
        )
        for name in ("base", "rl")
    ]
    cases = paired_cases(list(scene.tasks.values()), conditions=["clean"])
    asyncio.run(play_arms(scene, arms, cases, manifest=None))
    played = [name for name in seen if not name.endswith("closed")]
    assert seen[-2:] == ["base closed", "rl closed"]
    half = len(played) // 2
    assert 0 < played[:half].count("rl") < half  # neither waits for the other to finish
    assert played.count("base") == played.count("rl")


@pytest.mark.parametrize(
    ("arms", "expected"),
    [
        (["big:models/x"], "expected STAGE:FOLDER or STAGE:http://HOST:PORT/v1 with a stage of base, sft, rl, teacher"),
        (["base"], "got 'base'"),
        (["rl:a", "rl:b"], "stage 'rl' twice"),
    ],
)
def test_an_arm_that_cannot_be_is_refused(tmp_path: Path, arms: list[str], expected: str) -> None:
    with pytest.raises(ConfigError, match=expected):
        arms_of(configured(tmp_path, arms=arms))


def test_an_arm_behind_an_endpoint_is_counted_with_the_models_tokenizer_under_the_same_budget(tmp_path: Path) -> None:
    base, teacher = arms_of(configured(tmp_path, arms=["base:somewhere", "teacher:http://host:8000/v1"]))
    assert (teacher.engine.kind, teacher.model.stage, teacher.model.tokenizer_path) == ("api", "teacher", str(TINY))
    assert teacher.model.api.base_url == "http://host:8000/v1"
    assert (base.model.path, base.model.tokenizer_path, base.engine.kind) == ("somewhere", str(TINY), "scripted")
    assert teacher.model.max_context_tokens == base.model.max_context_tokens


def test_a_model_with_another_tokenizer_is_refused(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(ConfigError, match="arms share one tokenizer"):
        arms_of(configured(tmp_path, arms=[f"base:{TINY}", f"rl:{tmp_path}"]))
    (tmp_path / "tokenizer.json").write_bytes((TINY / "tokenizer.json").read_bytes())
    assert len(arms_of(configured(tmp_path, arms=[f"base:{TINY}", f"rl:{tmp_path}"]))) == 2


def test_what_changes_no_episode_is_no_part_of_a_runs_settings(tmp_path: Path) -> None:
    config = configured(tmp_path)
    known = settings_sha(config)
    assert settings_sha(replace(config, engine=replace(config.engine, concurrency=1, kv_cache_mib=64))) == known
    assert settings_sha(replace(config, gym=GymConfig(pool=2))) == known
    assert settings_sha(replace(config, evaluation=replace(config.evaluation, attempts=9))) == known
    slower = replace(config.model.api, requests_per_minute=6, concurrency=1, usd_per_million_input=2.0)
    assert settings_sha(replace(config, model=replace(config.model, api=slower))) == known
    other = replace(config.model.api, model="another")
    assert settings_sha(replace(config, model=replace(config.model, api=other))) != known
    assert settings_sha(replace(config, evaluation=replace(config.evaluation, temperature=0.5))) != known
    assert settings_sha(replace(config, evaluation=replace(config.evaluation, paraphrase=1))) != known
    assert settings_sha(replace(config, seed=1)) != known


def test_a_paraphrase_holds_the_request_as_it_is_and_repeats_itself(tmp_path: Path) -> None:
    task = next(iter(build_scene(configured(tmp_path), "test").tasks.values()))
    texts = [paraphrased(task, level).request for level in range(len(LEVELS))]
    assert texts[0] == task.request
    assert len(set(texts)) == 3
    assert all(task.request in text for text in texts)
    assert paraphrased(task, 2) == paraphrased(task, 2)
    with pytest.raises(ConfigError, match=r"evaluation\.paraphrase: paraphrase level 3"):
        run(configured(tmp_path, paraphrase=3), tmp_path / "run")


@pytest.mark.skipif(sys.platform == "win32", reason="folders cannot be locked there")
def test_a_second_evaluation_in_the_folder_of_a_running_one_is_refused(tmp_path):
    with sole_writer(tmp_path / "run"), pytest.raises(TableError, match="another run is writing there"):
        run(configured(tmp_path), tmp_path / "run")
