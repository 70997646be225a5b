"""The log of changes: every write adds to it, and the tokens of its scopes go on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from robustops.gym.domains.drive.access import Access, known_drive
from robustops.gym.domains.drive.file_item import file_item
from robustops.gym.domains.drive.wire import flag, new_id, shown_time
from robustops.gym.operations.records import Records, Row, reading

GLOBAL = "global"


def log_change(
    records: Records, kind: str, *, file: Row | None = None, drive_id: str | None = None, is_removed: bool = False
) -> None:
    token = new_id(records)
    drive = drive_id if file is None else file["drive_id"]
    records.add(
        "changes",
        {
            "token": token,
            "file_id": None if file is None else file["id"],
            "drive_id": drive,
            "change_type": kind,
            "payload": {"name": file["name"]} if file is not None else {},
            "removed": is_removed,
        },
    )
    for scope in (GLOBAL, f"user:{records.caller['id']}", *([f"drive:{drive}"] if drive else [])):
        if records.first("change_tokens", {"scope": scope}):
            records.change("change_tokens", {"scope": scope}, {"last_token": token})
        else:
            records.add("change_tokens", {"scope": scope, "last_token": token})


def _last_token(records: Records, drive_id: str | None) -> str:
    row = records.first("change_tokens", {"scope": f"drive:{drive_id}" if drive_id else GLOBAL})
    if row is not None and row["last_token"]:
        return str(row["last_token"])
    found = records.find("changes", {"drive_id": drive_id} if drive_id else None, order="token DESC LIMIT 1")
    return str(found[0]["token"]) if found else "1"


def _start_token(records: Records, arguments: Mapping[str, Any]) -> Any:
    drive_id = arguments.get("driveId") or arguments.get("teamDriveId")
    if drive_id:
        known_drive(records, drive_id)
    return {"kind": "drive#startPageToken", "startPageToken": _last_token(records, drive_id)}


def _list(records: Records, arguments: Mapping[str, Any]) -> Any:
    """What came after the token; the last page tells where later changes begin."""
    drive_id = arguments.get("driveId")
    if drive_id:
        known_drive(records, drive_id)
    conditions, values = ["token > ?"], [arguments["pageToken"]]
    if drive_id:
        conditions.append("drive_id = ?")
        values.append(drive_id)
    if not arguments.get("includeRemoved", False):
        conditions.append("removed = 0")
    if arguments.get("restrictToMyDrive", False):
        conditions.append("drive_id IS NULL")
    size = arguments.get("pageSize", 100)
    sql = f"SELECT * FROM changes WHERE {' AND '.join(conditions)} ORDER BY token LIMIT {size + 1}"
    found = records.select(sql, values)
    access = Access(records)
    reply: dict[str, Any] = {"kind": "drive#changeList"}
    if len(found) > size:
        reply["nextPageToken"] = found[size - 1]["token"]
    else:
        reply["newStartPageToken"] = _last_token(records, drive_id)
    return {**reply, "changes": [_item(records, access, row) for row in found[:size]]}


def _item(records: Records, access: Access, row: Row) -> dict[str, Any]:
    file = records.first("files", {"id": row["file_id"]}) if row["file_id"] else None
    return {
        "kind": "drive#change",
        "changeType": "file" if row["file_id"] else "drive",
        "time": shown_time(row["change_time"]),
        "removed": flag(row["removed"]),
        "fileId": row["file_id"],
        "driveId": row["drive_id"],
        "file": file_item(records, access, file) if file is not None and access.on_file(file) else None,
    }


KINDS = {"get_changes_start_page_token": reading(_start_token), "list_changes": reading(_list)}
