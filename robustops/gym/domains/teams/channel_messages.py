"""What is said in channels; a reply names the message that opens its thread."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from robustops.gym.domains.teams.messages import (
    channel_message_item,
    content_columns,
    message_tools,
    sender,
)
from robustops.gym.domains.teams.places import known_channel
from robustops.gym.domains.teams.wire import CONTEXT
from robustops.gym.operations.kind import ToolFailure
from robustops.gym.operations.records import Records, Row, reading, writing

TABLE = "channel_messages"
SENDER_NAME = "Current User"  # the server never puts the caller's own name there


def _place(arguments: Mapping[str, Any]) -> str:
    return f"teams('{arguments['teamId']}')/channels('{arguments['channelId']}')/messages"


def _known(records: Records, arguments: Mapping[str, Any]) -> Row:
    """The message, or the reply to it where one is named."""
    channel = known_channel(records, arguments["teamId"], arguments["channelId"])
    where = {"channel_id": channel["channel_id"], "message_id": arguments["messageId"]}
    if reply_id := arguments.get("replyId"):
        where |= {"message_id": reply_id, "reply_to_id": arguments["messageId"]}
    message = records.first(TABLE, where)
    if message is None:
        raise ToolFailure(f"Message not found: {where['message_id']}")
    return message


def _send(records: Records, arguments: Mapping[str, Any]) -> Any:
    channel = known_channel(records, arguments["teamId"], arguments["channelId"])
    if not arguments["body"].get("contentType"):
        raise ToolFailure("Validation errors:\n- contentType: contentType is required")
    message_id = f"msg_{records.ids.hex(32)}"
    values = {
        "message_id": message_id,
        "org_id": records.caller["org_id"],
        "team_id": arguments["teamId"],
        "channel_id": channel["channel_id"],
        "etag": f"etag_{message_id}",
        "web_url": f"https://teams.microsoft.com/l/message/{channel['channel_id']}/{message_id}",
        "from_json": sender(records.caller["user_id"], SENDER_NAME),
        **content_columns(arguments),
        # The real server keeps no other kind of text here, whatever is sent.
        "body_json": {"contentType": "text", "content": arguments["body"]["content"]},
    }
    message = records.add(TABLE, values)
    return {"@odata.context": f"{CONTEXT}{_place(arguments)}/$entity", **channel_message_item(message)}


def _list(records: Records, arguments: Mapping[str, Any]) -> Any:
    """The messages that open a thread, newest first; `_expand=replies` puts the answers into them."""
    channel = known_channel(records, arguments["teamId"], arguments["channelId"])
    key = {"channel_id": channel["channel_id"]}
    rows = records.find(TABLE, {**key, "reply_to_id": None}, order="created_datetime DESC, rowid DESC")
    items = [channel_message_item(row) for row in rows[: arguments.get("_top", 20)]]
    if arguments.get("_expand", "").startswith("replies"):
        for item in items:
            answers = records.find(TABLE, {**key, "reply_to_id": item["id"]}, order="created_datetime DESC, rowid DESC")
            item["replies"] = [channel_message_item(row) for row in answers]
    return {"@odata.context": f"{CONTEXT}{_place(arguments)}", "@odata.count": len(items), "value": items}


KINDS = {
    "send_channel_message": writing(_send),
    "list_channel_messages": reading(_list),
    **message_tools("channel_message", TABLE, _known),
}
