"""Folders that one process alone may write in."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from robustops.core.errors import TableError
from robustops.core.folders import sole_writer

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="folders cannot be locked there")
HOLD = """
import pathlib, sys
from robustops.core.folders import sole_writer
with sole_writer(pathlib.Path(sys.argv[1])):
    print(flush=True)
    input()
"""


def test_a_second_writer_is_refused_in_one_line_until_the_first_is_done(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    again = pytest.raises(TableError, match=r"run: another run is writing there.*run\.dir")
    with sole_writer(folder), again, sole_writer(folder):
        pass
    with sole_writer(folder):
        assert list(folder.iterdir()) == []


def test_a_killed_writer_keeps_nobody_out(tmp_path: Path) -> None:
    first = subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    with first:
        assert first.stdout is not None
        first.stdout.readline()
        with pytest.raises(TableError), sole_writer(tmp_path):
            pass
        first.kill()
    with sole_writer(tmp_path):
        pass
