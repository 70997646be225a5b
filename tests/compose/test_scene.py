"""Names become objects: what a configuration says arrives, and what it cannot mean is one line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from robustops.compose.fault_policy import build_scheduler
from robustops.compose.run_identity import identity_of
from robustops.config.tree import FaultPolicyConfig, GrpoConfig, RewardConfig, RunConfig
from robustops.core.errors import ConfigError
from robustops.faults.catalogue import CapRange


def configured(**groups: Any) -> RunConfig:
    return RunConfig(algorithm=GrpoConfig(), **groups)


def test_rows_of_any_run_are_scored_by_the_configured_reward() -> None:
    config = configured(reward=RewardConfig(weights=[1.0, 0.5, 0.0], progress="independent"))
    identity = identity_of(config, Path("here/run"), model="m", stage="sft", split="val", policy_mode="greedy")
    assert (identity.run, identity.progress) == ("run", "independent")
    assert (identity.weights.success, identity.weights.progress, identity.weights.quality) == (1.0, 0.5, 0.0)


def test_configured_caps_reach_the_scheduler() -> None:
    scheduler = build_scheduler(configured(fault_policy=FaultPolicyConfig(caps={"lost_ack": [1, 3]})))
    assert scheduler.caps == {"lost_ack": CapRange(low=1, high=3)}


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        (FaultPolicyConfig(caps={"lost_ack": [2]}), r"fault_policy.caps.lost_ack: got \[2\], expected \[least, most\]"),
        (FaultPolicyConfig(caps={"lost_ack": [3, 1]}), r"fault_policy.caps.lost_ack: got \[3, 1\]"),
        (FaultPolicyConfig(caps={"lost_akc": [1, 1]}), "fault_policy.caps: 'lost_akc' is not in policy 'train'"),
        (FaultPolicyConfig(subtypes=["dropped_filter"]), "fault_policy.subtypes: 'dropped_filter' is not in policy"),
        (FaultPolicyConfig(name="none", subtypes=["lost_ack"]), "it has none"),
    ],
)
def test_an_impossible_fault_policy_is_refused(policy: FaultPolicyConfig, expected: str) -> None:
    with pytest.raises(ConfigError, match=expected):
        build_scheduler(configured(fault_policy=policy))
