"""The number that a sweeper optimises, from the metrics that a training run leaves."""

from __future__ import annotations

import csv
from pathlib import Path

# The first of these columns that holds values: trailing reward of RL, else its reward, else SFT's monitored loss.
OBJECTIVES = ("reward/mean_10_steps", "reward/mean", "sft/monitoring_loss", "sft/loss")


def objective(folder: Path) -> float | None:
    """Its last value; None for a run whose logger writes no table."""
    path = folder / "metrics.csv"
    if not path.is_file():
        return None
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    for name in OBJECTIVES:
        values = [row[name] for row in rows if row.get(name)]
        if values:
            return float(values[-1])
    return None
