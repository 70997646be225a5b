"""B1: token advantages of 32 groups x 4 trajectories x 2,048 tokens, against verl. Run: python benchmarks/advantages.py

verl's pins conflict with ours, so both sides run in an environment of its own, runs/verl-env, which the first run makes
(minutes, a gigabyte); what is measured there is in advantages_measured.py. The same run writes verl's outputs on small
batches to tests/learn/verl_gdpo.json, which tests compare with.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MEASURED = ROOT / "benchmarks" / "advantages_measured.py"
ENVIRONMENT = ROOT / "runs" / "verl-env"
PYTHON = ENVIRONMENT / "bin" / "python"
VERL = "verl==0.9.1"


def make_environment() -> None:
    """Raises CalledProcessError where packages cannot be installed."""
    uv = [sys.executable, "-m", "uv"]
    links = os.environ.get("PIP_FIND_LINKS")
    torch = ["--find-links", links] if links else ["--torch-backend", "cpu"]
    subprocess.run([*uv, "venv", "-q", "--python", "3.11", str(ENVIRONMENT)], check=True)
    subprocess.run([*uv, "pip", "install", "-q", "--python", str(PYTHON), VERL, *torch], check=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=30, help="interleaved pairs to time (default 30)")
    options = parser.parse_args()
    if not PYTHON.is_file():
        make_environment()
    command = [str(PYTHON), str(MEASURED), str(options.pairs), VERL]
    return subprocess.run(command, env=os.environ | {"PYTHONPATH": str(ROOT)}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
