"""Folders: where a file lies, what lies in it, and the closure table that says so for every pair."""

from __future__ import annotations

import json
from collections.abc import Sequence

from robustops.gym.domains.drive.access import Access
from robustops.gym.domains.drive.wire import FOLDER, decoded
from robustops.gym.operations.kind import ToolFailure
from robustops.gym.operations.records import Records, Row

ROOT = "root"


def parents_of(file: Row) -> list[str]:
    return list(decoded(file["parent_ids"]) or [])


def place(records: Records, access: Access, parents: Sequence[str]) -> tuple[list[str], str | None]:
    """The stored parents and the shared drive of a file that is put there. Raises ToolFailure.

    The root of My Drive and that of a shared drive are no folders: a file there has no parent.
    """
    found: list[str] = []
    drive_id: str | None = None
    for parent in parents:
        if parent == ROOT:
            continue
        if drive := records.first("drives", {"id": parent}):
            access.require_drive(drive, "writer")
            drive_id = drive["id"]
            continue
        folder = records.first("files", {"id": parent})
        if folder is None:
            raise ToolFailure(f"File not found: {parent}")
        access.require_file(folder, "writer")
        if folder["mime_type"] != FOLDER:
            raise ToolFailure(f"The specified parent is not a folder: {parent}")
        drive_id = folder["drive_id"] or drive_id
        if parent not in found:
            found.append(parent)
    return found, drive_id


def children(records: Records, file_id: str) -> list[Row]:
    sql = "SELECT * FROM files WHERE instr(parent_ids, ?) > 0 ORDER BY rowid"
    return records.select(sql, (json.dumps(file_id),))


def subtree(records: Records, file: Row) -> list[Row]:
    """The file and everything in it, folders before what they hold."""
    found = {file["id"]: file}
    waiting = [file]
    while waiting:
        for child in children(records, waiting.pop(0)["id"]):
            if child["id"] not in found:
                found[child["id"]] = child
                waiting.append(child)
    return list(found.values())


def write_closure(records: Records, files: Sequence[Row]) -> None:
    """Write the rows of these files anew: one for the file itself, one for each folder above it."""
    for file in files:
        records.remove("path_closure", {"descendant_id": file["id"]})
        depths = {file["id"]: 0}
        waiting = [file["id"]]
        while waiting:
            current = waiting.pop(0)
            row = file if current == file["id"] else records.first("files", {"id": current})
            for parent in parents_of(row) if row else ():
                if parent not in depths:
                    depths[parent] = depths[current] + 1
                    waiting.append(parent)
        for ancestor, depth in depths.items():
            records.add("path_closure", {"ancestor_id": ancestor, "descendant_id": file["id"], "depth": depth})
