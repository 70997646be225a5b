"""What is refused before torch is imported, so that a mistake costs a second and not ten."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from robustops.config.attention import check_attention, check_flash_attention_is_there
from robustops.config.preflight import check_gpu_is_there
from robustops.config.tree import GrpoConfig, HardwareConfig, ModelConfig, RunConfig
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
        ("robustops.train", ("+experiment=tiny_rl", "model.attn=flash_attention_2"), "hardware=cpu has none"),
        ("robustops.evaluate", ("+experiment=tiny_eval", "model.path=nowhere"), "model.path: no model in"),
        ("robustops.evaluate", ("split.part=train",), "evaluation uses val or test"),
        ("robustops.evaluate", ("engine.urls=[http://127.0.0.1:9]",), "an evaluation loads model.path itself"),
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


@pytest.mark.parametrize(
    ("visible", "num"), [("", 0), ("-1", 0), ("2", 1), ("0, 1", 2), ("0,-1,1", 1), ("GPU-8f2e,GPU-9c11,3", 3)]
)
def test_as_many_gpus_as_the_environment_names_and_no_more(
    visible: str, num: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "nvidia0").touch()
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    check_gpu_is_there(some_gpus(num), devices=tmp_path)
    with pytest.raises(ConfigError, match=f"wants {num + 1} GPUs?, {num} visible here"):
        check_gpu_is_there(some_gpus(num + 1), devices=tmp_path)


def asks_for_flash_attention(**hardware: object) -> RunConfig:
    return RunConfig(
        algorithm=GrpoConfig(),
        model=ModelConfig(attn="flash_attention_2"),
        hardware=HardwareConfig(name="mine", gpus=1, **hardware),  # type: ignore[arg-type]
    )


def test_flash_attention_is_refused_in_float32() -> None:
    with pytest.raises(ConfigError, match=r"computes in bf16, got hardware\.precision=fp32"):
        check_attention(asks_for_flash_attention())
    check_attention(asks_for_flash_attention(precision="bf16"))


@pytest.mark.skipif(importlib.util.find_spec("flash_attn") is not None, reason="flash-attn is installed")
def test_flash_attention_without_its_package_is_refused_with_what_to_install() -> None:
    with pytest.raises(ConfigError, match=r"flash-attn is not installed.*model\.attn=sdpa"):
        check_flash_attention_is_there(asks_for_flash_attention(precision="bf16"))


def test_a_machine_without_gpus_runs_what_wants_none(tmp_path: Path) -> None:
    check_gpu_is_there(some_gpus(0), devices=tmp_path)
