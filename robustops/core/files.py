"""A whole file, replaced at once: bytes or a JSON object in, the same out. And one that a kill cut short, mended."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from robustops.core.errors import TableError

SCHEMA_VERSION = 1  # of all that a run or a list file says; a change of any of their columns raises it


def write_atomically(path: Path, content: bytes) -> None:
    """Replace `path` with `content`; a reader sees the old file or the new one, never a part."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        with partial.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def cut_unfinished_line(path: Path) -> None:
    """A kill can leave half a line; the next append must not be glued to it."""
    content = path.read_bytes()
    whole = content[: content.rfind(b"\n") + 1]
    if len(whole) < len(content):
        write_atomically(path, whole)


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    write_atomically(path, (json.dumps(value, indent=1, ensure_ascii=False, default=str) + "\n").encode())


def read_json(path: Path) -> dict[str, Any]:
    """Raises TableError for a missing file and for anything but one JSON object."""
    try:
        value = json.loads(path.read_text())
    except FileNotFoundError as error:
        raise TableError(f"{path}: no such file") from error
    except json.JSONDecodeError as error:
        raise TableError(f"{path}: not JSON (line {error.lineno}: {error.msg})") from error
    if not isinstance(value, dict):
        raise TableError(f"{path}: expected a JSON object, got {type(value).__name__}")
    return value
