"""Where public tasks lie, for tests; they are read, never copied."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
UPSTREAM = REPOSITORY / ".." / "shared" / "eog" / "tasks" / "upstream"


def upstream_files() -> list[Path]:
    if not UPSTREAM.is_dir():
        pytest.skip("the public tasks are not beside this checkout (../shared/eog)")
    return sorted(UPSTREAM.rglob("*.json"))


def agentrelbench_suite() -> Path:
    spec = find_spec("agentrelbench")
    if spec is None or spec.origin is None:
        pytest.skip("the package agentrelbench is not installed")
    return Path(spec.origin).parent / "suite"
