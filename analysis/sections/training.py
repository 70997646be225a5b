"""Training curves. The `metrics.csv` of a training run in, one figure and one line of a table each out."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from analysis.document import Figure, Section, Table
from analysis.figures import draw, plot_curve
from robustops.core.errors import TableError

# What is worth a curve, under the names that training logs use. Absent ones are left out.
CURVES = {
    "reward/mean": "mean reward",
    "reward/success_share": "success of rollouts",
    "groups/mixed_share": "groups with both outcomes",
    "policy/kl_nats": "KL to the reference (nats)",
    "policy/entropy_nats": "entropy (nats)",
    "sft/loss": "loss of SFT (nats a token)",
    "sft/monitoring_loss": "monitoring loss (nats a token)",
    "loss": "loss",
    "train/loss_nats": "loss (nats)",
    "reward_mean": "mean reward",  # names of older logs
    "success_rate": "success rate",
}
WINDOW = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    name: str
    steps: tuple[float, ...]
    values: tuple[float, ...]

    @property
    def trailing(self) -> tuple[float, ...]:
        """Mean over the last WINDOW values, fewer at the start."""
        return tuple(float(np.mean(self.values[max(0, end - WINDOW) : end])) for end in range(1, len(self.values) + 1))

    @property
    def first_mean(self) -> float:
        return float(np.mean(self.values[:WINDOW]))

    @property
    def last_mean(self) -> float:
        return float(np.mean(self.values[-WINDOW:]))


def read_curves(path: Path) -> list[Curve]:
    """Rows without a value for a column (other metrics of the same step) are passed over."""
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    if not rows or "step" not in rows[0]:
        raise TableError(f"{path}: expected a CSV table with a column 'step'")
    curves = []
    for column in rows[0]:
        if column not in CURVES:
            continue
        try:
            points = [(float(row["step"]), float(row[column])) for row in rows if row[column] not in ("", None)]
        except ValueError as error:
            raise TableError(f"{path}: column {column!r}: {error}; expected numbers") from error
        if points:
            steps, values = zip(*points, strict=True)
            curves.append(Curve(name=CURVES[column], steps=steps, values=values))
    return curves


def training_section(curves: Mapping[str, Sequence[Curve]]) -> Section | None:
    """`curves`: label of the run -> its curves. None where there is none."""
    rows: list[tuple[str, ...]] = []
    figures: list[Figure] = []
    for number, (label, curve) in enumerate((label, curve) for label, found in curves.items() for curve in found):
        width = min(WINDOW, len(curve.values))
        ends = f"{curve.first_mean:.3f}", f"{curve.last_mean:.3f}", f"{curve.last_mean - curve.first_mean:+.3f}"
        rows.append((label, curve.name, str(len(curve.values)), *ends))
        figures.append(_figure(number, label, curve, width))
    if not rows:
        return None
    return Section(
        title="Training",
        intro=(
            f"How to read this: single steps are noisy, so the line is the mean of the last {WINDOW} and the table "
            f"compares the first {WINDOW} with the last {WINDOW}.",
        ),
        tables=(
            Table(
                title="First and last means",
                columns=("Run", "Metric", "Steps", f"First {WINDOW}", f"Last {WINDOW}", "Change"),
                rows=tuple(rows),
            ),
        ),
        figures=tuple(figures),
    )


def _figure(number: int, label: str, curve: Curve, width: int) -> Figure:
    return draw(
        f"training-{number}",
        f"{label}: {curve.name} per step, with the trailing mean over {width} steps.",
        lambda ax: plot_curve(curve.steps, curve.values, curve.trailing, ax, curve.name),
        height=2.8,
    )
