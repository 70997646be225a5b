"""An evaluation that samples missed faults again: from the configuration to rows that the report keeps apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.align import load_run
from robustops.compose.evaluate import run
from robustops.config.tree import (
    EngineConfig,
    EvaluationConfig,
    FaultPolicyConfig,
    GrpoConfig,
    ModelConfig,
    RunConfig,
    SplitConfig,
)
from robustops.core.episode import FaultPlan
from robustops.core.errors import ConfigError
from robustops.faults.manifest import write_manifest

TINY = Path(__file__).resolve().parents[2] / "robustops" / "assets" / "models" / "tiny-base"
UNMET = FaultPlan(subtype="throttled", tool="find_account", signature='find_account{"name":"Nobody"}', cap=1, seed=1)


def configured(folder: Path, manifest: str | None) -> RunConfig:
    return RunConfig(
        algorithm=GrpoConfig(),
        model=ModelConfig(name="tiny", path=str(TINY), tool_schema="compact"),
        split=SplitConfig(root=str(folder / "tasks"), part="test", num_train=1, num_val=1, num_test=2),
        fault_policy=FaultPolicyConfig(manifest=manifest),
        engine=EngineConfig(kind="scripted", concurrency=2, max_tokens_per_turn=128),
        evaluation=EvaluationConfig(supplement=2),
    )


def test_extra_rows_stand_beside_the_original_ones(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plans = {"csm-test-00000|oracle": UNMET, "csm-test-00001|oracle": None}
    write_manifest(tmp_path / "manifest.jsonl", plans, split="test", source="by hand")
    run(configured(tmp_path, str(tmp_path / "manifest.jsonl")), tmp_path / "run")
    found = load_run(tmp_path / "run")
    assert len(found.rows) == 4  # two tasks, clean and fault
    assert [(row.task_id, row.attempt, row.fault_hit) for row in found.supplemented] == [
        ("csm-test-00000", 1, False),
        ("csm-test-00000", 2, False),
    ]
    assert all(row.success for row in found.supplemented)
    out = capsys.readouterr().out
    assert f"faults of {tmp_path}/manifest.jsonl, sha256 " in out, "which faults they are is said before any is met"
    assert "sampled again 2, fault met in 0" in out


def test_without_a_manifest_there_is_nothing_to_supplement(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"evaluation\.supplement: got 2; without fault_policy\.manifest"):
        run(configured(tmp_path, None), tmp_path / "run")
