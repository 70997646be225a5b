"""The built wheel works without the checkout: configuration, domains and assets travel with it."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that holds what the wheel installs, and nothing else."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    done = subprocess.run(build, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site")
    return folder / "site"


def run(installed: Path, cwd: Path, *arguments: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(installed)}
    command = [sys.executable, *arguments]
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_wheel_itself_is_what_runs(installed: Path, tmp_path: Path) -> None:
    where = run(installed, tmp_path, "-c", "import robustops, analysis; print(robustops.__file__, analysis.__file__)")
    assert where.count(str(installed)) == 2


def test_an_installed_wheel_composes_from_any_folder(installed: Path, tmp_path: Path) -> None:
    printed = run(installed, tmp_path, "-m", "robustops.train", "+experiment=rl120", "--cfg", "job")
    assert "clean_groups: 16" in printed


def test_an_installed_wheel_makes_tasks(installed: Path, tmp_path: Path) -> None:
    sizes = ("split.num_train=24", "split.num_val=12", "split.num_test=13")
    run(installed, tmp_path, "-m", "robustops.prepare", "split.root=tasks", *sizes)
    assert len(list((tmp_path / "tasks" / "tasks").glob("*.json"))) == 49


def test_an_installed_wheel_brings_every_asset(installed: Path) -> None:
    """The tiny model, manifests, labels, graphs and demonstrations among them, byte for byte."""
    source, brought = ROOT / "robustops" / "assets", installed / "robustops" / "assets"
    files = [path.relative_to(source) for path in source.rglob("*") if path.is_file()]
    assert len(files) > 20
    assert [file for file in files if (brought / file).read_bytes() != (source / file).read_bytes()] == []
