"""A training job in a folder where another one is at work."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hydra import compose

from robustops.compose.train import run
from robustops.config import RunConfig, typed
from robustops.core.errors import TableError
from robustops.core.folders import sole_writer

pytestmark = [
    pytest.mark.usefixtures("hydra_knows_the_tree"),
    pytest.mark.skipif(sys.platform == "win32", reason="folders cannot be locked there"),
]


@pytest.mark.parametrize("experiment", ["tiny_sft", "tiny_rl"])
def test_a_second_run_in_the_folder_of_a_running_one_is_refused(tmp_path: Path, experiment: str) -> None:
    config = typed(compose("train", overrides=[f"+experiment={experiment}", f"run.dir={tmp_path}"]))
    assert isinstance(config, RunConfig)
    with sole_writer(tmp_path), pytest.raises(TableError, match="another run is writing there"):
        run(config, tmp_path)
