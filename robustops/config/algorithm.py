"""How a model is trained: the algorithms, and what an episode is worth to them."""

from __future__ import annotations

from dataclasses import dataclass, field

from robustops.config.required import REQUIRED


@dataclass
class GrpoConfig:
    """Group-relative policy optimisation (docs/algorithms.md)."""

    name: str = "grpo"
    steps: int = 120
    lr: float = 1e-6
    kl_coef: float = 0.001
    group_size: int = 4
    clean_groups: int = 16
    fault_groups: int = 16
    delay_steps: int = 10  # RL steps before a case without signal may return
    delayed_return: bool = True  # False: a case without signal returns in the next pass alone
    temperature: float = 1.0
    ppo_epochs: int = 1
    clip_low: float = 0.2
    clip_high: float = 0.28
    tis_cap: float | None = 2.0  # None: no importance weight between engine and trainer
    on_underfill: str = "smaller_batch"  # smaller_batch | skip | raise
    max_attempts: int = 4  # refills of one slot within a step
    max_grad_norm: float = 1.0
    micro_batch_tokens: int = 16384
    num_minibatches: int = 1  # optimiser steps per epoch over the batch, each with its share of both flows
    share_prefix: bool = True  # members of a group compute their common prefix once, where the model supports it
    activation_checkpointing: bool = False
    local_credit: bool = True  # False: no caps on bad calls, repeated reads and failed stops


@dataclass
class SftConfig:
    """Masked supervised fine-tuning on demonstrations."""

    name: str = "sft"
    demonstrations: str = REQUIRED  # path of an exported SFT file, or a collect run folder
    epochs: int = 3
    lr: float = 3e-6
    batch_size: int = 8  # trajectories in one optimiser step
    schedule: str = "constant"  # constant | cosine
    warmup_steps: int = 0
    max_grad_norm: float = 1.0
    micro_batch_tokens: int = 4096  # rows of similar length; more of them take memory and no less time (B5)
    packing: bool = False  # several demonstrations in one row, where the attention keeps them apart
    spike_factor: float | None = 4.0  # a loss so many times the recent median is reported; None: never
    validation_size: int = 64  # demonstrations set apart for the monitoring loss
    activation_checkpointing: bool = False


@dataclass
class RewardConfig:
    weights: list[float] = field(default_factory=lambda: [1.0, 0.3, 0.1])  # S, P, Q
    progress: str = "gated"  # gated | independent | none
    length_weight: float = 0.0  # ablation: minus so much times an answer's share of its group's longest


@dataclass
class RewardNormConfig:
    kind: str = "component"  # component | aggregate
    quality_credit: str = "temporal"  # temporal | uniform
