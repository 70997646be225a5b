"""Channels, their members, their address and the folder of their files."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from robustops.gym.domains.teams.odata import pick, read_filter, selected
from robustops.gym.domains.teams.people import bound_user, mail_of
from robustops.gym.domains.teams.places import known_channel, known_team, tenant_of
from robustops.gym.domains.teams.tabs import tab_items
from robustops.gym.domains.teams.wire import CONTEXT, GRAPH, decoded, flag, require_change, zulu
from robustops.gym.operations.kind import ToolFailure
from robustops.gym.operations.records import Records, Row, reading, writing

PRIMARY = "General"
# What a folder may be besides a folder; the server names the type of each and nothing else.
_FACETS = (
    *("audio", "bundle", "deleted", "file", "folder", "image", "malware", "package", "pendingOperations", "photo"),
    *("remoteItem", "root", "searchResult", "shared", "sharepointIds", "specialFolder", "video"),
)
_RENAMED_FACETS: Mapping[str, str] = {
    "content": "Edm.Stream",
    "location": "microsoft.graph.geoCoordinates",
    "publication": "microsoft.graph.publicationFacet",
    "analytics": "microsoft.graph.itemAnalytics",
    "createdByUser": "microsoft.graph.user",
    "lastModifiedByUser": "microsoft.graph.user",
    "retentionLabel": "microsoft.graph.itemRetentionLabel",
}
_LIST_FACETS: Mapping[str, str] = {
    "activities": "itemActivity",
    "children": "driveItem",
    "permissions": "permission",
    "subscriptions": "subscription",
    "thumbnails": "thumbnailSet",
    "versions": "driveItemVersion",
}


def _item(channel: Row, tenant: str) -> dict[str, Any]:
    return {
        "@odata.id": f"{GRAPH}/tenants/{tenant}/teams/{channel['team_id']}/channels/{channel['channel_id']}",
        "id": channel["channel_id"],
        "createdDateTime": zulu(channel["created_date_time"]),
        "displayName": channel["display_name"],
        "description": channel["description"],
        "membershipType": channel["membership_type"],
        "isFavoriteByDefault": flag(channel["is_favorite_by_default"]),
        "email": channel["email"],
        "webUrl": channel["web_url"],
        "tenantId": tenant,
        "isArchived": flag(channel["is_archived"]),
    }


def _create(records: Records, arguments: Mapping[str, Any]) -> Any:
    team, tenant = known_team(records, arguments["teamId"]), tenant_of(records)
    kind = arguments.get("membershipType", "standard")
    members = arguments.get("members", []) if kind != "standard" else []
    if faults := [index for index, member in enumerate(members) if member.get("roles") is None]:
        raise ToolFailure(_without_roles(faults))
    users = [bound_user(records, member["user_odata_bind"]) for member in members]
    place = {"org_id": team["org_id"], "team_id": team["team_id"]}
    channel_id = f"channel_{records.ids.hex(32)}"
    channel = records.add(
        "channels",
        {
            **place,
            "channel_id": channel_id,
            "display_name": arguments["displayName"],
            "description": arguments.get("description"),
            "membership_type": kind,
            "web_url": f"https://teams.microsoft.com/l/channel/{channel_id}",
            "tenant_id": tenant,
            "is_favorite_by_default": arguments.get("isFavoriteByDefault", False),
        },
    )
    for user, member in zip(users, members, strict=True):
        _add_member(records, channel, user, next(iter(member["roles"]), "member"))
    item = _item(channel, tenant)
    kept = ("id", "displayName", "description", "membershipType", "isFavoriteByDefault", "tenantId")
    return {
        "@odata.context": f"{CONTEXT}teams('{team['team_id']}')/channels/$entity",
        "@odata.type": "#microsoft.graph.channel",
        **{name: item[name] for name in kept},
        "teamId": team["team_id"],
        "isArchived": False,
        "createdDateTime": item["createdDateTime"],
    }


def _without_roles(places: Sequence[int]) -> str:
    """The report of the server's own request model; the advertised schema says that roles have a default."""
    lines = [f"members.{place}.roles\n  Field required [type=missing, input_type=dict]" for place in places]
    errors = f"{len(places)} validation error{'s' if len(places) > 1 else ''}"
    return "\n".join([f"Invalid request: {errors} for ChannelCreate", *lines])


def _add_member(records: Records, channel: Row, user: Row, role: str) -> Row:
    place = {name: channel[name] for name in ("org_id", "team_id", "channel_id")}
    person = {"user_id": user["user_id"], "display_name": user["display_name"], "email": mail_of(user)}
    return records.add("channel_members", {**place, **person, "roles": role})


def _update(records: Records, arguments: Mapping[str, Any]) -> Any:
    channel = known_channel(records, arguments["teamId"], arguments["channelId"])
    columns = {
        "displayName": "display_name",
        "description": "description",
        "isFavoriteByDefault": "is_favorite_by_default",
    }
    values = {column: arguments[name] for name, column in columns.items() if name in arguments}
    require_change(values)
    _change(records, channel, values)


def _change(records: Records, channel: Row, values: Mapping[str, Any]) -> None:
    key = {"team_id": channel["team_id"], "channel_id": channel["channel_id"]}
    records.change("channels", key, {**values, "updated_date_time": records.now})


def _archive(records: Records, arguments: Mapping[str, Any]) -> Any:
    channel = known_channel(records, arguments["teamId"], arguments["channelId"])
    if channel["display_name"] == PRIMARY:
        raise ToolFailure("The General channel cannot be archived")
    _change(records, channel, {"is_archived": 1})


def _listing(records: Records, arguments: Mapping[str, Any], path: str) -> Any:
    """Newest first; channels of one moment in the order in which they were written."""
    team, tenant = known_team(records, arguments["teamId"]), tenant_of(records)
    where = {"team_id": team["team_id"], "soft_delete": 0}
    channels = records.find("channels", where, order="created_date_time DESC, rowid")
    items = _filtered([_item(channel, tenant) for channel in channels], arguments)
    names = selected(arguments.get("_select"))
    shown = [{"@odata.id": item["@odata.id"], **pick(item, names)} for item in items]
    context = f"{CONTEXT}teams('{team['team_id']}')/{path}"
    return {"@odata.context": context, "@odata.count": len(shown), "value": shown}


def _filtered(items: list[dict[str, Any]], arguments: Mapping[str, Any]) -> list[dict[str, Any]]:
    text = arguments.get("_filter")
    condition = read_filter(text, "whole") if text else None
    return items if condition is None else [item for item in items if condition(item.get)]


def _primary(records: Records, arguments: Mapping[str, Any]) -> Any:
    team, tenant = known_team(records, arguments["teamId"]), tenant_of(records)
    where = {"team_id": team["team_id"], "display_name": PRIMARY, "soft_delete": 0}
    channel = records.first("channels", where)
    item = _filtered([_item(channel, tenant)], arguments) if channel else []
    if channel is None or not item:
        raise ToolFailure(f"Primary channel not found for team: {team['team_id']}")
    reply = pick(item[0], selected(arguments.get("_select")))
    expanded = {name.strip() for name in arguments.get("_expand", "").split(",")}
    if "members" in expanded:
        found = records.find("channel_members", {"channel_id": channel["channel_id"]})
        reply["members"] = [_member_item(member, tenant) for member in found]
    if "tabs" in expanded:
        reply["tabs"] = tab_items(records, channel)
    return {"@odata.context": f"{CONTEXT}teams('{team['team_id']}')/primaryChannel/$entity", **reply}


def _member_item(member: Row, tenant: str) -> dict[str, Any]:
    return {
        "id": member["id"],
        "roles": [member["roles"]] if member["roles"] else [],
        "displayName": member["display_name"],
        "email": member["email"],
        "userId": member["user_id"],
        "tenantId": tenant,
    }


def _add_channel_member(records: Records, arguments: Mapping[str, Any]) -> Any:
    channel = known_channel(records, arguments["teamId"], arguments["channelId"])
    if channel["membership_type"] not in ("private", "shared"):
        raise ToolFailure("Members can only be added to private or shared channels")
    user = bound_user(records, arguments["user_odata_bind"])
    if records.first("channel_members", {"channel_id": channel["channel_id"], "user_id": user["user_id"]}):
        raise ToolFailure(f"User '{user['user_id']}' is already a member of the channel")
    member = _add_member(records, channel, user, next(iter(arguments.get("roles", [])), "member"))
    return {**_member_item(member, tenant_of(records)), "visibleHistoryStartDateTime": zulu(records.now)}


def _provision_email(records: Records, arguments: Mapping[str, Any]) -> Any:
    """An address that is there already is given again."""
    channel = known_channel(records, arguments["teamId"], arguments["channelId"])
    address = channel["email"]
    if not address:
        slug = re.sub(r"[^a-z0-9]+", "-", channel["display_name"].lower()).strip("-")
        address = f"{slug}.{channel['team_id'][:8]}@{records.caller['org_id']}.teams.ms"
        _change(records, channel, {"email": address})
    return {"@odata.type": "#microsoft.graph.provisionChannelEmailResult", "email": address}


def _files_folder(records: Records, arguments: Mapping[str, Any]) -> Any:
    channel = known_channel(records, arguments["teamId"], arguments["channelId"])
    row = records.first("channel_files_folders", {"channel_id": channel["channel_id"]})
    if row is None:
        raise ToolFailure(f"Files folder not found for channel: {channel['channel_id']}")
    parent = decoded(row["parent_reference"]) or {}
    facets: dict[str, Any] = {name: f"microsoft.graph.{name}" for name in _FACETS} | dict(_RENAMED_FACETS)
    return {
        "id": row["id"],
        "name": row["name"],
        "size": row["size"],
        "createdDateTime": row["created_datetime"],
        "lastModifiedDateTime": row["last_modified_datetime"],
        "webUrl": row["web_url"],
        "webDavUrl": row["web_dav_url"],
        "eTag": row["e_tag"],
        "cTag": row["c_tag"],
        "description": row["description"],
        "createdBy": decoded(row["created_by"]),
        "lastModifiedBy": decoded(row["last_modified_by"]),
        "parentReference": parent,
        "fileSystemInfo": decoded(row["file_system_info"]),
        **{name: {"@odata.type": kind} for name, kind in facets.items()},
        **{name: [{"@odata.type": f"microsoft.graph.{kind}"}] for name, kind in _LIST_FACETS.items()},
        "@odata.context": f"http://localhost:8005/v1.0/$metadata#drives('{parent.get('driveId')}')/items/$entity",
    }


KINDS = {
    "create_channel": writing(_create),
    "update_channel": writing(_update),
    "list_channels": reading(lambda records, arguments: _listing(records, arguments, "channels")),
    "list_all_channels": reading(lambda records, arguments: _listing(records, arguments, "allChannels")),
    "get_primary_channel": reading(_primary),
    "add_channel_member": writing(_add_channel_member),
    "archive_channel": writing(_archive),
    "provision_channel_email": writing(_provision_email),
    "get_files_folder": reading(_files_folder),
}
