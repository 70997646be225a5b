"""Which faults a job may meet: what is for evaluation alone never reaches training, by any way of asking for it."""

from __future__ import annotations

import pytest

from robustops.compose.fault_policy import build_scheduler, build_training_scheduler
from robustops.config.tree import FaultPolicyConfig, GrpoConfig, RunConfig
from robustops.core.errors import ConfigError
from robustops.faults.catalogue import KINDS, TRAINABLE


def configured(**policy: object) -> RunConfig:
    return RunConfig(algorithm=GrpoConfig(), fault_policy=FaultPolicyConfig(**policy))


@pytest.mark.parametrize(
    ("name", "expected"),
    [("heldout", "dropped_filter"), ("all", "dropped_filter"), ("stress", "stale_read"), ("ood", "dropped_filter")],
)
def test_training_refuses_what_is_for_evaluation_alone(name: str, expected: str) -> None:
    with pytest.raises(ConfigError, match=f"fault_policy={name}: {expected} is for evaluation alone"):
        build_training_scheduler(configured(name=name))


@pytest.mark.parametrize("subtype", sorted(set(KINDS) - TRAINABLE))
def test_naming_a_subtype_is_no_way_around(subtype: str) -> None:
    with pytest.raises(ConfigError, match="is not in policy 'train'"):
        build_training_scheduler(configured(name="train", subtypes=[subtype]))


def test_training_takes_the_four_families_or_none() -> None:
    assert set(build_training_scheduler(configured(name="train")).subtypes) == TRAINABLE
    assert build_training_scheduler(configured(name="none")).subtypes == ()


def test_the_intensity_reaches_the_scheduler() -> None:
    assert build_scheduler(configured(name="stress", intensity=0.5)).intensity == 0.5
