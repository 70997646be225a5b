"""A file as replies show it."""

from __future__ import annotations

from typing import Any

from robustops.gym.domains.drive.access import Access
from robustops.gym.domains.drive.wire import decoded, flag, parts, shown_time
from robustops.gym.operations.records import Records, Row


def file_item(records: Records, access: Access, file: Row, include_labels: str | None = None) -> dict[str, Any]:
    me = records.caller["id"]
    permissions = access.grants(file["id"])
    item: dict[str, Any] = {
        "kind": "drive#file",
        "id": file["id"],
        "name": file["name"],
        "mimeType": file["mime_type"],
        "description": file["description"],
        "starred": flag(file["starred"]),
        "trashed": access.is_trashed(file),
        "explicitlyTrashed": flag(file["explicitly_trashed"]),
        "trashedTime": shown_time(file["trashed_time"]),
        "parents": decoded(file["parent_ids"]) or [],
        "driveId": file["drive_id"],
        "spaces": [file["space"] or "drive"],
        "version": file["version"],
        "webViewLink": file["web_view_link"],
        "webContentLink": file["web_content_link"],
        "iconLink": file["icon_link"],
        "thumbnailLink": file["thumbnail_link"],
        "viewedByMeTime": shown_time(file["viewed_by_me_time"]),
        "createdTime": shown_time(file["created_time"]),
        "modifiedTime": shown_time(file["modified_time"]),
        "owners": [] if file["drive_id"] else _owners(access, file, permissions),
        "lastModifyingUser": access.person(file["modified_by"]),
        "shared": flag(file["shared"]),
        "ownedByMe": _stored_or(file["owned_by_me"], file["created_by"] == me),
        "viewedByMe": _stored_or(file["viewed_by_me"], False),
        "modifiedByMe": _stored_or(file["modified_by_me"], file["modified_by"] == me),
        "writersCanShare": flag(file["writers_can_share"]),
        "permissionIds": [row["id"] for row in permissions],
        "properties": decoded(file["properties"]),
        "appProperties": decoded(file["app_properties"]),
        "folderColorRgb": file["color"],
        "originalFilename": file["original_filename"],
        "fileExtension": file["file_extension"],
        "fullFileExtension": file["full_file_extension"],
        "md5Checksum": file["md5_checksum"],
        "sha1Checksum": file["sha1_checksum"],
        "size": file["size_bytes"],
        "quotaBytesUsed": file["quota_bytes_used"],
        "headRevisionId": file["head_revision_id"],
    }
    if file["is_shortcut"]:
        target = {"targetId": file["shortcut_target_id"], "targetMimeType": file["shortcut_target_mime"]}
        item["shortcutDetails"] = target
    if wanted := parts(include_labels):
        item["labelInfo"] = {"labels": [one for one in label_items(records, file["id"]) if one["id"] in wanted]}
    return item


def _stored_or(stored: Any, computed: bool) -> bool:
    """Seeds store what is true of their first user; where they say nothing it follows from who did what."""
    return computed if stored is None else bool(stored)


def _owners(access: Access, file: Row, permissions: list[Row]) -> list[dict[str, Any]]:
    ids = [row["user_id"] for row in permissions if row["role"] == "owner"] or [file["created_by"]]
    return [owner for user_id in ids if (owner := access.person(user_id)) is not None]


def label_items(records: Records, file_id: str) -> list[dict[str, Any]]:
    found = []
    for row in records.find("file_labels", {"file_id": file_id}, order="created_time, rowid"):
        label = records.first("labels", {"id": row["label_id"]})
        found.append(label_item(label, row))
    return found


# How a field's value is named in replies, by the kind of label.
_VALUES = {
    "enum": ("selection", "value_enum"),
    "number": ("integer", "value_number"),
    "date": ("dateString", "value_date"),
    "boolean": ("boolean", "value_boolean"),
    "user": ("user", "value_string"),
}


def label_item(label: Row | None, row: Row) -> dict[str, Any]:
    kind = label["type"] if label else "string"
    name, column = _VALUES.get(kind, ("text", "value_string"))
    value = row[column]
    if kind == "boolean" and value is not None:
        value = bool(value)
    field = {"kind": "drive#labelField", "valueType": name, name: [] if value is None else [value]}
    key = label["key"] if label else row["label_id"]
    return {
        "kind": "drive#label",
        "id": row["label_id"],
        "name": label["name"] if label else None,
        "fields": {key: {"id": key, **field}},
    }
