"""The engine of rollouts: what a run with servers leaves in its folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hydra import compose

from robustops.agent.vllm_server import ServerPolicy
from robustops.compose.rl import closing
from robustops.compose.training_engine import build_training_engine
from robustops.config import RunConfig, typed

pytestmark = pytest.mark.usefixtures("hydra_knows_the_tree")


class Codec:
    stop_ids = (6,)

    def decode(self, ids: Any) -> str:
        return str(ids)


class Scene:
    async def close(self) -> None:
        pass


def engine_of(folder: Path, *overrides: str) -> ServerPolicy:
    config = typed(compose("train", overrides=["+experiment=rl120", *overrides, f"run.dir={folder}"]))
    assert isinstance(config, RunConfig)
    engine = build_training_engine(config, Codec(), folder)  # type: ignore[arg-type]
    assert isinstance(engine, ServerPolicy)
    return engine


def copy_in(folder: Path) -> Path:
    path = folder / "version-000003" / "model.safetensors"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"weights")
    return path


def test_copies_of_the_weights_go_when_a_run_begins_and_ends(tmp_path: Path) -> None:
    killed = copy_in(tmp_path / "engine-weights")
    engine = engine_of(tmp_path, "engine.urls=[http://one:8000]")
    assert not killed.exists()
    with closing(engine, Scene(), tmp_path):  # type: ignore[arg-type]
        present = copy_in(tmp_path / "engine-weights")
    assert not present.exists()


def test_a_folder_that_the_user_names_is_left_alone(tmp_path: Path) -> None:
    """Others may use it, too."""
    named = copy_in(tmp_path / "shared")
    engine = engine_of(tmp_path, "engine.urls=[http://one:8000]", f"engine.weights_folder={tmp_path}/shared")
    with closing(engine, Scene(), tmp_path):  # type: ignore[arg-type]
        pass
    assert named.exists()
