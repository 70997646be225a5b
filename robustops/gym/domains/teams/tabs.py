"""Tabs of channels: apps of the organisation's catalogue, pinned.

The server stores a new tab's configuration as JSON text inside JSON text; checks look for it with its backslashes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from typing import Any

from robustops.gym.domains.teams.odata import pick, read_filter, selected
from robustops.gym.domains.teams.places import app_bind, app_item, bound_app, known_channel
from robustops.gym.domains.teams.wire import CONTEXT, decoded, require_change
from robustops.gym.operations.kind import ToolFailure
from robustops.gym.operations.records import Records, Row, reading, writing

TABLE = "teams_channel_tabs"
SUPPORTED_EXPANSION = "teamsApp"


def _place(channel: Row) -> str:
    return f"{CONTEXT}teams('{channel['team_id']}')/channels('{channel['channel_id']}')/tabs"


def _configuration(tab: Row) -> Any:
    return decoded(decoded(tab["configuration_json"]))


def _app(records: Records, tab: Row) -> Row | None:
    return records.first("teams_apps", {"org_id": records.caller["org_id"], "app_id": tab["app_id"]})


def tab_items(records: Records, channel: Row, *, has_app: bool = False) -> list[dict[str, Any]]:
    found = []
    for tab in records.find(TABLE, {"channel_id": channel["channel_id"]}):
        item = {
            "id": tab["id"],
            "displayName": tab["display_name"],
            "webUrl": tab["web_url"],
            "configuration": _configuration(tab),
            "sortOrderIndex": tab["sort_order_index"],
        }
        found.append({**item, "teamsApp": app_item(_app(records, tab))} if has_app else item)
    return found


def _list(records: Records, arguments: Mapping[str, Any]) -> Any:
    channel = known_channel(records, arguments["teamId"], arguments["channelId"])
    expanded = arguments.get("_expand", "").split("(")[0].strip()
    if expanded and expanded != SUPPORTED_EXPANSION:
        supported = f"Supported values: '{SUPPORTED_EXPANSION}'"
        raise ToolFailure(f"Invalid expand parameter value: '{arguments['_expand']}'. {supported}")
    items = tab_items(records, channel, has_app=True)
    if text := arguments.get("_filter"):
        condition = read_filter(text, "whole")
        items = [item for item in items if condition is None or condition(partial(_value, item))]
    names = selected(arguments.get("_select"))
    shown = []
    for item in items:
        app = item.pop("teamsApp")
        shown.append({**pick(item, names), "teamsApp": app} if expanded else pick(item, names))
    return {"@odata.context": _place(channel), "@odata.count": len(shown), "value": shown}


def _value(item: Mapping[str, Any], path: str) -> Any:
    head, _, rest = path.partition("/")
    value = item.get(head)
    return value.get(rest) if rest and isinstance(value, dict) else value


def _add(records: Records, arguments: Mapping[str, Any]) -> Any:
    channel = known_channel(records, arguments["teamId"], arguments["channelId"])
    app = bound_app(records, arguments["teamsApp_odata_bind"])
    configuration = {name: value for name, value in (arguments.get("configuration") or {}).items() if value is not None}
    tab = records.add(
        TABLE,
        {
            "id": f"tab_{records.ids.hex(16)}",
            "org_id": records.caller["org_id"],
            "team_id": channel["team_id"],
            "channel_id": channel["channel_id"],
            "display_name": arguments["displayName"],
            "app_id": app["app_id"],
            "configuration_json": _twice_encoded(configuration) if configuration else None,
            "sort_order_index": _next_index(records, channel),
            "web_url": f"https://teams.microsoft.com/l/channel/{channel['channel_id']}/tab/{app['app_id']}",
        },
    )
    reply: dict[str, Any] = {"@odata.context": f"{_place(channel)}/$entity", "id": tab["id"]}
    reply |= {"displayName": tab["display_name"], "teamsApp_odata_bind": app_bind(app["app_id"])}
    if configuration:
        reply["configuration"] = configuration
    return {**reply, "teamsApp": app_item(app)}


def _twice_encoded(configuration: Mapping[str, Any]) -> str:
    return json.dumps(json.dumps(configuration))


def _next_index(records: Records, channel: Row) -> str:
    return str(10_000_000 + 100 * (records.count(TABLE, {"channel_id": channel["channel_id"]}) + 1))


def _known(records: Records, arguments: Mapping[str, Any]) -> Row:
    channel = known_channel(records, arguments["teamId"], arguments["channelId"])
    tab = records.first(TABLE, {"channel_id": channel["channel_id"], "id": arguments["tabId"]})
    if tab is None:
        raise ToolFailure(f"Tab not found: {arguments['tabId']}")
    return tab


def _update(records: Records, arguments: Mapping[str, Any]) -> Any:
    """A sent configuration replaces the stored one as a whole."""
    tab = _known(records, arguments)
    values: dict[str, Any] = {}
    if "displayName" in arguments:
        values["display_name"] = arguments["displayName"]
    if "configuration" in arguments:
        kept = {name: value for name, value in arguments["configuration"].items() if value is not None}
        values["configuration_json"] = _twice_encoded(kept)
    require_change(values)
    key = {"channel_id": tab["channel_id"], "id": tab["id"]}
    records.change(TABLE, key, {**values, "updated_at": records.now})
    tab = records.find(TABLE, key)[0]
    return {
        "id": tab["id"],
        "displayName": tab["display_name"],
        "teamsApp_odata_bind": app_bind(tab["app_id"]),
        "configuration": _configuration(tab),
        "sortOrderIndex": tab["sort_order_index"],
        "webUrl": tab["web_url"],
    }


def _delete(records: Records, arguments: Mapping[str, Any]) -> Any:
    tab = _known(records, arguments)
    records.remove(TABLE, {"channel_id": tab["channel_id"], "id": tab["id"]})


KINDS = {
    "list_tabs_in_channel": reading(_list),
    "add_tabs_to_channels": writing(_add),
    "update_channel_tab": writing(_update),
    "delete_channel_tab": writing(_delete),
}
