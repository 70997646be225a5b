"""What several views ask for: a task of a task set, and whose tokens a file holds."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

TINY_BASE = Path(__file__).resolve().parents[2] / "assets" / "models" / "tiny-base"


def add_task(parser: argparse.ArgumentParser) -> None:
    root = Path(os.environ.get("ROBUSTOPS_DATA", "data")) / "synthetic"
    parser.add_argument("task", metavar="TASK", help="a task's id, as csm-test-00006; split.jsonl lists them")
    parser.add_argument("--tasks", type=Path, default=root, metavar="FOLDER", help=f"the task set (default: {root})")


def add_model(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--model",
        type=Path,
        default=TINY_BASE,
        metavar="FOLDER",
        help="whose tokens they are (default: the tiny model)",
    )
