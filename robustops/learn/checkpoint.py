"""Training state on disk: written whole or not at all, the previous one kept, a damaged one skipped with one line.

`<folder>/step-000012.pt`. A state holds tensors and plain values only, so that loading it runs no code. It names the
version of its form; one of another version is refused.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from pickle import UnpicklingError  # of torch, for a file that is no state
from typing import Any

import torch

from robustops.core.errors import TableError, first_line

log = logging.getLogger(__name__)
NUM_KEPT = 2
STATE_VERSION = 2  # 1 held boundaries and groups that could only be read by running code


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedState:
    step: int
    state: dict[str, Any]

    def require(self, name: str) -> None:
        """Raises TableError where the state lacks what the algorithm at hand goes on from: another one has left it."""
        if name not in self.state:
            raise TableError(
                f"the training state of step {self.step} is of another algorithm (no {name} in it); "
                "go on with the one that began the run, or begin anew with another run.dir"
            )


def save_state(folder: Path, step: int, state: Mapping[str, Any]) -> Path:
    """Write the state after `step` optimiser steps; older ones go once this one is safely on disk.

    One of a later step was damaged, since the run went on from before it: it goes too, like what a kill left half done.
    Raises TableError when the disk refuses: the previous state is then still there.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for leftover in folder.glob("step-*.partial"):
        leftover.unlink()
    path = folder / f"step-{step:06d}.pt"
    partial = path.with_suffix(f".{os.getpid()}.partial")
    try:
        with partial.open("wb") as file:
            torch.save({"version": STATE_VERSION, "state": dict(state)}, file)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except (OSError, RuntimeError) as error:
        if isinstance(error.__context__, KeyboardInterrupt):  # torch then still ends its file, in vain
            raise error.__context__ from None
        cause = error.__context__ if isinstance(error.__context__, OSError) else error
        raise TableError(
            f"{path}: the checkpoint could not be written ({cause}); free disk space and run the same command again"
        ) from error
    finally:
        partial.unlink(missing_ok=True)
    kept = [found for found in _paths(folder) if _step(found) <= step][:NUM_KEPT]
    for found in _paths(folder):
        if found not in kept:
            found.unlink()
    return path


def load_latest(folder: Path) -> SavedState | None:
    """The newest readable state, or None. A damaged one is reported in one line and the one before it is used.

    Raises TableError for a state of another version.
    """
    for path in _paths(folder):
        try:
            saved = torch.load(path, map_location="cpu", weights_only=True)
        except (OSError, RuntimeError, EOFError, UnpicklingError, ValueError, KeyError) as error:
            log.warning("%s is damaged (%s); going on from the checkpoint before it", path, first_line(error))
            continue
        version = saved.get("version", 1)
        if version != STATE_VERSION:
            raise TableError(
                f"{path}: a training state of version {version}, expected {STATE_VERSION}; "
                "finish the run with the release that began it, or begin anew with another run.dir"
            )
        return SavedState(step=_step(path), state=saved["state"])
    return None


def _paths(folder: Path) -> list[Path]:
    """Newest first."""
    return sorted(folder.glob("step-*.pt"), key=_step, reverse=True)


def _step(path: Path) -> int:
    match = re.fullmatch(r"step-(\d+)\.pt", path.name)
    return int(match.group(1)) if match else -1
