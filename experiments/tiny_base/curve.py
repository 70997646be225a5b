"""The training curve as a figure: curve.csv in, curve.png out."""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import matplotlib.pyplot as plt

# Okabe and Ito's colours, told apart with any colour vision.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#000000")


def draw(table: Path, figure: Path) -> None:
    with table.open(newline="") as file:
        rows = list(csv.DictReader(file))
    tokens_m = [int(row["tokens"]) / 1e6 for row in rows]
    figure_, (left, right) = plt.subplots(1, 2, figsize=(11, 4), sharex=True, sharey=True)
    lessons = [name.removesuffix("_digits") for name in rows[0] if name.endswith("_digits")]
    for lesson, colour in zip(lessons, COLOURS, strict=False):
        left.plot(tokens_m, [float(row[f"{lesson}_digits"]) for row in rows], color=colour, label=lesson)
        right.plot(tokens_m, [float(row[f"{lesson}_tokens"]) for row in rows], color=colour, label=lesson)
    left.set(title="digits of ids, numbers and dates", xlabel="training tokens (millions)", ylabel="accuracy, held out")
    right.set(title="all target tokens", xlabel="training tokens (millions)", ylim=(0, 1.02))
    right.legend(title="n = 32 sequences each", loc="lower right")
    figure_.tight_layout()
    figure_.savefig(figure, dpi=110)
    plt.close(figure_)


if __name__ == "__main__":
    draw(Path(sys.argv[1]), Path(sys.argv[2]))
