"""One success and one refusal of the tools on files, labels and revisions."""

from __future__ import annotations

from small_drive import DOC, NOW, PDF, SHOWN, logged, ulid
from tool_cases import Refused, Success

DONE = "Operation completed successfully"
ADA = {"kind": "drive#user", "displayName": "Ada Berg", "me": True, "emailAddress": "ada@nord.example"}
ADA_ALL = {**ADA, "photoLink": None, "permissionId": "perm_ada"}
NEW_FILE = {
    "drive_id": None,
    "parent_id": "f-docs",
    "parent_ids": '["f-docs"]',
    "created_by": "ada",
    "modified_by": "ada",
    "version": 1,
    "trashed": 0,
}
OWNER = {"role": "owner", "type": "user", "user_id": "ada", "email_address": "ada@nord.example"}


def closure(file_id, *ancestors):
    """Rows of the closure as their values in order: the table has no key."""
    pairs = [(file_id, file_id, 0), *((folder, file_id, depth) for depth, folder in enumerate(ancestors, start=1))]
    return {row: {"ancestor_id": row[0]} for row in pairs}


def gone(*rows):
    return dict.fromkeys(rows)


SUCCESSES = {
    "get_files": Success(
        arguments={"fileId": "f-note", "includeLabels": "l-2"},
        reply={
            "kind": "drive#file",
            "id": "f-note",
            "name": "Notes",
            "mimeType": DOC,
            "starred": True,
            "trashed": False,
            "parents": [],
            "modifiedTime": "2026-05-04T08:00:00Z",
            "owners": [ADA_ALL],
            "ownedByMe": True,
            "modifiedByMe": False,
            "permissionIds": ["p-own", "p-ben"],
            "labelInfo": {
                "labels": [{"id": "l-2", "fields": {"pages": {"valueType": "integer", "integer": [12.0]}}}],
            },
        },
    ),
    "list_files": Success(
        arguments={"q": "name contains 'plan' and not starred = true", "orderBy": "name_natural", "pageSize": 1},
        reply={
            "kind": "drive#fileList",
            "incompleteSearch": False,
            "nextPageToken": "1",
            "files": [{"id": "f-ben", "name": "Plan 9.pdf"}],
        },
    ),
    "create_file": Success(
        arguments={
            "name": "New.pdf",
            "mimeType": PDF,
            "parents": ["f-docs"],
            "properties": {"a": "1"},
            "createdTime": "2026-04-01T10:00:00+02:00",
            "permissions": [{"role": "reader", "type": "user", "emailAddress": "ben@nord.example"}],
        },
        reply={
            "id": ulid(0),
            "name": "New.pdf",
            "parents": ["f-docs"],
            "createdTime": "2026-04-01T08:00:00Z",
            "modifiedTime": SHOWN,
            "properties": {"a": "1"},
            "fileExtension": "pdf",
            "webViewLink": f"https://drive.google.com/file/d/{ulid(0)}/view",
            "shared": True,
            "owners": [ADA_ALL],
            "permissionIds": [ulid(1), ulid(2)],
        },
        changes={
            "files": {
                ulid(0): {**NEW_FILE, "name": "New.pdf", "mime_type": PDF, "properties": '{"a": "1"}', "shared": 1}
                | {"created_time": "2026-04-01 08:00:00", "modified_time": NOW}
            },
            "permissions": {
                ulid(1): {"file_id": ulid(0), **OWNER},
                ulid(2): {"file_id": ulid(0), "role": "reader", "user_id": "ben", "email_address": "ben@nord.example"},
            },
            "path_closure": closure(ulid(0), "f-docs"),
            **logged(3, "file_created", file=ulid(0)),
        },
    ),
    "copy_files": Success(
        arguments={"fileId": "f-ben", "parents": ["f-docs"], "name": "Plan of Ben.pdf"},
        reply={"id": ulid(0), "name": "Plan of Ben.pdf", "parents": ["f-docs"], "size": 50, "trashed": False},
        changes={
            "files": {ulid(0): {**NEW_FILE, "name": "Plan of Ben.pdf", "size_bytes": 50, "shared": 0, "starred": 0}},
            "permissions": {ulid(1): {"file_id": ulid(0), **OWNER}},
            "path_closure": closure(ulid(0), "f-docs"),
            **logged(2, "file_created", file=ulid(0)),
        },
    ),
    "update_files": Success(
        arguments={"fileId": "f-plan", "addParents": "f-team", "removeParents": "f-docs", "description": "Moved"},
        reply={"id": "f-plan", "parents": ["f-team"], "driveId": "d-1", "description": "Moved", "version": 4},
        changes={
            "files": {
                "f-plan": {"parent_ids": '["f-team"]', "parent_id": "f-team", "drive_id": "d-1", "description": "Moved"}
                | {"modified_time": NOW, "version": 4}
            },
            "path_closure": {**gone(("f-docs", "f-plan", 1)), ("f-team", "f-plan", 1): {"depth": 1}},
            **logged(0, "file_updated", file="f-plan", drive="d-1"),
        },
    ),
    "delete_files": Success(
        arguments={"fileId": "f-note"},
        reply=DONE,
        changes={
            "files": gone("f-note"),
            "permissions": gone("p-own", "p-ben"),
            "comments": gone("c-1", "c-2", "c-3"),
            "replies": gone("r-1", "r-2", "r-3"),
            "revisions": gone("rev-3"),
            "file_labels": gone("fl-1", "fl-2"),
            **logged(0, "file_deleted", file="f-note", removed=1),
        },
    ),
    "empty_files_trash": Success(
        arguments={},
        reply=DONE,
        changes={
            "files": gone("f-bin", "f-inbin"),
            "changes": {
                ulid(0): {"file_id": "f-inbin", "change_type": "file_deleted", "removed": 1},
                ulid(1): {"file_id": "f-bin", "change_type": "file_deleted", "removed": 1},
            },
            "change_tokens": {"global": {"last_token": ulid(1)}, "user:ada": {"last_token": ulid(1)}},
            "trash_log": {ulid(2): {"file_id": "f-bin", "emptied_time": NOW, "actor_id": "ada"}},
        },
    ),
    "generate_files_Ids": Success(
        arguments={"count": 2},
        reply={"kind": "drive#generatedIds", "space": "drive", "ids": [ulid(0), ulid(1)]},
        changes={"id_pool": {ulid(0): {"reserved": 0}, ulid(1): {"reserved": 0}}},
    ),
    "export_files": Success(
        arguments={"fileId": "f-note", "mimeType": PDF},
        reply={"name": f"operations/{ulid(0)}", "done": True, "metadata": {"fileId": "f-note", "mimeType": PDF}},
        changes={
            "operations": {ulid(0): {"operation_type": "export", "status": "done", "name": f"operations/{ulid(0)}"}}
        },
    ),
    "download_files": Success(
        arguments={"fileId": "f-plan", "revisionId": "rev-1"},
        reply={"done": True, "metadata": {"fileId": "f-plan", "mimeType": PDF, "revisionId": "rev-1"}},
        changes={"operations": {ulid(0): {"operation_type": "download", "completed_at": NOW}}},
    ),
    "list_files_labels": Success(
        arguments={"fileId": "f-note", "maxResults": 1},
        reply={
            "kind": "drive#labelList",
            "nextPageToken": "1",
            "labels": [{"id": "l-1", "name": "Level", "fields": {"level": {"selection": ["public"]}}}],
        },
    ),
    "modify_files_labels": Success(
        arguments={
            "fileId": "f-note",
            "labelModifications": [
                {"labelId": "l-1", "fieldModifications": [{"fieldId": "any", "setSelectionValues": ["internal"]}]},
                {"labelId": "l-2", "removeLabel": True},
            ],
        },
        reply={
            "kind": "drive#modifyLabelsResponse",
            "modifiedLabels": [{"id": "l-1", "fields": {"level": {"selection": ["internal"]}}}],
        },
        changes={
            "file_labels": {"fl-1": {"value_enum": "internal"}, "fl-2": None},
            **logged(0, "labels_modified", file="f-note"),
        },
    ),
    "list_revisions": Success(
        arguments={"fileId": "f-plan"},
        reply={"kind": "drive#revisionList", "revisions": [{"id": "rev-1"}, {"id": "rev-2", "published": False}]},
    ),
    "get_revisions": Success(
        arguments={"fileId": "f-plan", "revisionId": "rev-1"},
        reply={"kind": "drive#revision", "id": "rev-1", "published": True, "size": 90, "keepForever": False}
        | {"exportLinks": {"text/plain": "https://x"}, "lastModifyingUser": {"displayName": "Ben Costa", "me": False}},
    ),
    "update_revisions": Success(
        arguments={"fileId": "f-plan", "revisionId": "rev-2", "keepForever": True},
        reply={"id": "rev-2", "keepForever": True, "modifiedTime": SHOWN},
        changes={
            "revisions": {"rev-2": {"keep_forever": 1, "modified_time": NOW}},
            **logged(0, "revision_updated", file="f-plan"),
        },
    ),
    "delete_revisions": Success(
        arguments={"fileId": "f-plan", "revisionId": "rev-2"},
        reply=DONE,
        changes={"revisions": {"rev-2": {"deleted": 1}}, **logged(0, "revision_deleted", file="f-plan")},
    ),
}

UNSEEN = "File not found: f-secret"
LABEL = {"fieldId": "x", "setSelectionValues": ["secret"]}
REFUSALS = {
    "get_files": Refused(arguments={"fileId": "f-secret"}, text=UNSEEN),
    "list_files": Refused(arguments={"q": "colour = 'red'"}, text="Invalid query: colour = 'red'"),
    "create_file": Refused(
        arguments={"name": "X", "mimeType": PDF, "parents": ["f-docs", "f-bin"]}, text="only have one parent"
    ),
    "copy_files": Refused(arguments={"fileId": "f-docs"}, text="Folders cannot be copied"),
    "update_files": Refused(arguments={"fileId": "f-ben", "name": "Mine"}, text="does not have sufficient permissions"),
    "delete_files": Refused(arguments={"fileId": "f-ben"}, text="does not have sufficient permissions"),
    "empty_files_trash": Refused(arguments={"driveId": "d-2"}, text="does not have sufficient permissions"),
    "generate_files_Ids": Refused(arguments={"count": 1001}, text="Invalid value for count: 1001"),
    "export_files": Refused(arguments={"fileId": "f-plan", "mimeType": PDF}, text="only supports Workspace documents"),
    "download_files": Refused(arguments={"fileId": "f-plan", "revisionId": "rev-3"}, text="Revision not found: rev-3"),
    "list_files_labels": Refused(arguments={"fileId": "f-secret"}, text=UNSEEN),
    "modify_files_labels": Refused(
        arguments={"fileId": "f-note", "labelModifications": [{"labelId": "l-1", "fieldModifications": [LABEL]}]},
        text="expected one of internal, public",
    ),
    "list_revisions": Refused(arguments={"fileId": "f-plan", "pageToken": "next"}, text="Invalid page token"),
    "get_revisions": Refused(arguments={"fileId": "f-note", "revisionId": "rev-1"}, text="Revision not found: rev-1"),
    "update_revisions": Refused(arguments={"fileId": "f-plan", "revisionId": "rev-2"}, text="No fields to update"),
    "delete_revisions": Refused(arguments={"fileId": "f-note", "revisionId": "rev-3"}, text="only revision"),
}
