"""Sample episodes of RL as a W&B table: what was played in a step in, a few rows of it out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import wandb
from lightning.pytorch.loggers import Logger, WandbLogger

from robustops.core.episode import Episode
from robustops.learn.collection import Played
from robustops.learn.denominators import FLOWS
from robustops.rollout.score import RewardWeights

EVERY_STEPS = 5
NUM_GROUPS = 2  # of each flow
MAX_CHARS = 8000
COLUMNS = ["step", "group", "flow", "member", "success", "progress", "quality", "reward", "stop", "turns", "transcript"]


def episode_table(logger: Logger | None, weights: RewardWeights) -> Callable[[int, Sequence[Played]], None] | None:
    """What shows a step's episodes; None for a logger that has no tables."""
    if not isinstance(logger, WandbLogger):
        return None

    def show(done: int, played: Sequence[Played]) -> None:
        if (done - 1) % EVERY_STEPS == 0:
            logger.experiment.log({"episodes": wandb.Table(columns=list(COLUMNS), data=rows_of(done, played, weights))})

    return show


def rows_of(done: int, played: Sequence[Played], weights: RewardWeights) -> list[Any]:
    """The members of the first scorable groups of each flow."""
    rows: list[Any] = []
    for flow in FLOWS:
        for one in [one for one in played if one.group.condition == flow and one.scores][:NUM_GROUPS]:
            for member, (episode, score) in enumerate(zip(one.group.episodes, one.scores, strict=True)):
                numbers = [score.success, float(score.progress), float(score.quality), float(score.reward(weights))]
                end = [episode.stop_reason, len(episode.generated), transcript(episode)]
                rows.append([done, one.group.group_id, flow, member, *numbers, *end])
    return rows


def transcript(episode: Episode) -> str:
    """What was said and answered, without the prompt; a long one loses its middle."""
    lines = []
    for turn in episode.turns:
        lines.append(turn.text if turn.generated else f"(inherited) {turn.text}")
        if turn.shown is not None:
            fault = f" [{turn.fault.subtype}]" if turn.fault else ""
            lines.append(f"->{fault} {turn.shown.text}")
    text = "\n".join(lines)
    half = MAX_CHARS // 2
    return text if len(text) <= MAX_CHARS else f"{text[:half]}\n...\n{text[-half:]}"
