"""Chats and who is in them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from robustops.gym.domains.teams.messages import chat_message_item
from robustops.gym.domains.teams.odata import read_filter
from robustops.gym.domains.teams.people import bound_user, mail_of
from robustops.gym.domains.teams.places import app_item, bound_app, known_chat, tenant_of
from robustops.gym.domains.teams.wire import CONTEXT, flag, zulu
from robustops.gym.operations.kind import ToolFailure
from robustops.gym.operations.records import Records, Row, reading, writing

BY_LAST_MESSAGE = "lastMessagePreview/createdDateTime desc"


def _item(records: Records, chat: Row) -> dict[str, Any]:
    mine = records.first("chat_members", {"chat_id": chat["chat_id"], "user_id": records.caller["user_id"]}) or {}
    address = chat["chat_id"].replace("_", "%3A") if chat["chat_type"] == "oneOnOne" else chat["chat_id"]
    return {
        "id": chat["chat_id"],
        "topic": chat["topic"],
        "createdDateTime": zulu(chat["created_at"]),
        "lastUpdatedDateTime": zulu(chat["updated_at"]),
        "chatType": chat["chat_type"],
        "webUrl": f"https://teams.microsoft.com/l/chat/{address}/0?tenantId={chat['org_id']}",
        "tenantId": chat["org_id"],
        "onlineMeetingInfo": None,
        "viewpoint": {
            "isHidden": flag(mine.get("is_hidden", 0)),
            "lastMessageReadDateTime": zulu(mine.get("last_message_read_datetime")),
        },
        "isHiddenForAllMembers": False,
    }


def _entity(records: Records, chat: Row) -> dict[str, Any]:
    return {"@odata.context": f"{CONTEXT}chats/$entity", **_item(records, chat)}


def _create_chat(records: Records, arguments: Mapping[str, Any]) -> Any:
    """A chat of the same two people is returned as it is."""
    org = records.caller["org_id"]
    users = [bound_user(records, member["user_odata_bind"]) for member in arguments["members"]]
    if arguments["chatType"] == "group":
        chat_id, topic = records.ids.hex(32), arguments.get("topic")
    else:
        if len(users) != 2:
            raise ToolFailure("A oneOnOne chat must have exactly 2 members")
        chat_id, topic = "_".join(sorted(user["user_id"] for user in users)), None
        if known := records.first("chats", {"org_id": org, "chat_id": chat_id, "soft_delete": 0}):
            return _entity(records, known)
    values = {"chat_id": chat_id, "org_id": org, "topic": topic, "chat_type": arguments["chatType"]}
    chat = records.add("chats", values)
    tenant = tenant_of(records)
    for user, member in zip(users, arguments["members"], strict=True):
        row = {"chat_id": chat_id, "org_id": org, "user_id": user["user_id"], "roles": next(iter(member["roles"]), "")}
        records.add("chat_members", {**row, "tenant_id": tenant, "display_name": user["display_name"]})
    return _entity(records, chat)


def _update_chat(records: Records, arguments: Mapping[str, Any]) -> Any:
    chat = known_chat(records, arguments["chatId"])
    if chat["chat_type"] != "group":
        raise ToolFailure("Only group chats can be updated")
    key = {"org_id": chat["org_id"], "chat_id": chat["chat_id"]}
    records.change("chats", key, {"topic": arguments["topic"], "updated_at": records.now})
    return _entity(records, records.find("chats", key)[0])


def _list_chats(records: Records, arguments: Mapping[str, Any]) -> Any:
    """The chats that the caller is a member of, the latest changed first."""
    own = "SELECT chat_id FROM chat_members WHERE user_id = ?"
    kept = f"org_id = ? AND soft_delete = 0 AND chat_id IN ({own})"
    sql = f"SELECT * FROM chats WHERE {kept} ORDER BY updated_at DESC, rowid"
    chats = records.select(sql, (records.caller["org_id"], records.caller["user_id"]))
    expanded = {name.strip() for name in arguments.get("_expand", "").split(",") if name.strip()}
    if unknown := expanded - {"members", "lastMessagePreview"}:
        supported = "'members', 'lastMessagePreview'"
        raise ToolFailure(f"Invalid expand parameter value: '{min(unknown)}'. Supported values: {supported}")
    items = [_item(records, chat) for chat in chats]
    if text := arguments.get("_filter"):
        condition = read_filter(text, "whole")
        items = [item for item in items if condition is None or condition(item.get)]
    if order := arguments.get("_orderby"):
        if order.strip() != BY_LAST_MESSAGE:
            raise ToolFailure(f"Invalid orderby parameter value: '{order}'. Supported values: '{BY_LAST_MESSAGE}'")
        items.sort(key=lambda item: _last_time(records, item["id"]), reverse=True)
    shown = items[: arguments.get("_top", 50)]
    for item in shown:
        if "members" in expanded:
            item["members"] = _members(records, item["id"])
        if "lastMessagePreview" in expanded:
            item["lastMessagePreview"] = _last_message(records, item["id"])
    return {"@odata.context": f"{CONTEXT}chats", "@odata.count": len(shown), "value": shown}


def _members(records: Records, chat_id: str) -> list[dict[str, Any]]:
    found = []
    for member in records.find("chat_members", {"chat_id": chat_id}):
        user = records.first("teams_users", {"org_id": member["org_id"], "user_id": member["user_id"]})
        found.append(
            {
                "@odata.type": "#microsoft.graph.aadUserConversationMember",
                "id": f"{chat_id}:{member['user_id']}",
                "roles": [member["roles"]] if member["roles"] else [],
                "displayName": member["display_name"],
                "userId": member["user_id"],
                "email": mail_of(user) if user else None,
                "tenantId": member["tenant_id"],
                "visibleHistoryStartDateTime": None,
            }
        )
    return found


def _last_time(records: Records, chat_id: str) -> str:
    message = _last_message(records, chat_id)
    return "" if message is None else str(message["createdDateTime"])


def _last_message(records: Records, chat_id: str) -> dict[str, Any] | None:
    found = records.find("chat_messages", {"chat_id": chat_id}, order="created_datetime DESC, rowid DESC LIMIT 1")
    return chat_message_item(found[0]) if found else None


def _add_tab(records: Records, arguments: Mapping[str, Any]) -> Any:
    chat = known_chat(records, arguments["chatId"])
    app = bound_app(records, arguments["teamsApp_odata_bind"])
    place = {"chat_id": chat["chat_id"]}
    tab_id = records.ids.uuid()
    values = {
        "id": tab_id,
        "org_id": chat["org_id"],
        **place,
        "display_name": arguments["displayName"],
        "app_id": app["app_id"],
        "configuration_json": arguments.get("configuration"),
        "sort_order_index": str(records.count("teams_chat_tabs", place) + 1),
        "web_url": f"https://teams.microsoft.com/l/chat/{chat['chat_id']}/tab/{tab_id}",
    }
    tab = records.add("teams_chat_tabs", values)
    return {
        "id": tab_id,
        "displayName": tab["display_name"],
        "sortOrderIndex": tab["sort_order_index"],
        "webUrl": tab["web_url"],
        "configuration": arguments.get("configuration"),
        "teamsApp": app_item(app),
    }


def _pin(records: Records, arguments: Mapping[str, Any]) -> Any:
    chat = known_chat(records, arguments["chatId"])
    pair = {"chat_id": chat["chat_id"], "message_id": arguments["messageId"]}
    if records.first("chat_messages", pair) is None:
        raise ToolFailure(f"Message not found: {arguments['messageId']}")
    if records.first("pinned_chat_messages", pair):
        raise ToolFailure(f"Message '{arguments['messageId']}' is already pinned")
    pin = records.add("pinned_chat_messages", {"id": records.ids.hex(32), **pair})
    return {"@odata.type": "#microsoft.graph.pinnedChatMessageInfo", "id": pin["id"]}


KINDS = {
    "create_chat": writing(_create_chat),
    "update_chat": writing(_update_chat),
    "list_chats": reading(_list_chats),
    "add_tab_to_chat": writing(_add_tab),
    "pin_chat_message": writing(_pin),
}
