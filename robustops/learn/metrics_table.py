"""Training metrics as `metrics.csv`: one row a step, kept through kills, a repeated step replaces its row.

Lightning's own CSV logger deletes what an interrupted run had written; this one goes on with it.
"""

from __future__ import annotations

import csv
import io
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lightning.pytorch.loggers import Logger

from robustops.core.files import cut_unfinished_line, write_atomically

FILE = "metrics.csv"


class MetricsTable(Logger):
    """Columns are `step`, then the metrics in the order they first came."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.path = folder / FILE
        self._rows: dict[int, dict[str, Any]] = {}
        if self.path.is_file():
            cut_unfinished_line(self.path)  # as a full disk leaves one: its step may read as another
            with self.path.open(newline="") as file:
                self._rows = {int(row["step"]): dict(row) for row in csv.DictReader(file) if row.get("step")}
        self._columns = ["step", *dict.fromkeys(name for row in self._rows.values() for name in row if name != "step")]

    @property
    def name(self) -> str:
        return "metrics"

    @property
    def version(self) -> str:
        return ""

    def log_hyperparams(self, params: dict[str, Any] | Namespace, *args: Any, **kwargs: Any) -> None:
        """run.json holds the configuration."""

    def log_metrics(self, metrics: Mapping[str, float], step: int | None = None) -> None:
        if step is None:
            raise ValueError("metrics of the table need the optimiser step they belong to")
        is_new_row = step not in self._rows
        fresh = [name for name in metrics if name not in self._columns]
        self._columns += fresh
        self._rows[step] = {**self._rows.get(step, {}), **metrics, "step": step}
        if is_new_row and not fresh and self.path.is_file():
            with self.path.open("a", newline="") as file:
                csv.DictWriter(file, self._columns).writerow(self._rows[step])
            return
        text = io.StringIO()
        writer = csv.DictWriter(text, self._columns)
        writer.writeheader()
        writer.writerows(self._rows[number] for number in sorted(self._rows))
        write_atomically(self.path, text.getvalue().encode())
