"""A folder that is written beside its place and moved there whole: a reader sees the old one or the new one."""

from __future__ import annotations

import shutil
from pathlib import Path


def replace_folder(new: Path, place: Path) -> None:
    """Move a finished folder to its place; the one there before is removed only after that.

    Folders cannot be swapped in one system call everywhere; should the second rename fail, the first is undone.
    """
    if not place.exists():
        new.rename(place)
        return
    old = _set_aside(place)
    shutil.rmtree(old, ignore_errors=True)  # left by a kill after the folder at `place` was whole
    place.rename(old)
    try:
        new.rename(place)
    except OSError:
        old.rename(place)
        raise
    shutil.rmtree(old)


def finish_replacing(place: Path) -> None:
    """Bring back the folder that a kill between the two moves of `replace_folder` left aside."""
    old = _set_aside(place)
    if old.is_dir() and not place.exists():
        old.rename(place)
    shutil.rmtree(old, ignore_errors=True)


def _set_aside(place: Path) -> Path:
    return place.with_name(f".{place.name}.old")
