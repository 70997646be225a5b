"""A zip archive in, a folder out. Nothing leaves the folder or grows without bound. Knows nothing of tasks."""

from __future__ import annotations

import shutil
import stat
import zipfile
from pathlib import Path, PurePosixPath

from robustops.core.errors import TaskError


def unpack(archive: Path, folder: Path, *, max_bytes: int) -> Path:
    """Unpack into `folder`, which appears only when all is there.

    Raises TaskError, before anything is written, for a member outside the folder, a link, or more than `max_bytes`
    in all; while unpacking, for a member that is larger than it says.
    """
    partial = folder.with_name(f"{folder.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    try:
        with zipfile.ZipFile(archive) as source:
            members = [member for member in source.infolist() if not member.is_dir()]
            _check(archive, members, max_bytes)
            for member in members:
                target = partial / member.filename
                target.parent.mkdir(parents=True, exist_ok=True)
                with source.open(member) as packed, target.open("wb") as file:
                    shutil.copyfileobj(packed, file)
    except (zipfile.BadZipFile, EOFError) as error:
        raise TaskError(f"{archive}: not a whole zip archive ({error}); fetch it again") from error
    shutil.rmtree(folder, ignore_errors=True)
    partial.replace(folder)
    return folder


def _check(archive: Path, members: list[zipfile.ZipInfo], max_bytes: int) -> None:
    for member in members:
        path = PurePosixPath(member.filename.replace("\\", "/"))
        if path.is_absolute() or ".." in path.parts or ":" in path.parts[0]:
            raise TaskError(f"{archive}: member {member.filename!r} points outside the folder; nothing was unpacked")
        if stat.S_ISLNK(member.external_attr >> 16):
            raise TaskError(f"{archive}: member {member.filename!r} is a link; nothing was unpacked")
    if (total := sum(member.file_size for member in members)) > max_bytes:
        raise TaskError(
            f"{archive}: unpacks to {total >> 20} MiB, more than source.max_mib allows ({max_bytes >> 20}); "
            "raise it if the archive is trusted"
        )
