"""A folder that is written beside its place and moved there whole: a reader sees the old one or the new one.

And one that a single process may write in.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from robustops.core.errors import TableError

if sys.platform != "win32":
    import fcntl


@contextmanager
def sole_writer(folder: Path) -> Iterator[None]:
    """Keep other processes that ask here out of `folder`; a kill ends it too. Raises TableError where one is inside.

    Where folders cannot be locked, as on Windows and some network disks, nobody is kept out.
    """
    if sys.platform == "win32":
        yield
        return
    folder.mkdir(parents=True, exist_ok=True)
    opened = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):
            try:
                fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise TableError(
                    f"{folder}: another run is writing there, and together they would write everything twice; "
                    "wait for its end, or give another run.dir"
                ) from error
        yield
    finally:
        os.close(opened)


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
