"""What is played with the tasks: faults, evaluations, demonstrations."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class FaultPolicyConfig:
    name: str = "train"  # none | train | heldout | all | stress | ood; the last four for evaluation alone
    subtypes: list[str] | None = None  # fewer than the policy allows; None: all of them
    manifest: str | None = None  # a frozen assignment, for evaluation
    labels: str | None = None  # selector labels that narrow what is considered; None: everything
    caps: dict[str, list[int]] = field(default_factory=dict)  # subtype: [least, most] repetitions
    intensity: float | None = None  # 0 to 1 settles caps and doses of all faults; None: drawn for each


@dataclass
class EvaluationConfig:
    conditions: list[str] = field(default_factory=lambda: ["clean", "fault"])
    attempts: int = 1  # runs of every case; pass@k and pass^k need k of them
    temperature: float = 0.0  # 0: greedy
    arms: list[str] = field(default_factory=list)  # STAGE:FOLDER or STAGE:URL, played side by side; none: model alone
    paraphrase: int = 0  # 0: the request as it is, 1: politely, 2: with idle talk around it
    supplement: int = 0  # extra samples, at most, of a case that missed its fault of the manifest
    supplement_temperature: float = 1.0


@dataclass
class CollectConfig:
    teacher: str = "scripted"  # scripted: the expert plans; api: model.api
    task_share: float = 0.8  # of the runnable training tasks, chosen by task id
    fault_share: float = 0.5  # continuations after a fault, as a share of all demonstrations
    retry_temperature: float | None = 0.6  # failed cases once more; None: never. The scripted expert has no other way
    guidance: bool = True  # an API teacher is told how to work; exports are without it
    review: bool = False  # model.api also judges the narration that the rules cannot
    formats: list[str] = field(default_factory=lambda: ["hf", "verl", "nemo_gym", "atif"])  # of do=export
