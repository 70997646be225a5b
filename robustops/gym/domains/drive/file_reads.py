"""Finding and reading files."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from robustops.gym.domains.drive.access import Access, known_drive, known_file
from robustops.gym.domains.drive.file_item import file_item
from robustops.gym.domains.drive.query import read_query
from robustops.gym.domains.drive.wire import FOLDER, WORKSPACE, decoded, listing, page, parts
from robustops.gym.operations.kind import ToolFailure
from robustops.gym.operations.records import Records, Row, reading

_COLUMNS: Mapping[str, str] = {
    "name": "name",
    "mimeType": "mime_type",
    "modifiedTime": "modified_time",
    "createdTime": "created_time",
    "viewedByMeTime": "viewed_by_me_time",
}
_WRITERS = ("writer", "fileOrganizer", "organizer", "owner")
_TERMS = frozenset(
    (
        *_COLUMNS,
        *("fullText", "trashed", "starred", "parents", "owners", "writers", "readers", "sharedWithMe", "visibility"),
        *("properties", "appProperties", "shortcutDetails.targetId"),
    )
)
_CORPORA = ("user", "domain", "drive", "allDrives")
DEFAULT_ORDER = "modifiedTime desc"


def _value(records: Records, access: Access, file: Row, name: str) -> Any:
    """What a term of the search language asks a file for."""
    if name in _COLUMNS:
        return file[_COLUMNS[name]]
    match name:
        case "fullText":
            return " ".join(str(file[column] or "") for column in ("name", "description", "properties"))
        case "trashed":
            return access.is_trashed(file)
        case "starred":
            return bool(file["starred"])
        case "parents":
            parents = decoded(file["parent_ids"]) or []
            return parents or [file["drive_id"] or "root"]
        case "owners" | "writers" | "readers":
            return _addresses(access, file, name)
        case "sharedWithMe":
            return access.direct(file["id"]) > 0 and file["created_by"] != records.caller["id"]
        case "visibility":
            return _visibility(access, file)
        case "shortcutDetails.targetId":
            return file["shortcut_target_id"]
        case "appProperties":
            return decoded(file["app_properties"])
    return decoded(file["properties"])


def _addresses(access: Access, file: Row, name: str) -> list[str]:
    """The addresses of those who hold the role, or a stronger one."""
    roles = {"owners": ("owner",), "writers": _WRITERS}.get(name, (*_WRITERS, "commenter", "reader"))
    found = []
    for row in access.grants(file["id"]):
        if row["role"] in roles:
            user = access.person(row["user_id"])
            found.append(user["emailAddress"] if user else row["email_address"])
    maker = access.person(file["created_by"]) if file["drive_id"] is None else None
    return [*found, maker["emailAddress"]] if maker else found


def _visibility(access: Access, file: Row) -> str:
    found = {row["type"]: row for row in access.grants(file["id"])}
    for kind, words in (
        ("anyone", ("anyoneWithLink", "anyoneCanFind")),
        ("domain", ("domainWithLink", "domainCanFind")),
    ):
        if kind in found:
            return words[bool(found[kind]["allow_file_discovery"])]
    return "limited"


def _is_in_corpora(access: Access, file: Row, arguments: Mapping[str, Any]) -> bool:
    drive_id = arguments.get("driveId")
    if drive_id:
        return bool(file["drive_id"] == drive_id)
    if arguments.get("corpora", "user") != "user" or arguments.get("includeItemsFromAllDrives"):
        return True
    return file["drive_id"] is None or access.direct(file["id"]) > 0


def _list(records: Records, arguments: Mapping[str, Any]) -> Any:
    if arguments.get("corpora", "user") not in _CORPORA:
        raise ToolFailure(f"Invalid value for corpora: {arguments['corpora']}; expected one of {', '.join(_CORPORA)}")
    if arguments.get("corpora") == "drive" and not arguments.get("driveId"):
        raise ToolFailure("driveId is required when corpora is drive")
    if "driveId" in arguments:
        known_drive(records, arguments["driveId"])
    access, files = Access(records), records.find("files")
    access.know_all(files)
    files = [row for row in files if _is_in_corpora(access, row, arguments) and access.on_file(row)]
    if arguments.get("trashed") is False:
        files = [row for row in files if not access.is_trashed(row)]
    if (text := arguments.get("q", "")).strip():
        condition = read_query(text, _TERMS)
        files = [row for row in files if condition(partial(_value, records, access, row))]
    _sort(records, access, files, arguments.get("orderBy") or DEFAULT_ORDER)
    shown, following = page(files, arguments.get("pageToken"), arguments.get("pageSize", 100))
    items = [file_item(records, access, row) for row in shown]
    reply = listing("drive#fileList", "files", items, following)
    return {"kind": reply.pop("kind"), "incompleteSearch": False, **reply}


def _natural(name: str) -> list[tuple[int, str]]:
    """Digits count as numbers: file 2 comes before file 10."""
    return [(int(part), "") if part.isdecimal() else (-1, part.lower()) for part in re.split(r"(\d+)", name)]


def _shared_time(records: Records, access: Access, file: Row) -> str:
    grant = records.first("permissions", {"file_id": file["id"], "user_id": records.caller["id"], "deleted": 0})
    return str(grant["created_time"]) if grant else ""


_KEYS: Mapping[str, Callable[[Records, Access, Row], Any]] = {
    "createdTime": lambda records, access, row: row["created_time"] or "",
    "folder": lambda records, access, row: row["mime_type"] != FOLDER,
    "modifiedByMeTime": lambda records, access, row: (
        row["modified_time"] or "" if row["modified_by"] == records.caller["id"] else ""
    ),
    "modifiedTime": lambda records, access, row: row["modified_time"] or "",
    "name": lambda records, access, row: (row["name"] or "").lower(),
    "name_natural": lambda records, access, row: _natural(row["name"] or ""),
    "quotaBytesUsed": lambda records, access, row: row["quota_bytes_used"] or 0,
    "recency": lambda records, access, row: max(row["modified_time"] or "", row["viewed_by_me_time"] or ""),
    "sharedWithMeTime": _shared_time,
    "starred": lambda records, access, row: bool(row["starred"]),
    "viewedByMeTime": lambda records, access, row: row["viewed_by_me_time"] or "",
}


def _sort(records: Records, access: Access, files: list[Row], order: str) -> None:
    """In place; the first key counts most. Raises ToolFailure for a key that is none."""
    for part in reversed(parts(order)):
        words = part.split()
        if words[0] not in _KEYS or words[1:] not in ([], ["desc"], ["asc"]):
            raise ToolFailure(f"Invalid value for orderBy: {part}; valid keys are {', '.join(_KEYS)}")
        key = _KEYS[words[0]]
        files.sort(key=lambda row, key=key: key(records, access, row), reverse=words[1:] == ["desc"])  # type: ignore[misc]


def _get(records: Records, arguments: Mapping[str, Any]) -> Any:
    access = Access(records)
    file = known_file(records, arguments["fileId"], access=access)
    if arguments.get("alt") == "media":
        if file["mime_type"].startswith(WORKSPACE):
            raise ToolFailure("Only files with binary content can be downloaded. Use export_files for Workspace files.")
        return f"[content of {file['name']}, {file['size_bytes']} bytes, {file['mime_type']}]"
    return file_item(records, access, file, arguments.get("includeLabels"))


KINDS = {"list_files": reading(_list), "get_files": reading(_get)}
