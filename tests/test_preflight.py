"""What is refused before torch is imported, so that a mistake costs a second and not ten."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from robustops.config.preflight import check_gpu_is_there
from robustops.config.tree import HardwareConfig
from robustops.core.errors import ConfigError

TORCH_IS_BANNED = """
import runpy, sys
sys.modules["torch"] = None
runpy.run_module({!r}, run_name="__main__", alter_sys=True)
"""


def some_gpus(count: int) -> HardwareConfig:
    return HardwareConfig(name="some_gpus", gpus=count)


@pytest.mark.parametrize(
    ("module", "overrides", "expected"),
    [
        ("robustops.train", ("+experiment=tiny_rl", "model.path=nowhere"), "model.path: no model in"),
        ("robustops.train", ("+experiment=tiny_rl", "split.part=test"), "'train' alone"),
        ("robustops.evaluate", ("+experiment=tiny_eval", "model.path=nowhere"), "model.path: no model in"),
        ("robustops.evaluate", ("split.part=train",), "evaluation uses val or test"),
        ("robustops.train", ("+experiment=tiny_sft", "algorithm.demonstrations=nowhere"), "algorithm.demonstrations:"),
        ("robustops.evaluate", ("+experiment=tiny_eval", "split.graphs=nowhere"), "expected a graphs file"),
    ],
)
def test_refusals_need_no_torch(module: str, overrides: tuple[str, ...], expected: str, tmp_path: Path) -> None:
    command = [sys.executable, "-c", TORCH_IS_BANNED.format(module), *overrides]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 2, done.stderr
    assert expected in done.stderr
    assert "Traceback" not in done.stderr


def test_gpus_without_a_driver_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="some_gpus wants 2 GPUs, 0 visible here"):
        check_gpu_is_there(some_gpus(2), devices=tmp_path)


def test_gpus_that_the_environment_hides_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "nvidia0").touch()
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    check_gpu_is_there(some_gpus(1), devices=tmp_path)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    with pytest.raises(ConfigError, match="CUDA_VISIBLE_DEVICES"):
        check_gpu_is_there(some_gpus(1), devices=tmp_path)


def test_a_machine_without_gpus_runs_what_wants_none(tmp_path: Path) -> None:
    check_gpu_is_there(some_gpus(0), devices=tmp_path)
