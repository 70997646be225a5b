"""Which databases this process made on which servers, on disk, so that another can delete them if it is killed.

One file per process, one line per database made or deleted. A file that nobody wrote to for longer than the time to
live belongs to a process that is gone: no session lasts that long, and every session writes.
"""

from __future__ import annotations

import json
import logging
import os
import time
import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import IO

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftBehind:
    """What one dead process left: (URL, database id) of every database that it made and did not delete."""

    path: Path
    databases: tuple[tuple[str, str], ...]


class Ledger:
    """`folder` is made when the first database is. `ttl_s`: more than the longest session lasts.

    A disk that cannot be written to costs the ledger and no episode; it is said once.
    """

    def __init__(self, folder: Path, *, ttl_s: float) -> None:
        self.ttl_s = ttl_s
        self._folder = folder
        self._path = folder / f"{os.getpid()}-{uuid.uuid4().hex}.jsonl"
        self._file: IO[str] | None = None
        self._open: set[tuple[str, str]] = set()
        self._is_lost = False

    def made(self, url: str, database_id: str) -> None:
        self._open.add((url, database_id))
        self._write("made", url, database_id)

    def deleted(self, url: str, database_id: str) -> None:
        self._open.discard((url, database_id))
        self._write("deleted", url, database_id)

    def left_behind(self) -> tuple[LeftBehind, ...]:
        """Of every other process that has been silent for longer than the time to live."""
        oldest = time.time() - self.ttl_s
        silent = [path for path in self._folder.glob("*.jsonl") if path != self._path and _modified(path) < oldest]
        return tuple(LeftBehind(path=path, databases=_open_of(_lines(path))) for path in silent)

    def close(self) -> None:
        """The file stays where a database could not be deleted: a later process will try."""
        if self._file is not None:
            self._file.close()
            self._file = None
            if not self._open:
                self._path.unlink(missing_ok=True)

    def _write(self, what: str, url: str, database_id: str) -> None:
        if self._is_lost:
            return
        try:
            if self._file is None:
                self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                self._file = self._path.open("a", encoding="utf-8")
            self._file.write(json.dumps([what, url, database_id]) + "\n")
            self._file.flush()
            if not self._open:
                self._file.truncate(0)
        except OSError as error:
            self._is_lost = True
            logger.warning("no ledger of databases (%s): if this process is killed, its databases stay", error)


def _modified(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except FileNotFoundError:  # its process closed it just now
        return float("inf")


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return []


def _open_of(lines: Iterable[str]) -> tuple[tuple[str, str], ...]:
    found: dict[tuple[str, str], None] = {}
    for line in lines:
        try:
            what, url, database_id = json.loads(line)
        except ValueError:
            logger.debug("a torn line in a ledger: %r", line[:80])  # the last one of a killed process
            continue
        if what == "made":
            found[url, database_id] = None
        else:
            found.pop((url, database_id), None)
    return tuple(found)
