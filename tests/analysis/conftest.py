"""One fixture: run folders with known outcomes."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from tests.analysis.run_folders import MakeRun, Outcome, write_run


@pytest.fixture
def make_run(tmp_path: Path) -> MakeRun:
    def make(stage: str, cases: Iterable[Outcome], *, folder: str | None = None, **info: Any) -> Path:
        path = tmp_path / (folder or f"eval_{stage}")
        write_run(path, stage, cases, info)
        return path

    return make
