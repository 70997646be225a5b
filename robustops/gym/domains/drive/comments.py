"""Comments on files, and replies to them. Deleted ones stay and are hidden."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from robustops.gym.domains.drive.access import Access, known_file
from robustops.gym.domains.drive.changes import log_change
from robustops.gym.domains.drive.wire import flag, listing, new_id, page, shown_time, stored_time, user_item
from robustops.gym.operations.kind import ToolFailure
from robustops.gym.operations.records import Records, Row, reading, writing


def _html(content: str) -> str:
    return f"<p>{content}</p>"


def _shown(row: Row) -> dict[str, Any]:
    """What a comment and a reply have in common; of a deleted one nothing of what it said."""
    if row["deleted"]:
        return {"deleted": True}
    return {"content": row["content"], "htmlContent": row["html_content"], "deleted": False}


def _times(row: Row) -> dict[str, Any]:
    return {"createdTime": shown_time(row["created_time"]), "modifiedTime": shown_time(row["modified_time"])}


def _comment_item(records: Records, comment: Row, *, has_deleted: bool = False) -> dict[str, Any]:
    item = {
        "kind": "drive#comment",
        "id": comment["id"],
        **_shown(comment),
        "author": user_item(records, comment["author_id"]),
        "resolved": flag(comment["resolved"]),
        "anchor": comment["anchor"],
        **_times(comment),
    }
    if comment["quoted_file_content_value"] is not None:
        kind = comment["quoted_file_content_mime_type"]
        item["quotedFileContent"] = {"mimeType": kind, "value": comment["quoted_file_content_value"]}
    item["replies"] = [_reply_item(records, row) for row in _replies(records, comment, has_deleted=has_deleted)]
    return item


def _reply_item(records: Records, reply: Row) -> dict[str, Any]:
    head = {"kind": "drive#reply", "id": reply["id"], **_shown(reply)}
    return {**head, "author": user_item(records, reply["author_id"]), "action": reply["action"], **_times(reply)}


def _replies(records: Records, comment: Row, *, has_deleted: bool) -> list[Row]:
    where = {"comment_id": comment["id"]} if has_deleted else {"comment_id": comment["id"], "deleted": 0}
    return records.find("replies", where, order="created_time, rowid")


def _known_comment(records: Records, arguments: Mapping[str, Any], *, role: str = "reader") -> tuple[Row, Row]:
    """The file and its comment. Raises ToolFailure."""
    file = known_file(records, arguments["fileId"], role)
    comment = records.first("comments", {"id": arguments["commentId"], "file_id": file["id"]})
    if comment is None or (comment["deleted"] and not arguments.get("includeDeleted")):
        raise ToolFailure(f"Comment not found: {arguments['commentId']}")
    return file, comment


def _known_reply(records: Records, arguments: Mapping[str, Any]) -> tuple[Row, Row]:
    file, comment = _known_comment(records, arguments)
    reply = records.first("replies", {"id": arguments["replyId"], "comment_id": comment["id"]})
    if reply is None or (reply["deleted"] and not arguments.get("includeDeleted")):
        raise ToolFailure(f"Reply not found: {arguments['replyId']}")
    return file, reply


def _require_author(records: Records, row: Row, noun: str, *, or_owner_of: Row | None = None) -> None:
    is_author = row["author_id"] == records.caller["id"]
    if is_author:
        return
    if or_owner_of is None:
        raise ToolFailure(f"Only the author can change this {noun}: {row['id']}")
    Access(records).require_file(or_owner_of, "owner")


def _get_comment(records: Records, arguments: Mapping[str, Any]) -> Any:
    _, comment = _known_comment(records, arguments)
    return _comment_item(records, comment, has_deleted=bool(arguments.get("includeDeleted")))


def _list_comments(records: Records, arguments: Mapping[str, Any]) -> Any:
    file = known_file(records, arguments["fileId"])
    has_deleted = bool(arguments.get("includeDeleted"))
    rows = records.find("comments", {"file_id": file["id"]}, order="created_time, rowid")
    rows = [row for row in rows if has_deleted or not row["deleted"]]
    if "startModifiedTime" in arguments:
        since = stored_time("startModifiedTime", arguments["startModifiedTime"])
        rows = [row for row in rows if (row["modified_time"] or "") > since]
    shown, following = page(rows, arguments.get("pageToken"), arguments.get("pageSize", 100))
    items = [_comment_item(records, row, has_deleted=has_deleted) for row in shown]
    return listing("drive#commentList", "comments", items, following)


def _create_comment(records: Records, arguments: Mapping[str, Any]) -> Any:
    file = known_file(records, arguments["fileId"], "commenter")
    text = arguments["content"]
    values = {"content": text, "html_content": _html(text), "anchor": arguments.get("anchor")}
    who = {"file_id": file["id"], "author_id": records.caller["id"]}
    comment = records.add("comments", {"id": new_id(records), **who, **values})
    log_change(records, "comment_created", file=file)
    return _comment_item(records, comment)


def _update_comment(records: Records, arguments: Mapping[str, Any]) -> Any:
    file, comment = _known_comment(records, arguments)
    _require_author(records, comment, "comment")
    values = {name: arguments[name] for name in ("content", "anchor") if name in arguments}
    if not values:
        raise ToolFailure("No fields to update")
    if "content" in values:
        values["html_content"] = _html(values["content"])
    records.change("comments", {"id": comment["id"]}, {**values, "modified_time": records.now})
    log_change(records, "comment_updated", file=file)
    return _comment_item(records, records.find("comments", {"id": comment["id"]})[0])


def _delete_comment(records: Records, arguments: Mapping[str, Any]) -> Any:
    file, comment = _known_comment(records, arguments)
    _require_author(records, comment, "comment", or_owner_of=file)
    gone = {"deleted": 1, "modified_time": records.now}
    records.change("comments", {"id": comment["id"]}, gone)
    records.change("replies", {"comment_id": comment["id"], "deleted": 0}, gone)
    log_change(records, "comment_deleted", file=file)


def _get_reply(records: Records, arguments: Mapping[str, Any]) -> Any:
    return _reply_item(records, _known_reply(records, arguments)[1])


def _list_replies(records: Records, arguments: Mapping[str, Any]) -> Any:
    _, comment = _known_comment(records, arguments)
    rows = _replies(records, comment, has_deleted=bool(arguments.get("includeDeleted")))
    shown, following = page(rows, arguments.get("pageToken"), arguments.get("pageSize", 10))
    return listing("drive#replyList", "replies", [_reply_item(records, row) for row in shown], following)


def _create_reply(records: Records, arguments: Mapping[str, Any]) -> Any:
    file, comment = _known_comment(records, arguments, role="commenter")
    text = arguments["content"]
    who = {"comment_id": comment["id"], "author_id": records.caller["id"]}
    reply = records.add("replies", {"id": new_id(records), **who, "content": text, "html_content": _html(text)})
    records.change("comments", {"id": comment["id"]}, {"modified_time": records.now})
    log_change(records, "reply_created", file=file)
    return _reply_item(records, reply)


def _update_reply(records: Records, arguments: Mapping[str, Any]) -> Any:
    file, reply = _known_reply(records, arguments)
    _require_author(records, reply, "reply")
    text = arguments["content"]
    values = {"content": text, "html_content": _html(text), "modified_time": records.now}
    records.change("replies", {"id": reply["id"]}, values)
    log_change(records, "reply_updated", file=file)
    return _reply_item(records, records.find("replies", {"id": reply["id"]})[0])


def _delete_reply(records: Records, arguments: Mapping[str, Any]) -> Any:
    file, reply = _known_reply(records, arguments)
    _require_author(records, reply, "reply", or_owner_of=file)
    records.change("replies", {"id": reply["id"]}, {"deleted": 1, "modified_time": records.now})
    log_change(records, "reply_deleted", file=file)


KINDS = {
    "get_comments": reading(_get_comment),
    "list_comments": reading(_list_comments),
    "create_comments": writing(_create_comment),
    "update_comments": writing(_update_comment),
    "delete_comments": writing(_delete_comment),
    "get_replies": reading(_get_reply),
    "list_replies": reading(_list_replies),
    "create_replies": writing(_create_reply),
    "update_replies": writing(_update_reply),
    "delete_replies": writing(_delete_reply),
}
