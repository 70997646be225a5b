"""From `fault_policy` to the scheduler that chooses faults, and to the labels that narrow its choice."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import cast

from robustops.config import RunConfig
from robustops.core.errors import ConfigError
from robustops.core.listing import set_name
from robustops.data.task_set import TaskSet
from robustops.faults.catalogue import TRAINABLE, CapRange, FaultPolicy, subtypes_of
from robustops.faults.labels import Labels, read_labels
from robustops.faults.scheduler import Scheduler


def build_scheduler(config: RunConfig) -> Scheduler:
    policy = config.fault_policy
    allowed = subtypes_of(cast(FaultPolicy, policy.name))
    chosen = tuple(allowed if policy.subtypes is None else policy.subtypes)
    for key, names in (("subtypes", chosen), ("caps", policy.caps)):
        if unknown := [name for name in names if name not in allowed]:
            known = ", ".join(allowed) or "none"
            raise ConfigError(f"fault_policy.{key}: {unknown[0]!r} is not in policy {policy.name!r}; it has {known}")
    caps = {name: _cap_range(name, ends) for name, ends in policy.caps.items()}
    return Scheduler(subtypes=chosen, seed=config.seed, caps=caps, intensity=policy.intensity)


def build_training_scheduler(config: RunConfig) -> Scheduler:
    """Raises ConfigError for a policy with kinds that training must not see."""
    scheduler = build_scheduler(config)
    if unseen := [name for name in scheduler.subtypes if name not in TRAINABLE]:
        raise ConfigError(
            f"fault_policy={config.fault_policy.name}: {unseen[0]} is for evaluation alone and never trains; "
            "use fault_policy=train or none"
        )
    return scheduler


def _cap_range(subtype: str, ends: Sequence[int]) -> CapRange:
    if len(ends) != 2 or not 1 <= ends[0] <= ends[1]:
        raise ConfigError(f"fault_policy.caps.{subtype}: got {ends}, expected [least, most] with 1 <= least <= most")
    return CapRange(low=ends[0], high=ends[1])


def labels_of(config: RunConfig, task_set: TaskSet) -> Labels | None:
    if config.fault_policy.labels is None:
        return None
    path = Path(config.fault_policy.labels).expanduser().absolute()
    split = task_set.split
    return read_labels(path, split=set_name(config.split.name, split.sha256), task_ids=split.entries)
