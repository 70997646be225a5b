"""One success and one refusal of the tools on permissions, requests for access, comments and replies."""

from __future__ import annotations

from small_drive import NOW, SHOWN, logged, ulid
from tool_cases import Refused, Success

DONE = "Operation completed successfully"
COMMENT = {"fileId": "f-note", "commentId": "c-1"}
REPLY = {**COMMENT, "replyId": "r-1"}
NOTE = {"fileId": "f-note"}
BEN = {"displayName": "Ben Costa", "me": False, "emailAddress": "ben@nord.example"}

SUCCESSES = {
    "create_permission": Success(
        arguments={"fileId": "f-plan", "role": "writer", "type": "user", "emailAddress": "ben@nord.example"},
        reply={"kind": "drive#permission", "id": ulid(0), "type": "user", "role": "writer", "displayName": "Ben Costa"}
        | {"emailAddress": "ben@nord.example", "allowFileDiscovery": False, "deleted": False},
        changes={
            "permissions": {
                ulid(0): {"file_id": "f-plan", "role": "writer", "type": "user", "user_id": "ben", "drive_id": None}
                | {"email_address": "ben@nord.example", "created_time": NOW}
            },
            "files": {"f-plan": {"shared": 1}},
            **logged(1, "perm_created", file="f-plan"),
        },
    ),
    "get_permission": Success(
        arguments={**NOTE, "permissionId": "p-ben"},
        reply={"id": "p-ben", "role": "reader", "displayName": "Ben Costa", "emailAddress": "ben@nord.example"},
    ),
    "list_permission": Success(
        arguments={"fileId": "f-plan"},
        reply={
            "kind": "drive#permissionList",
            "permissions": [
                {
                    "id": "p-up",
                    "role": "commenter",
                    "permissionDetails": [{"inherited": True, "inheritedFrom": "f-docs", "role": "commenter"}],
                }
            ],
        },
    ),
    "update_permission": Success(
        arguments={**NOTE, "permissionId": "p-ben", "role": "owner", "transferOwnership": True},
        reply={"id": "p-ben", "role": "owner"},
        changes={
            "permissions": {
                "p-ben": {"role": "owner", "updated_time": NOW},
                "p-own": {"role": "writer", "updated_time": NOW},
            },
            "files": {"f-note": {"created_by": "ben", "owned_by_me": 0}},
            **logged(0, "perm_updated", file="f-note"),
        },
    ),
    "delete_permission": Success(
        arguments={**NOTE, "permissionId": "p-ben"},
        reply=DONE,
        changes={
            "permissions": {"p-ben": None},
            "files": {"f-note": {"shared": 0}},
            **logged(0, "perm_deleted", file="f-note"),
        },
    ),
    "get_accessproposals": Success(
        arguments={**NOTE, "proposalId": "ap-1"},
        reply={
            "proposalId": "ap-1",
            "requesterEmailAddress": "cy@far.example",
            "rolesAndViews": [{"role": "reader", "view": None}],
            "status": "pending",
        },
    ),
    "list_accessproposals": Success(
        arguments={**NOTE, "pageToken": "1"}, reply={"accessProposals": [{"proposalId": "ap-2", "status": "denied"}]}
    ),
    "resolve_accessproposals": Success(
        arguments={**NOTE, "proposalId": "ap-1", "action": "ACCEPT", "role": ["reader", "commenter"]},
        reply=DONE,
        changes={
            "access_proposals": {
                "ap-1": {"status": "approved", "resolved_at": "2026-06-01T09:00:01.000Z"}
                | {"resolved_by_email": "ada@nord.example"}
            },
            "permissions": {ulid(0): {"file_id": "f-note", "role": "commenter", "user_id": "cy", "type": "user"}},
            **logged(1, "perm_created", file="f-note"),
        },
    ),
    "get_comments": Success(
        arguments=COMMENT,
        reply={
            "kind": "drive#comment",
            "id": "c-1",
            "content": "Mine",
            "htmlContent": "<p>Mine</p>",
            "author": {"displayName": "Ada Berg", "me": True},
            "resolved": False,
            "deleted": False,
            "replies": [{"id": "r-1", "content": "Yes"}, {"id": "r-2", "author": BEN}],
        },
    ),
    "list_comments": Success(
        arguments={**NOTE, "startModifiedTime": "2026-05-02T00:00:00Z", "includeDeleted": True},
        reply={
            "kind": "drive#commentList",
            "comments": [{"id": "c-2", "content": "His", "deleted": False}, {"id": "c-3", "deleted": True}],
        },
    ),
    "create_comments": Success(
        arguments={**NOTE, "content": "Look", "anchor": '{"r": 1}'},
        reply={"id": ulid(0), "content": "Look", "htmlContent": "<p>Look</p>", "anchor": '{"r": 1}', "replies": []},
        changes={
            "comments": {
                ulid(0): {"file_id": "f-note", "author_id": "ada", "content": "Look", "html_content": "<p>Look</p>"}
                | {"deleted": 0, "resolved": 0, "created_time": NOW}
            },
            **logged(1, "comment_created", file="f-note"),
        },
    ),
    "update_comments": Success(
        arguments={**COMMENT, "content": "Ours"},
        reply={"id": "c-1", "content": "Ours", "modifiedTime": SHOWN},
        changes={
            "comments": {"c-1": {"content": "Ours", "html_content": "<p>Ours</p>", "modified_time": NOW}},
            **logged(0, "comment_updated", file="f-note"),
        },
    ),
    "delete_comments": Success(
        arguments=COMMENT,
        reply=DONE,
        changes={
            "comments": {"c-1": {"deleted": 1, "modified_time": NOW}},
            "replies": {reply: {"deleted": 1, "modified_time": NOW} for reply in ("r-1", "r-2")},
            **logged(0, "comment_deleted", file="f-note"),
        },
    ),
    "get_replies": Success(
        arguments={**COMMENT, "replyId": "r-2"},
        reply={"kind": "drive#reply", "id": "r-2", "content": "No", "author": BEN, "deleted": False},
    ),
    "list_replies": Success(
        arguments={**COMMENT, "pageSize": 1},
        reply={"kind": "drive#replyList", "nextPageToken": "1", "replies": [{"id": "r-1", "content": "Yes"}]},
    ),
    "create_replies": Success(
        arguments={"fileId": "f-note", "commentId": "c-2", "content": "Done"},
        reply={"id": ulid(0), "content": "Done", "author": {"displayName": "Ada Berg"}},
        changes={
            "replies": {ulid(0): {"comment_id": "c-2", "author_id": "ada", "content": "Done", "deleted": 0}},
            "comments": {"c-2": {"modified_time": NOW}},
            **logged(1, "reply_created", file="f-note"),
        },
    ),
    "update_replies": Success(
        arguments={**REPLY, "content": "Yes!"},
        reply={"id": "r-1", "content": "Yes!", "htmlContent": "<p>Yes!</p>"},
        changes={
            "replies": {"r-1": {"content": "Yes!", "html_content": "<p>Yes!</p>", "modified_time": NOW}},
            **logged(0, "reply_updated", file="f-note"),
        },
    ),
    "delete_replies": Success(
        arguments={**COMMENT, "replyId": "r-2"},
        reply=DONE,
        changes={
            "replies": {"r-2": {"deleted": 1, "modified_time": NOW}},
            **logged(0, "reply_deleted", file="f-note"),
        },
    ),
}

READ_ONLY = "does not have sufficient permissions"
REFUSALS = {
    "create_permission": Refused(
        arguments={"fileId": "f-plan", "role": "owner", "type": "user", "emailAddress": "ben@nord.example"},
        text="transferOwnership must be true",
    ),
    "get_permission": Refused(arguments={**NOTE, "permissionId": "p-up"}, text="Permission not found: p-up"),
    "list_permission": Refused(arguments={"fileId": "d-3"}, text="Shared drive not found: d-3"),
    "update_permission": Refused(
        arguments={"fileId": "f-ben", "permissionId": "p-ada", "role": "writer"}, text=READ_ONLY
    ),
    "delete_permission": Refused(arguments={**NOTE, "permissionId": "p-own"}, text="owner cannot be deleted"),
    "get_accessproposals": Refused(arguments={**NOTE, "proposalId": "ap-9"}, text="Access proposal not found: ap-9"),
    "list_accessproposals": Refused(arguments={"fileId": "f-ben"}, text=READ_ONLY),
    "resolve_accessproposals": Refused(
        arguments={**NOTE, "proposalId": "ap-2", "action": "DENY"}, text="already denied"
    ),
    "get_comments": Refused(arguments={"fileId": "f-note", "commentId": "c-3"}, text="Comment not found: c-3"),
    "list_comments": Refused(
        arguments={**NOTE, "startModifiedTime": "soon"}, text="Invalid value for startModifiedTime"
    ),
    "create_comments": Refused(arguments={"fileId": "f-ben", "content": "X"}, text=READ_ONLY),
    "update_comments": Refused(
        arguments={"fileId": "f-note", "commentId": "c-2", "content": "X"}, text="Only the author"
    ),
    "delete_comments": Refused(arguments={"fileId": "f-ben", "commentId": "c-4"}, text=READ_ONLY),
    "get_replies": Refused(arguments={**COMMENT, "replyId": "r-3"}, text="Reply not found: r-3"),
    "list_replies": Refused(arguments={**COMMENT, "pageSize": 0}, text="pageSize"),
    "create_replies": Refused(arguments={**COMMENT, "content": ""}, text="content"),
    "update_replies": Refused(arguments={**COMMENT, "replyId": "r-2", "content": "X"}, text="Only the author"),
    "delete_replies": Refused(arguments={"fileId": "f-ben", "commentId": "c-4", "replyId": "r-4"}, text=READ_ONLY),
}
