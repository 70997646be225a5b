"""The engine of rollouts: what a run with servers leaves in its folder."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch
from hydra import compose
from safetensors.torch import load_file

from robustops.agent.vllm_server import ServerPolicy
from robustops.compose.rl import build_probe, closing
from robustops.compose.training_engine import build_training_engine, weights_folder
from robustops.config import RunConfig, typed
from robustops.core.errors import ConfigError

pytestmark = pytest.mark.usefixtures("hydra_knows_the_tree")


class Codec:
    stop_ids = (6,)

    def decode(self, ids: Any) -> str:
        return str(ids)


@dataclass
class Scene:
    config: RunConfig

    async def close(self) -> None:
        pass


def scene_of(folder: Path, *overrides: str) -> Scene:
    config = typed(compose("train", overrides=["+experiment=rl120", *overrides, f"run.dir={folder}"]))
    assert isinstance(config, RunConfig)
    return Scene(config)


def engine_of(scene: Scene, folder: Path) -> ServerPolicy:
    engine = build_training_engine(scene.config, Codec(), folder)  # type: ignore[arg-type]
    assert isinstance(engine, ServerPolicy)
    return engine


def copy_in(folder: Path) -> Path:
    path = folder / "version-000003" / "model.safetensors"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"weights")
    return path


def copies_below(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


SERVED = "engine.urls=[http://one:8000]"


@pytest.mark.parametrize("shared", [None, "shared"])
def test_copies_of_the_weights_go_when_a_run_begins_and_ends(tmp_path: Path, shared: str | None) -> None:
    run = tmp_path / "run"
    named = [] if shared is None else [f"engine.weights_folder={tmp_path / shared}"]
    scene = scene_of(run, SERVED, *named)
    killed = copy_in(weights_folder(scene.config, run))
    engine = engine_of(scene, run)  # the same run again
    assert not killed.exists()
    with closing(engine, scene, run):  # type: ignore[arg-type]
        present = copy_in(weights_folder(scene.config, run))
    assert not present.exists()


def test_two_runs_that_share_a_folder_for_weights_do_not_touch_each_other_s(tmp_path: Path) -> None:
    """Job 0 of two multiruns, both at version 1."""
    runs, shared, held = [tmp_path / "one" / "0", tmp_path / "two" / "0"], tmp_path / "shared", []
    with ExitStack() as both:
        for number, run in enumerate(runs, start=1):
            scene = scene_of(run, SERVED, f"engine.weights_folder={shared}")
            engine = engine_of(scene, run)
            both.enter_context(closing(engine, scene, run))  # type: ignore[arg-type]
            engine._servers.clear()  # whose part is not tested here
            asyncio.run(engine.load_weights([("a", torch.full((1,), float(number)))], 1))
            held.append(copies_below(shared))
        assert len(held[0]) == 1
        assert len(held[1]) == 2
        assert sorted(float(load_file(path)["a"]) for path in held[1]) == [1.0, 2.0]
        with closing(engine, scene, run):  # type: ignore[arg-type]
            pass  # the second run ends
        assert copies_below(shared) == held[0]


@dataclass
class Opening:
    token_ids: tuple[int, ...]


@dataclass
class Tasks:
    """What a probe is made of: `tasks` by id, each the length of its opening, and the codec that opens them."""

    config: RunConfig
    tasks: dict[str, int]
    codec: Any = None

    def __post_init__(self) -> None:
        self.codec = self

    def start(self, task: int, messages: tuple[()]) -> Opening:
        return Opening(tuple(range(task)))


@pytest.mark.parametrize("block", [None, 128])
def test_new_weights_are_proven_by_the_openings_of_tasks(block, tmp_path):
    config = scene_of(tmp_path, f"engine.block_tokens={'null' if block is None else block}").config
    probe = build_probe(Tasks(config, {"a": 129, "b": 300, "c": 10}))
    assert [len(prompt) for prompt in probe.prompts] == [129, 300]


def test_each_server_has_a_probe_of_its_own(tmp_path):
    config = scene_of(tmp_path, "engine.urls=[http://one:8000,http://two:8000,http://three:8000]").config
    assert [len(prompt) for prompt in build_probe(Tasks(config, {"a": 129, "b": 300})).prompts] == [129, 300, 129]


def test_an_opening_that_fits_into_one_cache_block_proves_nothing(tmp_path):
    config = scene_of(tmp_path, "engine.block_tokens=128").config
    with pytest.raises(
        ConfigError, match=r"engine\.block_tokens: .*got 128 for a prompt of 128 tokens; set at most 127"
    ):
        build_probe(Tasks(config, {"a": 300, "b": 128}))
