"""JSON Lines, one object a line: written whole, or appended and flushed to disk; read back one by one."""

from __future__ import annotations

import gzip
import json
import os
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from robustops.core.errors import TableError
from robustops.core.files import write_atomically


def write_lines(path: Path, values: Iterable[Mapping[str, Any]]) -> None:
    """Replace the file by these lines, all of them or none."""
    write_atomically(path, "".join(map(_line, values)).encode())


def append_line(path: Path, value: Mapping[str, Any]) -> None:
    """Append one JSON line and flush it to disk, so that a kill costs at most the line being written."""
    append_lines(path, [value])


def append_lines(path: Path, values: Iterable[Mapping[str, Any]]) -> None:
    """Append JSON lines and flush them to disk together."""
    with path.open("a", encoding="utf-8") as file:
        file.writelines(map(_line, values))
        file.flush()
        os.fsync(file.fileno())


def _line(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n"


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """JSON Lines, one object a line, from a gzip file where the name ends in `.gz`.

    A last line cut short by a kill is left out; TableError for anything else that is not JSON Lines.
    """
    with _open_text(path) as file:
        for number, line in enumerate(_text_of(file, path), start=1):
            if not line.endswith("\n"):
                return
            try:
                yield json.loads(line)
            except json.JSONDecodeError as error:
                raise TableError(f"{path}:{number}: not JSON ({error.msg})") from error


def _open_text(path: Path) -> IO[str]:
    return gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8")


def _text_of(file: IO[str], path: Path) -> Iterator[str]:
    try:
        yield from file
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise TableError(f"{path}: not a whole gzip file ({error}); copy or make it again") from error
