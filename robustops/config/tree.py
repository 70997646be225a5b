"""The configuration tree: every key that may be written in YAML, with its type, unit and default. Knows no Hydra.

Each group of keys has a file of its own; what belongs to none stands here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from robustops.config.algorithm import GrpoConfig, RewardConfig, RewardNormConfig, SftConfig
from robustops.config.episodes import CollectConfig, EvaluationConfig, FaultPolicyConfig
from robustops.config.gym import GymConfig, ServeConfig, ServedGymConfig, TimeoutsConfig
from robustops.config.machine import EngineConfig, HardwareConfig
from robustops.config.model import ApiConfig, LoraConfig, ModelConfig
from robustops.config.required import REQUIRED
from robustops.config.task_source import GraphsConfig, LabelsConfig, SourceConfig, SplitConfig, ToolModeConfig

__all__ = [
    "ApiConfig",
    "CollectConfig",
    "EngineConfig",
    "EvaluationConfig",
    "FaultPolicyConfig",
    "GraphsConfig",
    "GrpoConfig",
    "GymConfig",
    "HardwareConfig",
    "LabelsConfig",
    "LoggerConfig",
    "LoraConfig",
    "ModelConfig",
    "PlanConfig",
    "RewardConfig",
    "RewardNormConfig",
    "RunConfig",
    "RunFolderConfig",
    "ServeConfig",
    "ServedGymConfig",
    "SftConfig",
    "SourceConfig",
    "SplitConfig",
    "TimeoutsConfig",
    "ToolModeConfig",
]


@dataclass
class PlanConfig:
    """`python -m robustops.plan`."""

    job: str = "train"  # train | evaluate
    episodes: str | None = None  # a run folder whose episodes' lengths are measured


@dataclass
class LoggerConfig:
    kind: str = "csv"  # csv | tensorboard | wandb
    project: str = "robustops"  # for wandb
    mode: str = "offline"  # offline | online, for wandb


@dataclass
class RunFolderConfig:
    name: str = REQUIRED
    dir: str = REQUIRED  # the same folder given again resumes the run in it


@dataclass
class RunConfig:
    """Everything one run depends on."""

    algorithm: Any = REQUIRED  # GrpoConfig | SftConfig, by the group's choice
    model: ModelConfig = field(default_factory=ModelConfig)
    split: SplitConfig = field(default_factory=SplitConfig)
    tool_mode: ToolModeConfig = field(default_factory=ToolModeConfig)
    fault_policy: FaultPolicyConfig = field(default_factory=FaultPolicyConfig)
    reward: RewardConfig = field(default_factory=RewardConfig)
    reward_norm: RewardNormConfig = field(default_factory=RewardNormConfig)
    gym: GymConfig = field(default_factory=GymConfig)
    engine: EngineConfig = field(default_factory=EngineConfig)
    hardware: HardwareConfig = field(default_factory=HardwareConfig)
    logger: LoggerConfig = field(default_factory=LoggerConfig)
    run: RunFolderConfig = field(default_factory=RunFolderConfig)
    evaluation: EvaluationConfig = field(default_factory=EvaluationConfig)
    collection: CollectConfig = field(default_factory=CollectConfig)
    graphs: GraphsConfig = field(default_factory=GraphsConfig)
    labels: LabelsConfig = field(default_factory=LabelsConfig)
    source: SourceConfig = field(default_factory=SourceConfig)
    plan: PlanConfig = field(default_factory=PlanConfig)
    do: str = "tasks"  # prepare: tasks | manifest | labels | graphs | export; collect: play | export
    seed: int = 0
