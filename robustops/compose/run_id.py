"""The id of a run folder, for what is the run's but lies elsewhere: a W&B run, weights on their way to servers."""

from __future__ import annotations

import secrets
from pathlib import Path

from robustops.core.files import write_atomically


def run_id(folder: Path) -> str:
    """Kept in the folder, so that a resumed run has the same one. Names repeat: job 0 of every multirun is `0`."""
    path = folder / "run_id"
    if not path.is_file():
        write_atomically(path, secrets.token_hex(6).encode())
    return path.read_text()
