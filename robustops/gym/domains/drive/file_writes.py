"""Making, copying, changing, moving and deleting files: metadata only, the server holds no content."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from robustops.gym.domains.drive.access import Access, known_drive, known_file
from robustops.gym.domains.drive.changes import log_change
from robustops.gym.domains.drive.file_item import file_item
from robustops.gym.domains.drive.grants import add_grant
from robustops.gym.domains.drive.tree import ROOT, parents_of, place, subtree, write_closure
from robustops.gym.domains.drive.wire import FOLDER, SHORTCUT, WORKSPACE, decoded, new_id, parts, stored_time
from robustops.gym.operations.kind import ToolFailure
from robustops.gym.operations.records import Records, Row, writing

_EDITORS = {"document": "document", "spreadsheet": "spreadsheets", "presentation": "presentation"}
# Tables whose rows belong to one file, and go with it.
_ATTACHED = ("permissions", "comments", "revisions", "file_labels", "share_links", "thumbnails")
# What a copy takes over from its source.
_COPIED = (
    *("size_bytes", "md5_checksum", "sha1_checksum", "quota_bytes_used", "properties", "app_properties"),
    *("is_shortcut", "shortcut_target_id", "shortcut_target_mime", "writers_can_share"),
)
MAX_IDS = 1000


def _view_link(file_id: str, mime_type: str) -> str:
    if mime_type == FOLDER:
        return f"https://drive.google.com/drive/folders/{file_id}"
    if editor := _EDITORS.get(mime_type.removeprefix(WORKSPACE)):
        return f"https://docs.google.com/{editor}/d/{file_id}/edit"
    return f"https://drive.google.com/file/d/{file_id}/view"


def _add_file(records: Records, access: Access, values: Mapping[str, Any], parents: Sequence[str]) -> Row:
    """A new row in its place, with an owner where it is in no shared drive."""
    if len(parents) > 1:
        raise ToolFailure("A file can only have one parent folder")
    folders, drive_id = place(records, access, parents)
    file_id, me = new_id(records), records.caller["id"]
    name, mime_type = values["name"], values["mime_type"]
    extension = name.rpartition(".")[2] if "." in name and not mime_type.startswith(WORKSPACE) else None
    file = records.add(
        "files",
        {
            "id": file_id,
            "drive_id": drive_id,
            "parent_id": folders[0] if folders else None,
            "parent_ids": folders,
            "created_by": me,
            "modified_by": me,
            "file_extension": extension,
            "full_file_extension": extension,
            "original_filename": name,
            "web_view_link": _view_link(file_id, mime_type),
            "owned_by_me": drive_id is None,
            "modified_by_me": 1,
            **values,
        },
    )
    if drive_id is None:
        owner = {"role": "owner", "type": "user", "user_id": me, "email_address": records.caller["email"]}
        add_grant(records, file, owner)
    write_closure(records, [file])
    return file


def _create(records: Records, arguments: Mapping[str, Any]) -> Any:
    access = Access(records)
    values: dict[str, Any] = {
        "name": arguments["name"],
        "mime_type": arguments["mimeType"],
        "description": arguments.get("description"),
        "starred": arguments.get("starred", False),
        "properties": arguments.get("properties"),
        "app_properties": arguments.get("appProperties"),
        "color": arguments.get("folderColorRgb"),
        "writers_can_share": arguments.get("writersCanShare", True),
    }
    if "originalFilename" in arguments:
        values["original_filename"] = arguments["originalFilename"]
    for name, column in (("createdTime", "created_time"), ("modifiedTime", "modified_time")):
        if name in arguments:
            values[column] = stored_time(name, arguments[name])
    if arguments.get("trashed"):
        values |= {"trashed": 1, "explicitly_trashed": 1, "trashed_time": records.now}
    if arguments["mimeType"] == SHORTCUT:
        values |= _shortcut(records, arguments)
    file = _add_file(records, access, values, arguments.get("parents", []))
    for grant in arguments.get("permissions", []):
        add_grant(records, file, _sent_grant(records, grant))
    log_change(records, "file_created", file=file)
    stored = records.find("files", {"id": file["id"]})[0]
    return file_item(records, Access(records), stored, arguments.get("includeLabels"))


def _shortcut(records: Records, arguments: Mapping[str, Any]) -> dict[str, Any]:
    target_id = (arguments.get("shortcutDetails") or {}).get("targetId")
    if not target_id:
        raise ToolFailure("shortcutDetails.targetId is required for a shortcut")
    target = known_file(records, target_id)
    return {"is_shortcut": 1, "shortcut_target_id": target_id, "shortcut_target_mime": target["mime_type"]}


def _sent_grant(records: Records, sent: Mapping[str, Any]) -> dict[str, Any]:
    email = sent.get("emailAddress")
    user = records.first("users", {"email": email}) if email else None
    return {
        "role": sent.get("role", "reader"),
        "type": sent.get("type", "user"),
        "user_id": user["id"] if user else None,
        "email_address": email,
        "domain": sent.get("domain"),
    }


def _copy(records: Records, arguments: Mapping[str, Any]) -> Any:
    """Metadata alone: comments, labels and permissions are not copied."""
    source = known_file(records, arguments["fileId"])
    if source["mime_type"] == FOLDER:
        raise ToolFailure(f"Folders cannot be copied: {source['id']}")
    access = Access(records)
    values = {
        **{name: source[name] for name in _COPIED},
        "name": arguments.get("name", f"Copy of {source['name']}"),
        "mime_type": arguments.get("mimeType", source["mime_type"]),
        "description": arguments.get("description", source["description"]),
        "starred": arguments.get("starred", False),
    }
    home = parents_of(source) or ([source["drive_id"]] if source["drive_id"] else [])
    file = _add_file(records, access, values, arguments.get("parents", home))
    log_change(records, "file_created", file=file)
    return file_item(records, Access(records), file, arguments.get("includeLabels"))


def _update(records: Records, arguments: Mapping[str, Any]) -> Any:
    file = known_file(records, arguments["fileId"], "writer")
    columns = {"name": "name", "description": "description", "mimeType": "mime_type", "starred": "starred"}
    columns |= {"appProperties": "app_properties"}
    values: dict[str, Any] = {column: arguments[name] for name, column in columns.items() if name in arguments}
    if "properties" in arguments:
        values["properties"] = {**(decoded(file["properties"]) or {}), **arguments["properties"]}
    if "trashed" in arguments:
        is_trashed = arguments["trashed"]
        values |= {"trashed": is_trashed, "explicitly_trashed": is_trashed}
        values["trashed_time"] = records.now if is_trashed else None
    moved = _new_place(records, file, arguments)
    if not values and moved is None:
        raise ToolFailure("No fields to update")
    times = {"modified_time": records.now, "modified_by": records.caller["id"], "version": (file["version"] or 0) + 1}
    records.change("files", {"id": file["id"]}, {**values, **(moved or {}), **times})
    stored = records.find("files", {"id": file["id"]})[0]
    if moved is not None:
        _carry_along(records, stored)
    log_change(records, "file_updated", file=stored)
    return file_item(records, Access(records), stored, arguments.get("includeLabels"))


def _new_place(records: Records, file: Row, arguments: Mapping[str, Any]) -> dict[str, Any] | None:
    """The columns that a move sets, or None for no move. Order is kept, nothing comes twice."""
    added, removed = parts(arguments.get("addParents")), parts(arguments.get("removeParents"))
    if not added and not removed:
        return None
    inside = {row["id"] for row in subtree(records, file)}
    if wrong := inside & set(added):
        raise ToolFailure(f"A folder cannot be moved into itself: {min(wrong)}")
    folders, drive_id = place(records, Access(records), added)
    kept = [parent for parent in parents_of(file) if parent not in removed]
    parents = [*kept, *(folder for folder in folders if folder not in kept)]
    if not added:
        drive_id = file["drive_id"]
    elif kept and drive_id is None and ROOT not in added:
        drive_id = file["drive_id"] if not folders else None
    return {"parent_ids": parents, "parent_id": parents[0] if parents else None, "drive_id": drive_id}


def _carry_along(records: Records, file: Row) -> None:
    """What lies in a moved folder moves with it: its shared drive and its rows of the closure."""
    moved = subtree(records, file)
    for row in moved[1:]:
        if row["drive_id"] != file["drive_id"]:
            records.change("files", {"id": row["id"]}, {"drive_id": file["drive_id"]})
    write_closure(records, moved)


def _remove(records: Records, file: Row) -> None:
    """Delete a file, what is attached to it, and everything in it."""
    for row in reversed(subtree(records, file)):
        for comment in records.find("comments", {"file_id": row["id"]}):
            records.remove("replies", {"comment_id": comment["id"]})
        for table in _ATTACHED:
            records.remove(table, {"file_id": row["id"]})
        records.remove("path_closure", {"descendant_id": row["id"]})
        records.remove("files", {"id": row["id"]})
        log_change(records, "file_deleted", file=row, is_removed=True)


def _delete(records: Records, arguments: Mapping[str, Any]) -> Any:
    file = records.first("files", {"id": arguments["fileId"]})
    if file is None:
        raise ToolFailure(f"File not found: {arguments['fileId']}")
    Access(records).require_file(file, "organizer" if file["drive_id"] else "owner")
    _remove(records, file)


def _empty_trash(records: Records, arguments: Mapping[str, Any]) -> Any:
    drive_id = arguments.get("driveId")
    where: dict[str, Any] = {"trashed": 1, "drive_id": drive_id}
    if drive_id:
        known_drive(records, drive_id, "organizer")
    else:
        where["created_by"] = records.caller["id"]
    for file in records.find("files", where):
        if records.first("files", {"id": file["id"]}) is None:
            continue  # it lay in a folder that went before
        _remove(records, file)
        row = {"id": new_id(records), "file_id": file["id"], "emptied_time": records.now}
        records.add("trash_log", {**row, "actor_id": records.caller["id"]})


def _generate_ids(records: Records, arguments: Mapping[str, Any]) -> Any:
    count = arguments.get("count", 10)
    if not 1 <= count <= MAX_IDS:
        raise ToolFailure(f"Invalid value for count: {count}; expected 1 to {MAX_IDS}")
    ids = [new_id(records) for _ in range(count)]
    for one in ids:
        records.add("id_pool", {"id": one})
    return {"kind": "drive#generatedIds", "space": arguments.get("space", "drive"), "ids": ids}


KINDS = {
    "create_file": writing(_create),
    "copy_files": writing(_copy),
    "update_files": writing(_update),
    "delete_files": writing(_delete),
    "empty_files_trash": writing(_empty_trash),
    "generate_files_Ids": writing(_generate_ids),
}
