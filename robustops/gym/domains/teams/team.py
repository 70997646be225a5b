"""Teams and the apps installed in them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from typing import Any

from robustops.gym.domains.teams.members import new_member
from robustops.gym.domains.teams.odata import pick, read_filter, selected
from robustops.gym.domains.teams.people import bound_user
from robustops.gym.domains.teams.places import app_item, known_team, tenant_of
from robustops.gym.domains.teams.wire import CONTEXT, GRAPH, decoded, flag, iso, require_change
from robustops.gym.operations.kind import ToolFailure
from robustops.gym.operations.records import Records, Row, reading, writing

SETTINGS: Mapping[str, Mapping[str, Any]] = {
    "memberSettings": {
        "allowCreateUpdateChannels": True,
        "allowCreatePrivateChannels": True,
        "allowDeleteChannels": True,
        "allowAddRemoveApps": True,
        "allowCreateUpdateRemoveTabs": True,
        "allowCreateUpdateRemoveConnectors": True,
    },
    "guestSettings": {"allowCreateUpdateChannels": False, "allowDeleteChannels": False},
    "messagingSettings": {
        "allowUserEditMessages": True,
        "allowUserDeleteMessages": True,
        "allowOwnerDeleteMessages": True,
        "allowTeamMentions": True,
        "allowChannelMentions": True,
    },
    "funSettings": {
        "allowGiphy": True,
        "giphyContentRating": "moderate",
        "allowStickersAndMemes": True,
        "allowCustomMemes": True,
    },
    "discoverySettings": {"showInTeamsSearchAndSuggestions": False},
}
_COLUMNS: Mapping[str, str] = {
    "memberSettings": "member_settings",
    "guestSettings": "guest_settings",
    "messagingSettings": "messaging_settings",
    "funSettings": "fun_settings",
    "discoverySettings": "discovery_settings",
}
_PLAIN: Mapping[str, str] = {
    "displayName": "display_name",
    "description": "description",
    "visibility": "visibility",
    "specialization": "specialization",
}
NO_MEMBERS = (
    "members collection is required when using Application permissions. "
    "At least one member with 'owner' role must be specified."
)


def _settings(team: Row, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: decoded(team[_COLUMNS[name]]) for name in names}


def _listed(team: Row, tenant: str) -> dict[str, Any]:
    return {
        "id": team["team_id"],
        "displayName": team["display_name"],
        "description": team["description"],
        "visibility": team["visibility"],
        "specialization": team["specialization"],
        "isArchived": flag(team["is_archived"]),
        "webUrl": team["web_url"],
        "createdDateTime": iso(team["created_date_time"]),
        "internalId": team["internal_id"],
        "classification": team["classification"],
        "tenantId": tenant,
        **_settings(team, tuple(SETTINGS)),
        "incomingChannels": decoded(team["incoming_channels"]),
    }


def _updated(team: Row, tenant: str) -> dict[str, Any]:
    return {
        "id": team["team_id"],
        "internalId": team["internal_id"],
        "tenantId": tenant,
        "displayName": team["display_name"],
        "description": team["description"],
        "visibility": team["visibility"],
        "specialization": team["specialization"],
        "classification": team["classification"],
        **_settings(team, ("memberSettings", "guestSettings", "messagingSettings", "funSettings")),
        "classSettings": None,
        "isArchived": flag(team["is_archived"]),
        "createdDateTime": iso(team["created_date_time"]),
        "summary": None,
        "webUrl": team["web_url"],
        "members": None,
        "channels": None,
        "installedApps": None,
        "incomingChannels": None,
    }


def _create(records: Records, arguments: Mapping[str, Any]) -> Any:
    """Channels of the request are not made; nor is General."""
    members = arguments.get("members")
    if not members:
        raise ToolFailure(NO_MEMBERS)
    if not any("owner" in (member.get("roles") or ()) for member in members):
        raise ToolFailure("At least one member must have the 'owner' role")
    people = [
        new_member(
            records,
            bound_user(records, member["user_odata_bind"]),
            member.get("roles") or ["member"],
            member.get("visibleHistoryStartDateTime"),
        )
        for member in members
    ]
    team_id, moment = f"team_{records.ids.hex(32)}", records.now[:19]
    records.add(
        "teams",
        {
            "org_id": records.caller["org_id"],
            "team_id": team_id,
            "group_id": f"group_{records.ids.hex(32)}",
            "template_id": arguments["template_odata_bind"].rsplit("teamsTemplates", 1)[-1].strip("/()'"),
            **{_PLAIN[name]: arguments[name] for name in _PLAIN if name in arguments},
            "classification": arguments.get("classification"),
            "internal_id": records.ids.uuid(),
            **{_COLUMNS[name]: {**SETTINGS[name], **arguments.get(name, {})} for name in SETTINGS},
            "members": people,
            "migration_mode": arguments.get("_microsoft_graph_teamCreationMode"),
            "web_url": f"https://teams.microsoft.com/l/team/{team_id}",
            "created_date_time": arguments.get("createdDateTime", moment),
            "updated_date_time": moment,
        },
    )
    return {
        "@odata.context": f"{CONTEXT}teams('{team_id}')/operations/$entity",
        "id": team_id,
        "operationType": "createTeam",
        "createdDateTime": iso(moment),
        "status": "succeeded",
        "lastActionDateTime": f"{iso(records.now)}+00:00",
        "attemptsCount": 1,
        "targetResourceId": team_id,
        "targetResourceLocation": f"/teams('{team_id}')",
        "values": json.dumps({"TeamId": team_id, "Messages": ["Team created"]}, separators=(",", ":")),
    }


def _list(records: Records, arguments: Mapping[str, Any]) -> Any:
    tenant = tenant_of(records)
    teams = records.find("teams", {"org_id": records.caller["org_id"], "soft_delete": 0})
    items = [_listed(team, tenant) for team in teams]
    if text := arguments.get("_filter"):
        condition = read_filter(text, "first_function")
        items = [item for item in items if condition is None or condition(item.get)]
    token, top = arguments.get("_skiptoken", ""), arguments.get("_top", 50)
    skip = int(token) if token.isdigit() else 0
    names = selected(arguments.get("_select"))
    shown = [pick(item, names) for item in items[skip : skip + top]]
    reply: dict[str, Any] = {"@odata.context": f"{CONTEXT}teams"}
    if arguments.get("_count"):
        reply["@odata.count"] = len(shown)
    reply["value"] = shown
    if skip + top < len(items):
        reply["@odata.nextLink"] = f"{GRAPH}/teams?$top={top}&$skiptoken={skip + top}"
    return reply


def _update(records: Records, arguments: Mapping[str, Any]) -> Any:
    team = known_team(records, arguments["teamId"])
    values: dict[str, Any] = {_PLAIN[name]: arguments[name] for name in _PLAIN if name in arguments}
    for name, column in _COLUMNS.items():
        if name in arguments:
            values[column] = {**(decoded(team[column]) or {}), **arguments[name]}
    require_change(values)
    key = {"org_id": team["org_id"], "team_id": team["team_id"]}
    records.change("teams", key, {**values, "updated_date_time": records.now[:19]})
    return _updated(records.find("teams", key)[0], tenant_of(records))


def _delete(records: Records, arguments: Mapping[str, Any]) -> Any:
    team = known_team(records, arguments["teamId"])
    org = {"org_id": team["org_id"]}
    records.change(
        "teams", {**org, "team_id": team["team_id"]}, {"soft_delete": 1, "updated_date_time": records.now[:19]}
    )
    if team["group_id"] and records.first("groups", {**org, "group_id": team["group_id"]}):
        records.change("groups", {**org, "group_id": team["group_id"]}, {"soft_delete": 1})


def _installed(records: Records, arguments: Mapping[str, Any]) -> Any:
    team = known_team(records, arguments["teamId"])
    items = []
    for row in records.find("teams_installed_apps", {"team_id": team["team_id"]}):
        app = records.first("teams_apps", {"org_id": team["org_id"], "app_id": row["app_id"]})
        items.append(_installation(row, app))
    if text := arguments.get("_filter"):
        condition = read_filter(text, "whole")
        items = [item for item in items if condition is None or condition(partial(_nested, item))]
    expanded = {name.strip() for name in arguments.get("_expand", "").split(",")}
    names = selected(arguments.get("_select"))
    shown = []
    for item in items:
        relations = {name: item.pop(name) for name in ("teamsApp", "teamsAppDefinition")}
        kept = {name: value for name, value in relations.items() if name in expanded or (names and name in names)}
        shown.append({**pick(item, names), **kept})
    return {
        "@odata.context": f"$metadata#teams('{team['team_id']}')/installedApps",
        "@odata.count": len(shown),
        "value": shown,
    }


def _installation(row: Row, app: Row | None) -> dict[str, Any]:
    name = app["display_name"] if app else None
    item = app_item(app)
    definition = {
        "id": row["id"],
        "teamsAppId": row["app_id"],
        "azureADAppId": None,
        "displayName": name,
        "version": row["version"],
        "requiredResourceSpecificApplicationPermissions": [],
        "publishingState": "published",
        "shortDescription": row["short_description"],
        "description": row["description"],
        "lastModifiedDateTime": None,
        "createdBy": None,
    }
    external = {"externalId": app["external_id"]} if app else {}
    return {
        "id": row["id"],
        "teamsApp": None if item is None else {**item, **external},
        "teamsAppDefinition": definition,
    }


def _nested(item: Mapping[str, Any], path: str) -> Any:
    head, _, rest = path.partition("/")
    value = item.get(head)
    return value.get(rest) if rest and isinstance(value, dict) else value


def _apps(records: Records, arguments: Mapping[str, Any]) -> Any:
    """By name; properties come in an order of their own."""
    rows = records.find("teams_apps", {"org_id": records.caller["org_id"]}, order="display_name, rowid")
    items = [
        {
            "id": row["app_id"],
            "distributionMethod": row["distribution_method"],
            "displayName": row["display_name"],
            "externalId": row["external_id"],
        }
        for row in rows
    ]
    if text := arguments.get("_filter"):
        condition = read_filter(text, "split")
        items = [item for item in items if condition is None or condition(item.get)]
    names = selected(arguments.get("_select"))
    shown = [{name: value for name, value in item.items() if names is None or name in names} for item in items]
    return {"@odata.context": f"{CONTEXT}appCatalogs/teamsApps", "value": shown}


KINDS = {
    "create_team": writing(_create),
    "list_teams": reading(_list),
    "update_team": writing(_update),
    "delete_team": writing(_delete),
    "list_installed_apps": reading(_installed),
    "list_teams_apps": reading(_apps),
}
