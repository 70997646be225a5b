"""Messages: their form in replies, and the tools that chats and channels have alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from robustops.gym.domains.teams.wire import decoded, require_change, zulu
from robustops.gym.operations.kind import Kind, ToolFailure
from robustops.gym.operations.records import Records, Row, writing

Known = Callable[[Records, Mapping[str, Any]], Row]
USER_KIND = "aadUser"
# What an update may replace, and the columns of it.
_REPLACED: Mapping[str, str] = {
    "body": "body_json",
    "subject": "subject",
    "summary": "summary",
    "importance": "importance",
    "locale": "locale",
    "messageType": "message_type",
    "attachments": "attachments_json",
    "mentions": "mentions_json",
    "reactions": "reactions_json",
    "messageHistory": "message_history_json",
}


def _head(row: Row) -> dict[str, Any]:
    return {
        "id": row["message_id"],
        "replyToId": row["reply_to_id"],
        "etag": row["etag"],
        "messageType": row["message_type"],
        "createdDateTime": zulu(row["created_datetime"]),
        "lastModifiedDateTime": zulu(row["last_modified_datetime"]),
        "lastEditedDateTime": zulu(row["last_edited_datetime"]),
        "deletedDateTime": zulu(row["deleted_datetime"]),
        "subject": row["subject"],
        "summary": row["summary"],
        "chatId": row.get("chat_id"),
        "importance": row["importance"],
        "locale": row["locale"],
        "webUrl": row["web_url"],
    }


def _middle(row: Row) -> dict[str, Any]:
    return {
        "policyViolation": decoded(row["policy_violation_json"]),
        "eventDetail": decoded(row["event_detail_json"]),
        "from": decoded(row["from_json"]),
        "body": decoded(row["body_json"]),
    }


def _tail(row: Row) -> dict[str, Any]:
    return {
        "attachments": decoded(row["attachments_json"]) or [],
        "mentions": decoded(row["mentions_json"]) or [],
        "reactions": decoded(row["reactions_json"]) or [],
        "messageHistory": decoded(row["message_history_json"]) or [],
    }


def chat_message_item(row: Row) -> dict[str, Any]:
    return {**_head(row), "channelIdentity": decoded(row["channel_identity_json"]), **_middle(row), **_tail(row)}


def channel_message_item(row: Row) -> dict[str, Any]:
    place = {"teamId": row["team_id"], "channelId": row["channel_id"]}
    return {**_head(row), **_middle(row), "channelIdentity": place, **_tail(row)}


def sender(user_id: str, display_name: str) -> dict[str, Any]:
    user = {"id": user_id, "displayName": display_name, "userIdentityType": USER_KIND}
    return {"application": None, "device": None, "user": user}


def content_columns(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The columns that a sent message fills from its arguments."""
    body = arguments["body"]
    return {
        "subject": arguments.get("subject"),
        "importance": arguments.get("importance", "normal"),
        "body_json": {"contentType": body.get("contentType") or "text", "content": body["content"]},
        "attachments_json": arguments.get("attachments", []),
        "mentions_json": arguments.get("mentions", []),
        "reactions_json": [],
        "message_history_json": [],
    }


def epoch_ms(now: str) -> str:
    """The time as chats number their messages."""
    return str(int(datetime.fromisoformat(now).replace(tzinfo=UTC).timestamp() * 1000))


def message_tools(noun: str, table: str, known: Known) -> dict[str, Kind]:
    """By name, the tools that change a message; `known` finds the one that arguments name, or raises ToolFailure."""

    def update(records: Records, arguments: Mapping[str, Any]) -> None:
        _edit(records, table, known(records, arguments), arguments)

    def soft_delete(records: Records, arguments: Mapping[str, Any]) -> None:
        _mark_deleted(records, table, known(records, arguments), is_deleted=True)

    def undo(records: Records, arguments: Mapping[str, Any]) -> None:
        _mark_deleted(records, table, known(records, arguments), is_deleted=False)

    def set_reaction(records: Records, arguments: Mapping[str, Any]) -> None:
        _react(records, table, known(records, arguments), arguments["reactionType"], is_set=True)

    def unset_reaction(records: Records, arguments: Mapping[str, Any]) -> None:
        _react(records, table, known(records, arguments), arguments["reactionType"], is_set=False)

    return {
        f"update_{noun}": writing(update),
        f"soft_delete_{noun}": writing(soft_delete),
        f"undo_soft_delete_{noun}": writing(undo),
        f"set_{noun}_reaction": writing(set_reaction),
        f"unset_{noun}_reaction": writing(unset_reaction),
    }


def _edit(records: Records, table: str, message: Row, arguments: Mapping[str, Any]) -> None:
    """Replace what was sent. Raises ToolFailure for another one's message and for what a user may not set."""
    if arguments.get("policyViolation") is not None:
        raise ToolFailure("The policyViolation property can only be updated with application permissions")
    author = ((decoded(message["from_json"]) or {}).get("user") or {}).get("id")
    if author != records.caller["user_id"]:
        raise ToolFailure("Only the sender can update this message")
    values = {column: arguments[name] for name, column in _REPLACED.items() if name in arguments}
    require_change(values)
    if "body" in arguments:
        kept = decoded(message["body_json"]) or {}
        kind = arguments["body"].get("contentType") or kept.get("contentType") or "text"
        values["body_json"] = {"contentType": kind, "content": arguments["body"]["content"]}
    times = {"last_modified_datetime": records.now, "last_edited_datetime": records.now}
    records.change(table, _key(message), {**values, **times})


def _mark_deleted(records: Records, table: str, message: Row, *, is_deleted: bool) -> None:
    times = {"deleted_datetime": records.now if is_deleted else None, "last_modified_datetime": records.now}
    records.change(table, _key(message), times)


def _react(records: Records, table: str, message: Row, reaction: str, *, is_set: bool) -> None:
    """Add or remove the caller's reaction; a second one of the same kind replaces the first."""
    me = {"id": records.caller["user_id"], "displayName": records.caller["display_name"], "userIdentityType": USER_KIND}
    kept = [
        item
        for item in decoded(message["reactions_json"]) or []
        if item.get("reactionType") != reaction or ((item.get("user") or {}).get("user") or {}).get("id") != me["id"]
    ]
    if is_set:
        kept.append({"reactionType": reaction, "createdDateTime": zulu(records.now), "user": {"user": me}})
    records.change(table, _key(message), {"reactions_json": kept})


def _key(message: Row) -> dict[str, Any]:
    place = "chat_id" if "chat_id" in message else "channel_id"
    return {place: message[place], "message_id": message["message_id"]}
