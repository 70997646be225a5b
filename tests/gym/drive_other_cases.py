"""One success and one refusal of the tools on shared drives, changes, channels, operations and apps."""

from __future__ import annotations

from small_drive import NOW, PDF, logged, ulid
from tool_cases import Refused, Success

DONE = "Operation completed successfully"
WATCH = {
    "fileId": "f-plan",
    "id": "ch-2",
    "address": "https://hook",
    "resourceId": "res-2",
    "resourceUri": "https://files/f-plan",
}


def made(name, **more):
    """The rows of a new shared drive, of which the caller is the organiser."""
    return {
        "drives": {ulid(0): {"name": name, "hidden": 0, "created_time": NOW, **more}},
        "drive_memberships": {
            ulid(1): {"drive_id": ulid(0), "type": "user", "user_id": "ada", "role": "organizer"},
        },
        **logged(2, "drive_created", drive=ulid(0)),
    }


def changed(drive, **values):
    return {
        "drives": {drive: {**values, "modified_time": NOW}},
        **logged(0, "drive_updated", drive=drive),
    }


def deleted(drive, membership):
    return {
        "drives": {drive: None},
        "drive_memberships": {membership: None},
        **logged(0, "drive_deleted", drive=drive, removed=1),
    }


SUCCESSES = {
    "get_drive": Success(
        arguments={"driveId": "d-1"},
        reply={
            "kind": "drive#drive",
            "id": "d-1",
            "name": "Sales",
            "colorRgb": "#112233",
            "hidden": False,
            "restrictions": {"domainUsersOnly": False, "downloadRestriction": {"restrictedForReaders": False}},
        },
    ),
    "hide_drives": Success(
        arguments={"driveId": "d-1"}, reply={"id": "d-1", "hidden": True}, changes=changed("d-1", hidden=1)
    ),
    "unhide_drives": Success(
        arguments={"driveId": "d-4"},
        reply={"id": "d-4", "hidden": False},
        changes=changed("d-4", hidden=0),
    ),
    "create_drive": Success(
        arguments={"requestId": "req-1", "name": "Legal", "colorRgb": "#00ff00"},
        reply={"kind": "drive#drive", "id": ulid(0), "name": "Legal", "colorRgb": "#00ff00"},
        changes=made("Legal", color_rgb="#00ff00"),
    ),
    "delete_drive": Success(arguments={"driveId": "d-4"}, reply=DONE, changes=deleted("d-4", "dm-4")),
    "list_drives": Success(
        arguments={"q": "hidden = false and name contains 's'"},
        reply={"kind": "drive#driveList", "drives": [{"id": "d-1", "name": "Sales"}]},
    ),
    "update_drives": Success(
        arguments={
            "driveId": "d-1",
            "name": "Market",
            "restrictions": {"domainUsersOnly": True},
            "downloadRestrictedForReaders": True,
        },
        reply={"name": "Market", "restrictions": {"domainUsersOnly": True, "driveMembersOnly": False}},
        changes=changed("d-1", name="Market", domain_users_only=1, download_restricted_for_readers=1),
    ),
    "get_teamdrives": Success(
        arguments={"teamDriveId": "d-2"}, reply={"kind": "drive#teamDrive", "id": "d-2", "hidden": True}
    ),
    "list_teamdrives": Success(
        arguments={"q": "EMP"}, reply={"kind": "drive#teamDriveList", "teamDrives": [{"id": "d-4", "name": "Empty"}]}
    ),
    "create_teamdrives": Success(
        arguments={"requestId": "req-1", "name": "Legal", "backgroundImageLink": "https://image"},
        reply={"kind": "drive#teamDrive", "id": ulid(0), "backgroundImageLink": "https://image"},
        changes=made("Legal", background_image_link="https://image"),
    ),
    "update_teamdrive": Success(
        arguments={"team_drive_id": "d-4", "name": "Full", "color_rgb": "#abcdef"},
        reply={"id": "d-4", "name": "Full", "colorRgb": "#abcdef"},
        changes=changed("d-4", name="Full", color_rgb="#abcdef"),
    ),
    "delete_teamdrives": Success(arguments={"teamDriveId": "d-4"}, reply=DONE, changes=deleted("d-4", "dm-4")),
    "get_changes_start_page_token": Success(
        arguments={"driveId": "d-1"}, reply={"kind": "drive#startPageToken", "startPageToken": "01B"}
    ),
    "list_changes": Success(
        arguments={"pageToken": "01A", "includeRemoved": True},
        reply={
            "kind": "drive#changeList",
            "newStartPageToken": "01C",
            "changes": [
                {"fileId": "f-sheet", "driveId": "d-1", "removed": False, "file": {"name": "Sheet"}},
                {"fileId": "f-lost", "removed": True, "file": None},
            ],
        },
    ),
    "watch_files": Success(
        arguments={**WATCH, "expiration": "2026-06-02T00:00:00Z", "params": {"a": "b"}},
        reply={"kind": "api#channel", "id": "ch-2", "resourceId": "res-2", "expiration": "1780358400000"},
        changes={
            "channels": {
                "ch-2": {"resource_id": "res-2", "address": "https://hook", "type": "web_hook", "active": 1}
                | {"user_id": "ada", "params": '{"a": "b"}', "expiration": "1780358400000"}
            }
        },
    ),
    "watch_changes": Success(
        arguments={"pageToken": "01C", "id": "ch-3", "address": "https://hook", "expiration": 1780358400000},
        reply={"id": "ch-3", "resourceId": ulid(0)},
        changes={"channels": {"ch-3": {"resource_id": ulid(0), "expiration": "1780358400000", "active": 1}}},
    ),
    "stop_channels": Success(
        arguments={"id": "ch-1", "resourceId": "res-1"}, reply=DONE, changes={"channels": {"ch-1": {"active": 0}}}
    ),
    "get_operations": Success(
        arguments={"name": "operations/op-000001"},
        reply={"name": "operations/op-000001", "done": False, "metadata": {"fileId": "f-plan"}},
    ),
    "get_about": Success(
        arguments={"fields": "user.displayName,storageQuota(limit,usage)"},
        reply={"user": {"displayName": "Ada Berg"}, "storageQuota": {"limit": "16106127360", "usage": "112"}},
    ),
    "get_app": Success(arguments={"appId": "app-1"}, reply={"id": "app-1", "name": "Viewer", "installed": True}),
    "list_apps": Success(
        arguments={"appFilterExtensions": ".ps,doc", "appFilterMimeTypes": "text/plain"},
        reply={"kind": "drive#appList", "items": [{"id": "app-1", "primaryMimeTypes": [PDF]}]},
    ),
}

NO_DRIVE = "Shared drive not found: d-3"
NOT_ORGANIZER = "does not have sufficient permissions for this shared drive: d-2"
REFUSALS = {
    "get_drive": Refused(arguments={"driveId": "d-3"}, text=NO_DRIVE),
    "hide_drives": Refused(arguments={"driveId": "d-2"}, text=NOT_ORGANIZER),
    "unhide_drives": Refused(arguments={"driveId": "d-2"}, text=NOT_ORGANIZER),
    "create_drive": Refused(arguments={"requestId": "req-1", "name": "X", "colorRgb": "green"}, text="colorRgb"),
    "delete_drive": Refused(
        arguments={"driveId": "d-1", "allowItemDeletion": True}, text="still contains untrashed items: d-1"
    ),
    "list_drives": Refused(arguments={"q": "owner = 'ada'"}, text="Invalid query"),
    "update_drives": Refused(
        arguments={"driveId": "d-1", "themeId": "sea", "colorRgb": "#000000"}, text="theme cannot be set together"
    ),
    "get_teamdrives": Refused(arguments={"teamDriveId": "d-3"}, text=NO_DRIVE),
    "list_teamdrives": Refused(arguments={"pageToken": "next"}, text="Invalid page token: next"),
    "create_teamdrives": Refused(arguments={"requestId": "req-1", "name": " "}, text="name cannot be empty"),
    "update_teamdrive": Refused(arguments={"team_drive_id": "d-1"}, text="No fields to update"),
    "delete_teamdrives": Refused(arguments={"teamDriveId": "d-2"}, text=NOT_ORGANIZER),
    "get_changes_start_page_token": Refused(arguments={"driveId": "d-3"}, text=NO_DRIVE),
    "list_changes": Refused(arguments={"pageToken": ""}, text="pageToken"),
    "watch_files": Refused(arguments={**WATCH, "id": "ch-1"}, text="Channel id not unique: ch-1"),
    "watch_changes": Refused(
        arguments={"pageToken": "01C", "id": "ch-3", "address": "https://hook", "driveId": "d-3"}, text=NO_DRIVE
    ),
    "stop_channels": Refused(arguments={"id": "ch-1", "resourceId": "res-9"}, text="Channel not found: ch-1"),
    "get_operations": Refused(arguments={"name": "operations/op-9"}, text="Operation not found: operations/op-9"),
    "get_about": Refused(arguments={"fields": "user(colour)"}, text="Invalid field selection"),
    "get_app": Refused(arguments={"appId": "app-9"}, text="App not found: app-9"),
    "list_apps": Refused(arguments={"appFilterExtensions": 7}, text="appFilterExtensions"),
}
