"""Tags, which mention some members of a team, and directory groups."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from robustops.gym.domains.teams.members import members_of
from robustops.gym.domains.teams.odata import pick, read_filter, selected, sort_items
from robustops.gym.domains.teams.people import bound_user, known_user
from robustops.gym.domains.teams.places import known_team
from robustops.gym.domains.teams.wire import CONTEXT, GRAPH, decoded, flag, iso, require_change, zulu
from robustops.gym.operations.kind import ToolFailure
from robustops.gym.operations.records import Records, Row, reading, writing

_OBJECT = re.compile(r"(?:users|directoryObjects)(?:\('|/)")
_LISTS = ("groupTypes", "assignedLabels", "resourceBehaviorOptions", "resourceProvisioningOptions")
_BOOLEANS = ("mailEnabled", "securityEnabled", "isAssignableToRole", "isManagementRestricted")
_GROUP_COLUMNS: Mapping[str, str] = {
    "displayName": "display_name",
    "description": "description",
    "mailEnabled": "mail_enabled",
    "mailNickname": "mail_nickname",
    "securityEnabled": "security_enabled",
    "groupTypes": "group_types",
    "visibility": "visibility",
    "classification": "classification",
    "assignedLabels": "assigned_labels",
    "membershipRule": "membership_rule",
    "membershipRuleProcessingState": "membership_rule_processing_state",
    "isAssignableToRole": "is_assignable_to_role",
    "isManagementRestricted": "is_management_restricted",
    "preferredDataLocation": "preferred_data_location",
    "preferredLanguage": "preferred_language",
    "resourceBehaviorOptions": "resource_behavior_options",
    "resourceProvisioningOptions": "resource_provisioning_options",
    "theme": "theme",
}
_GROUP_UPDATES: Mapping[str, str] = {
    "allowExternalSenders": "allow_external_senders",
    "assignedLabels": "assigned_labels",
    "autoSubscribeNewMembers": "auto_subscribe_new_members",
    "description": "description",
    "displayName": "display_name",
    "mailNickname": "mail_nickname",
    "preferredDataLocation": "preferred_data_location",
    "securityEnabled": "security_enabled",
    "uniqueName": "unique_name",
    "visibility": "visibility",
}


def _tag_item(records: Records, tag: Row, *, has_members: bool) -> dict[str, Any]:
    members = records.find("teamwork_tag_members", {"tagId": tag["id"]})
    item = {
        "displayName": tag["display_name"],
        "description": tag["description"],
        "tagType": tag["tag_type"],
        "teamId": tag["team_id"],
        "id": tag["id"],
        "memberCount": len(members),
    }
    if has_members:
        item["members"] = [{"userId": one["userId"], "displayName": one["displayName"]} for one in members]
    return item


def _add_tag_members(records: Records, tag: Row, members: Sequence[Mapping[str, Any]]) -> None:
    for member in members:
        person = {"userId": member["userId"], "displayName": member.get("displayName") or ""}
        records.add(
            "teamwork_tag_members",
            {"id": records.ids.uuid(), "tagId": tag["id"], "teamId": tag["team_id"], **person},
        )


def _create_tag(records: Records, arguments: Mapping[str, Any]) -> Any:
    team = known_team(records, arguments["team_id"])
    values = {"org_id": team["org_id"], "team_id": team["team_id"], "display_name": arguments["displayName"]}
    tag = records.add(
        "teamwork_tags", {"id": records.ids.uuid(), **values, "description": arguments.get("description")}
    )
    _add_tag_members(records, tag, arguments.get("members", []))
    return _tag_item(records, tag, has_members=True)


def _list_tags(records: Records, arguments: Mapping[str, Any]) -> Any:
    team = known_team(records, arguments["team_id"])
    tags = records.find("teamwork_tags", {"team_id": team["team_id"]})
    items = [_tag_item(records, tag, has_members=False) for tag in tags]
    if text := arguments.get("_filter"):
        condition = read_filter(text, "whole")
        items = [item for item in items if condition is None or condition(item.get)]
    shown = items[: arguments["_top"]] if "_top" in arguments else items
    context = f"{CONTEXT}teams('{team['team_id']}')/tags"
    return {"@odata.context": context, "@odata.count": len(shown), "value": shown}


def _known_tag(records: Records, arguments: Mapping[str, Any]) -> Row:
    team = known_team(records, arguments["team_id"])
    tag = records.first("teamwork_tags", {"team_id": team["team_id"], "id": arguments["tag_id"]})
    if tag is None:
        raise ToolFailure(f"Tag not found: {arguments['tag_id']}")
    return tag


def _update_tag(records: Records, arguments: Mapping[str, Any]) -> Any:
    tag = _known_tag(records, arguments)
    columns = {"displayName": "display_name", "description": "description"}
    values = {column: arguments[name] for name, column in columns.items() if name in arguments}
    if "members" not in arguments:
        require_change(values)
    if values:
        records.change("teamwork_tags", {"id": tag["id"]}, values)
    if "members" in arguments:
        records.remove("teamwork_tag_members", {"tagId": tag["id"]})
        _add_tag_members(records, tag, [one for one in arguments["members"] if one.get("userId")])
    return _tag_item(records, records.find("teamwork_tags", {"id": tag["id"]})[0], has_members=True)


def _create_tag_member(records: Records, arguments: Mapping[str, Any]) -> Any:
    tag = _known_tag(records, arguments)
    user = known_user(records, arguments["userId"])
    team = known_team(records, arguments["team_id"])
    if all(member["userId"] != user["user_id"] for member in members_of(team)):
        raise ToolFailure(f"User '{user['user_id']}' is not a member of the team")
    if records.first("teamwork_tag_members", {"tagId": tag["id"], "userId": user["user_id"]}):
        raise ToolFailure(f"User '{user['user_id']}' is already a member of the tag")
    _add_tag_members(records, tag, [{"userId": user["user_id"], "displayName": user["display_name"]}])
    added = records.find("teamwork_tag_members", {"tagId": tag["id"]})[-1]
    return {
        "id": added["id"],
        "userId": user["user_id"],
        "displayName": user["display_name"],
        "tenantId": user["org_id"],
    }


def _group_item(group: Row) -> dict[str, Any]:
    item: dict[str, Any] = {"id": group["group_id"]}
    for name, column in _GROUP_COLUMNS.items():
        value = group[column]
        item[name] = decoded(value) if name in _LISTS else flag(value) if name in _BOOLEANS else value
    return {**item, "mail": group["mail"], "createdDateTime": iso(group["created_date_time"])}


def _create_group(records: Records, arguments: Mapping[str, Any]) -> Any:
    org = records.caller["org_id"]
    nickname = arguments["mailNickname"]
    if records.first("groups", {"org_id": org, "mail_nickname": nickname, "soft_delete": 0}):
        raise ToolFailure(f"Group with mailNickname '{nickname}' already exists")
    people = {
        name: [bound_user(records, _as_user(url))["user_id"] for url in arguments.get(f"{name}_odata_bind", [])]
        for name in ("owners", "members")
    }
    values = {column: arguments[name] for name, column in _GROUP_COLUMNS.items() if name in arguments}
    group = records.add("groups", {"org_id": org, "group_id": records.ids.uuid(), **values, **people})
    return {"@odata.context": f"{CONTEXT}groups/$entity", **_group_item(group), "createdDateTime": zulu(records.now)}


def _as_user(url: str) -> str:
    """A directory object here is a user; a bare id is one as well."""
    url = url.replace("directoryObjects", "users")
    return url if _OBJECT.search(url) else f"{GRAPH}/users/{url}"


def _list_groups(records: Records, arguments: Mapping[str, Any]) -> Any:
    groups = records.find("groups", {"org_id": records.caller["org_id"], "soft_delete": 0}, order="display_name, rowid")
    items = [_group_item(group) for group in groups]
    if text := arguments.get("_filter"):
        condition = read_filter(text, "whole")
        items = [item for item in items if condition is None or condition(item.get)]
    if word := arguments.get("_search", "").strip('"').split(":")[-1].lower():
        items = [one for one in items if word in f"{one['displayName']} {one['description'] or ''}".lower()]
    sort_items(items, arguments.get("_orderby"), lambda item, name: item.get(name))
    names = selected(arguments.get("_select"))
    shown = [pick(item, names) for item in items[: arguments.get("_top", 100)]]
    reply: dict[str, Any] = {"odata_context": f"{CONTEXT}groups"}
    if arguments.get("_count"):
        reply["odata_count"] = len(shown)
    return {**reply, "value": shown}


def _known_group(records: Records, group_id: str) -> Row:
    where = {"org_id": records.caller["org_id"], "group_id": group_id, "soft_delete": 0}
    group = records.first("groups", where)
    if group is None:
        raise ToolFailure(f"Group not found: {group_id}")
    return group


def _update_group(records: Records, arguments: Mapping[str, Any]) -> Any:
    group = _known_group(records, arguments["groupId"])
    values = {column: arguments[name] for name, column in _GROUP_UPDATES.items() if name in arguments}
    require_change(values)
    _change_group(records, group, values)


def _change_group(records: Records, group: Row, values: Mapping[str, Any]) -> None:
    key = {"org_id": group["org_id"], "group_id": group["group_id"]}
    records.change("groups", key, {**values, "updated_date_time": records.now})


def _add_owner(records: Records, arguments: Mapping[str, Any]) -> Any:
    group = _known_group(records, arguments["groupId"])
    user = bound_user(records, _as_user(arguments["_odata_id"]))
    owners = decoded(group["owners"]) or []
    if user["user_id"] in owners:
        raise ToolFailure(f"User '{user['user_id']}' is already an owner of the group")
    _change_group(records, group, {"owners": [*owners, user["user_id"]]})


KINDS = {
    "create_teamwork_tag": writing(_create_tag),
    "list_teamwork_tags": reading(_list_tags),
    "update_teamwork_tag": writing(_update_tag),
    "create_teamwork_tag_member": writing(_create_tag_member),
    "create_group": writing(_create_group),
    "list_groups": reading(_list_groups),
    "update_group": writing(_update_group),
    "add_group_owner": writing(_add_owner),
}
