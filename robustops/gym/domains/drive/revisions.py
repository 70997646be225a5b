"""Versions of a file. A deleted one stays and is hidden."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from robustops.gym.domains.drive.access import known_file
from robustops.gym.domains.drive.changes import log_change
from robustops.gym.domains.drive.wire import decoded, flag, listing, page, shown_time, user_item
from robustops.gym.operations.kind import ToolFailure
from robustops.gym.operations.records import Records, Row, reading, writing

_SETTINGS = {"keepForever": "keep_forever", "published": "published", "publishAuto": "publish_auto"}


def _item(records: Records, revision: Row) -> dict[str, Any]:
    return {
        "kind": "drive#revision",
        "id": revision["id"],
        "revisionNumber": revision["revision_number"],
        "mimeType": revision["mime_type"],
        "modifiedTime": shown_time(revision["modified_time"]),
        "keepForever": flag(revision["keep_forever"]),
        "published": flag(revision["published"]),
        "publishedLink": revision["published_link"],
        "publishAuto": flag(revision["publish_auto"]),
        "publishedOutsideDomain": flag(revision["published_outside_domain"]),
        "lastModifyingUser": user_item(records, revision["last_modifying_user_id"]),
        "originalFilename": revision["original_filename"],
        "md5Checksum": revision["md5_checksum"],
        "size": revision["size_bytes"],
        "exportLinks": decoded(revision["export_links"]),
    }


def _of(records: Records, file: Row) -> list[Row]:
    return records.find("revisions", {"file_id": file["id"], "deleted": 0}, order="revision_number, rowid")


def _known(records: Records, arguments: Mapping[str, Any], role: str = "reader") -> tuple[Row, Row]:
    """The file and its revision. Raises ToolFailure."""
    file = known_file(records, arguments["fileId"], role)
    revision = records.first("revisions", {"id": arguments["revisionId"], "file_id": file["id"], "deleted": 0})
    if revision is None:
        raise ToolFailure(f"Revision not found: {arguments['revisionId']}")
    return file, revision


def _list(records: Records, arguments: Mapping[str, Any]) -> Any:
    file = known_file(records, arguments["fileId"])
    shown, following = page(_of(records, file), arguments.get("pageToken"), arguments.get("pageSize", 10))
    return listing("drive#revisionList", "revisions", [_item(records, row) for row in shown], following)


def _get(records: Records, arguments: Mapping[str, Any]) -> Any:
    return _item(records, _known(records, arguments)[1])


def _update(records: Records, arguments: Mapping[str, Any]) -> Any:
    file, revision = _known(records, arguments, "writer")
    values = {column: arguments[name] for name, column in _SETTINGS.items() if name in arguments}
    if not values:
        raise ToolFailure("No fields to update")
    records.change("revisions", {"id": revision["id"]}, {**values, "modified_time": records.now})
    log_change(records, "revision_updated", file=file)
    return _item(records, records.find("revisions", {"id": revision["id"]})[0])


def _delete(records: Records, arguments: Mapping[str, Any]) -> Any:
    file, revision = _known(records, arguments, "writer")
    if revision["published"]:
        raise ToolFailure(f"Published revisions cannot be deleted: {revision['id']}")
    if len(_of(records, file)) == 1:
        raise ToolFailure(f"The only revision of a file cannot be deleted: {revision['id']}")
    records.change("revisions", {"id": revision["id"]}, {"deleted": 1})
    log_change(records, "revision_deleted", file=file)


KINDS = {
    "list_revisions": reading(_list),
    "get_revisions": reading(_get),
    "update_revisions": writing(_update),
    "delete_revisions": writing(_delete),
}
