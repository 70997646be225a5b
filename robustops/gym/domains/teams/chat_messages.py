"""What is said in chats."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from robustops.gym.domains.teams.messages import (
    chat_message_item,
    content_columns,
    epoch_ms,
    message_tools,
    sender,
)
from robustops.gym.domains.teams.odata import read_filter
from robustops.gym.domains.teams.places import known_chat
from robustops.gym.domains.teams.wire import CONTEXT
from robustops.gym.operations.kind import ToolFailure
from robustops.gym.operations.records import Records, Row, reading, writing

TABLE = "chat_messages"


def _known(records: Records, arguments: Mapping[str, Any]) -> Row:
    chat = known_chat(records, arguments["chatId"])
    message = records.first(TABLE, {"chat_id": chat["chat_id"], "message_id": arguments["messageId"]})
    if message is None:
        raise ToolFailure(f"Message not found: {arguments['messageId']}")
    return message


def _send(records: Records, arguments: Mapping[str, Any]) -> Any:
    chat = known_chat(records, arguments["chatId"])
    number = epoch_ms(records.now)
    values = {
        "message_id": number,
        "chat_id": chat["chat_id"],
        "reply_to_id": arguments.get("replyToId"),
        "etag": number,
        "message_type": arguments.get("messageType", "message"),
        "summary": arguments.get("summary"),
        "locale": arguments.get("locale", "en-us"),
        "channel_identity_json": arguments.get("channelIdentity"),
        "policy_violation_json": arguments.get("policyViolation"),
        "from_json": sender(records.caller["user_id"], records.caller["display_name"]),
        **content_columns(arguments),
    }
    message = records.add(TABLE, values)
    return {
        "@odata.context": f"{CONTEXT}chats('{chat['chat_id']}')/messages/$entity",
        **chat_message_item(message),
    }


def _list(records: Records, arguments: Mapping[str, Any]) -> Any:
    """Newest first; a filter counts only where it asks for the property that orders."""
    chat = known_chat(records, arguments["chatId"])
    ordering = arguments.get("_orderby", "lastModifiedDateTime desc").split(" ")[0]
    column = "created_datetime" if ordering == "createdDateTime" else "last_modified_datetime"
    rows = records.find(TABLE, {"chat_id": chat["chat_id"]}, order=f"{column} DESC, rowid DESC")
    items = [chat_message_item(row) for row in rows]
    text = arguments.get("_filter", "")
    if ordering in text and (condition := read_filter(text, "whole")) is not None:
        items = [item for item in items if condition(item.get)]
    top = arguments.get("_top", 20)
    reply: dict[str, Any] = {
        "@odata.context": f"{CONTEXT}chats('{chat['chat_id']}')/messages",
        "@odata.count": len(items[:top]),
        "value": items[:top],
    }
    if len(items) > top:
        reply["@odata.nextLink"] = (
            f"https://graph.microsoft.com/v1.0/chats/{chat['chat_id']}/messages?$top={top}&$skiptoken={top}"
        )
    return reply


KINDS = {
    "send_chat_message": writing(_send),
    "list_chat_messages": reading(_list),
    **message_tools("chat_message", TABLE, _known),
}
