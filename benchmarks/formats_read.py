"""The exported formats, read by the tools that they are for. Run: python benchmarks/formats_read.py [FOLDER]

FOLDER is the export/ of a collect run; without one, the scripted expert's demonstrations of 19 tasks, with full tool
schemas, are collected first. Each tool has an environment of its own under runs/, made on first use. Harbor and NeMo
Gym ask for a newer Python than ours: their packages are laid in a folder without their dependencies, and those that
their data models import are installed beside. One line a reader: rows, and how many came out as they stand in hf.jsonl.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

from advantages import PYTHON as VERL_PYTHON
from advantages import make_environment
from sft_trl import MODEL, environment
from table import append_row

ROOT = Path(__file__).resolve().parents[1]
READERS = ROOT / "benchmarks" / "readers"
RUN = ROOT / "runs" / "formats_read"
MODELS = ROOT / "runs" / "formats-env"  # pydantic, and what the models of Harbor and NeMo Gym import
SETTINGS = ("+experiment=expert_data", "model.tool_schema=full", "model.max_context_tokens=30000", "split.limit=24")
PACKAGES = {"harbor": "harbor==0.26.0", "nemo_gym": "nemo-gym==0.4.0"}
NEEDED = (
    *("pydantic==2.14.0", "openai==2.7.2", "mcp<2", "aiohttp", "fastapi", "hydra-core", "itsdangerous", "orjson"),
    *("pandas", "psutil", "ray", "requests", "rich", "tqdm", "uvicorn", "wandb", "yappi", "gprof2dot", "pydot"),
)


def collected() -> Path:
    for job in ("play", "export"):
        command = [sys.executable, "-m", "robustops.collect", f"do={job}", *SETTINGS, f"run.dir={RUN}"]
        subprocess.run(command, cwd=ROOT, check=True)
    return RUN / "export"


def trl() -> Path:
    return environment(None)


def verl() -> Path:
    if not VERL_PYTHON.is_file():
        make_environment()
    return VERL_PYTHON


def models() -> Path:
    python = MODELS / "bin" / "python"
    uv = (sys.executable, "-m", "uv")
    if not python.is_file():
        subprocess.run([*uv, "venv", "-q", "--python", "3.11", str(MODELS)], check=True)
        subprocess.run([*uv, "pip", "install", "-q", "--python", str(python), *NEEDED], check=True)
    for name, wanted in PACKAGES.items():
        if not (MODELS / "read" / name).is_dir():
            bare = ("--no-deps", "--python-version", "3.13", "--target", str(MODELS / "read"))
            subprocess.run([*uv, "pip", "install", "-q", *bare, wanted], check=True)
    return python


TOOLS: dict[str, tuple[str, Callable[[], Path]]] = {
    "trl": ("trl_reads.py", trl),
    "verl": ("verl_reads.py", verl),
    "harbor": ("harbor_reads.py", models),
    "nemo-gym": ("nemo_gym_reads.py", models),
}


def read(package: str, folder: Path) -> list[dict[str, object]]:
    """Ends with the reader's words where it refuses a row."""
    script, make = TOOLS[package]
    python = make()
    quiet = {
        "OMP_NUM_THREADS": "1",
        "HF_HUB_OFFLINE": "1",
        "PYTHONPATH": str(MODELS / "read") if make is models else "",
    }
    command = [str(python), str(READERS / script), str(folder), str(MODEL)]
    done = subprocess.run(command, env=os.environ | quiet, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{package} cannot read {folder}:\n{done.stderr[-2000:]}")
    asked = f"import importlib.metadata as m; print(m.version({package!r}))"
    version = subprocess.run(
        [str(python), "-c", asked], env=os.environ | quiet, capture_output=True, text=True, check=True
    )
    return [
        json.loads(line) | {"version": version.stdout.strip()} for line in done.stdout.splitlines() if line[:1] == "{"
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?", metavar="FOLDER", help="export/ of a collect run")
    folder = parser.parse_args().folder or collected()
    found: dict[str, object] = {}
    for package in TOOLS:
        for row in read(package, folder.resolve()):
            name, version, rows = row.pop("reader"), row.pop("version"), row.pop("rows")
            shown = ", ".join(f"{key} {value}" for key, value in row.items())
            print(f"{name} ({package} {version}): {rows} rows; {shown}", flush=True)
            found[str(name)] = {"version": version, "rows": rows, **row}
    append_row(
        "formats read by their tools", {"readers": found, "robustops": metadata.version("robustops")}, packages=()
    )


if __name__ == "__main__":
    main()
