"""Shared drives, under their present and their older tool names."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from robustops.gym.domains.drive.access import Access, known_drive
from robustops.gym.domains.drive.changes import log_change
from robustops.gym.domains.drive.query import read_query
from robustops.gym.domains.drive.wire import flag, listing, new_id, page, shown_time
from robustops.gym.operations.kind import ToolFailure
from robustops.gym.operations.records import Records, Row, reading, writing

_RESTRICTIONS: Mapping[str, str] = {
    "adminManagedRestrictions": "admin_managed_restrictions",
    "copyRequiresWriterPermission": "copy_requires_writer_permission",
    "domainUsersOnly": "domain_users_only",
    "driveMembersOnly": "drive_members_only",
}
_UPDATES: Mapping[str, str] = {
    "name": "name",
    "colorRgb": "color_rgb",
    "themeId": "theme_id",
    "hidden": "hidden",
    "sharingFoldersRequiresOrganizerPermission": "sharing_folders_requires_organizer_permission",
    "downloadRestrictedForReaders": "download_restricted_for_readers",
    "downloadRestrictedForWriters": "download_restricted_for_writers",
}
_OLD_UPDATES: Mapping[str, str] = {"name": "name", "color_rgb": "color_rgb", "theme_id": "theme_id"}
_TERMS = frozenset(("name", "hidden", "createdTime", "memberCount", "organizerCount"))


def _item(drive: Row, kind: str = "drive#drive") -> dict[str, Any]:
    return {
        "kind": kind,
        "id": drive["id"],
        "name": drive["name"],
        "colorRgb": drive["color_rgb"],
        "themeId": drive["theme_id"],
        "backgroundImageLink": drive["background_image_link"],
        "hidden": flag(drive["hidden"]),
        "createdTime": shown_time(drive["created_time"]),
        "orgUnitId": drive["org_unit_id"],
        "restrictions": {
            **{name: flag(drive[column]) for name, column in _RESTRICTIONS.items()},
            "sharingFoldersRequiresOrganizerPermission": flag(drive["sharing_folders_requires_organizer_permission"]),
            "downloadRestriction": {
                "restrictedForReaders": flag(drive["download_restricted_for_readers"]),
                "restrictedForWriters": flag(drive["download_restricted_for_writers"]),
            },
        },
    }


def _stored(records: Records, drive: Row) -> Row:
    return records.find("drives", {"id": drive["id"]})[0]


def _value(records: Records, drive: Row, name: str) -> Any:
    """What a term of the search language asks a shared drive for."""
    match name:
        case "hidden":
            return bool(drive["hidden"])
        case "createdTime":
            return drive["created_time"]
        case "memberCount":
            return records.count("drive_memberships", {"drive_id": drive["id"]})
        case "organizerCount":
            return records.count("drive_memberships", {"drive_id": drive["id"], "role": "organizer"})
    return drive["name"]


def _visible(records: Records, *, is_admin: bool) -> list[Row]:
    access = Access(records)
    drives = records.find("drives", order="name, rowid")
    return [drive for drive in drives if is_admin or access.on_drive(drive["id"])]


def _list(records: Records, arguments: Mapping[str, Any]) -> Any:
    drives = _visible(records, is_admin=bool(arguments.get("useDomainAdminAccess")))
    if (text := arguments.get("q", "")).strip():
        condition = read_query(text, _TERMS)
        drives = [drive for drive in drives if condition(partial(_value, records, drive))]
    shown, following = page(drives, arguments.get("pageToken"), arguments.get("pageSize", 100))
    return listing("drive#driveList", "drives", [_item(drive) for drive in shown], following)


def _list_old(records: Records, arguments: Mapping[str, Any]) -> Any:
    """The query is a part of the name, nothing more."""
    size = arguments.get("pageSize", 10)
    if size < 1:
        raise ToolFailure(f"Invalid value for pageSize: {size}")
    part = arguments.get("q", "").lower()
    drives = [drive for drive in _visible(records, is_admin=False) if part in drive["name"].lower()]
    shown, following = page(drives, arguments.get("pageToken"), size)
    items = [_item(drive, "drive#teamDrive") for drive in shown]
    return listing("drive#teamDriveList", "teamDrives", items, following)


def _get(records: Records, arguments: Mapping[str, Any]) -> Any:
    return _item(known_drive(records, arguments["driveId"], is_admin=bool(arguments.get("useDomainAdminAccess"))))


def _get_old(records: Records, arguments: Mapping[str, Any]) -> Any:
    return _item(known_drive(records, arguments["teamDriveId"]), "drive#teamDrive")


def _make(records: Records, arguments: Mapping[str, Any]) -> Row:
    """The same request again makes no second drive."""
    if known := records.first("drives", {"request_id": arguments["requestId"]}):
        return known
    if not arguments["name"].strip():
        raise ToolFailure("name cannot be empty")
    drive = records.add(
        "drives",
        {
            "id": new_id(records),
            "name": arguments["name"],
            "color_rgb": arguments.get("colorRgb"),
            "theme_id": arguments.get("themeId"),
            "background_image_link": arguments.get("backgroundImageLink"),
            "hidden": arguments.get("hidden", False),
            "request_id": arguments["requestId"],
        },
    )
    member = {"drive_id": drive["id"], "type": "user", "user_id": records.caller["id"], "role": "organizer"}
    records.add("drive_memberships", {"id": new_id(records), **member})
    log_change(records, "drive_created", drive_id=drive["id"])
    return drive


def _create(records: Records, arguments: Mapping[str, Any]) -> Any:
    return _item(_make(records, arguments))


def _create_old(records: Records, arguments: Mapping[str, Any]) -> Any:
    return _item(_make(records, arguments), "drive#teamDrive")


def _set(records: Records, drive: Row, values: Mapping[str, Any]) -> Row:
    """Raises ToolFailure where there is nothing to set, or a theme beside the colour that it brings."""
    if not values:
        raise ToolFailure("No fields to update")
    if "theme_id" in values and values.keys() & {"color_rgb", "background_image_link"}:
        raise ToolFailure("A theme cannot be set together with a colour or a background image")
    records.change("drives", {"id": drive["id"]}, {**values, "modified_time": records.now})
    log_change(records, "drive_updated", drive_id=drive["id"])
    return _stored(records, drive)


def _background(image: Mapping[str, Any] | None) -> dict[str, Any]:
    return {} if image is None else {"background_image_link": f"https://drive.google.com/uc?id={image['id']}"}


def _update(records: Records, arguments: Mapping[str, Any]) -> Any:
    is_admin = bool(arguments.get("useDomainAdminAccess"))
    drive = known_drive(records, arguments["driveId"], "organizer", is_admin=is_admin)
    values = {column: arguments[name] for name, column in _UPDATES.items() if name in arguments}
    restrictions = arguments.get("restrictions") or {}
    values |= {column: restrictions[name] for name, column in _RESTRICTIONS.items() if name in restrictions}
    values |= _background(arguments.get("backgroundImageFile"))
    return _item(_set(records, drive, values))


def _update_old(records: Records, arguments: Mapping[str, Any]) -> Any:
    is_admin = bool(arguments.get("use_domain_admin_access"))
    drive = known_drive(records, arguments["team_drive_id"], "organizer", is_admin=is_admin)
    values = {column: arguments[name] for name, column in _OLD_UPDATES.items() if name in arguments}
    values |= _background(arguments.get("background_image_file"))
    return _item(_set(records, drive, values), "drive#teamDrive")


def _hide(records: Records, arguments: Mapping[str, Any]) -> Any:
    return _item(_set(records, known_drive(records, arguments["driveId"], "organizer"), {"hidden": 1}))


def _unhide(records: Records, arguments: Mapping[str, Any]) -> Any:
    return _item(_set(records, known_drive(records, arguments["driveId"], "organizer"), {"hidden": 0}))


def _remove(records: Records, drive: Row, *, with_items: bool) -> None:
    """Raises ToolFailure while the drive holds files outside the trash, unless they may go too."""
    place = {"drive_id": drive["id"]}
    if records.count("files", {**place, "trashed": 0}) and not with_items:
        raise ToolFailure(f"The shared drive still contains untrashed items: {drive['id']}")
    for file in records.find("files", place):
        records.remove("permissions", {"file_id": file["id"]})
        records.remove("path_closure", {"descendant_id": file["id"]})
    for table in ("files", "permissions", "drive_memberships"):
        records.remove(table, place)
    records.remove("drives", {"id": drive["id"]})
    log_change(records, "drive_deleted", drive_id=drive["id"], is_removed=True)


def _delete(records: Records, arguments: Mapping[str, Any]) -> Any:
    is_admin = bool(arguments.get("useDomainAdminAccess"))
    drive = known_drive(records, arguments["driveId"], "organizer", is_admin=is_admin)
    _remove(records, drive, with_items=is_admin and bool(arguments.get("allowItemDeletion")))


def _delete_old(records: Records, arguments: Mapping[str, Any]) -> Any:
    _remove(records, known_drive(records, arguments["teamDriveId"], "organizer"), with_items=False)


KINDS = {
    "get_drive": reading(_get),
    "list_drives": reading(_list),
    "create_drive": writing(_create),
    "update_drives": writing(_update),
    "hide_drives": writing(_hide),
    "unhide_drives": writing(_unhide),
    "delete_drive": writing(_delete),
    "get_teamdrives": reading(_get_old),
    "list_teamdrives": reading(_list_old),
    "create_teamdrives": writing(_create_old),
    "update_teamdrive": writing(_update_old),
    "delete_teamdrives": writing(_delete_old),
}
