"""Members of a team: an array of objects in the team's own row, in the order in which they came."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from robustops.gym.domains.teams.odata import pick, read_filter, selected
from robustops.gym.domains.teams.people import bound_user
from robustops.gym.domains.teams.places import known_team
from robustops.gym.domains.teams.wire import decoded
from robustops.gym.operations.kind import ToolFailure
from robustops.gym.operations.records import Records, Row, reading, writing

MEMBER_KIND = "#microsoft.graph.aadUserConversationMember"
_SHOWN = ("id", "roles", "displayName", "userId", "email", "tenantId", "visibleHistoryStartDateTime")
EARLIEST_HISTORY = "2021-01-01T00:00:00"  # what the server says of a member whose roles it changed


def members_of(team: Row) -> list[dict[str, Any]]:
    return decoded(team["members"]) or []


def new_member(records: Records, user: Row, roles: Sequence[str], visible_from: str | None) -> dict[str, Any]:
    return {
        "@odata.type": MEMBER_KIND,
        "id": f"membership_{records.ids.hex(32)}",
        "roles": list(roles),
        "displayName": user["display_name"],
        "userId": user["user_id"],
        "email": user["mail"],
        "tenantId": user["org_id"],
        "visibleHistoryStartDateTime": visible_from,
    }


def _save(records: Records, team: Row, members: Sequence[Mapping[str, Any]]) -> None:
    key = {"org_id": team["org_id"], "team_id": team["team_id"]}
    records.change("teams", key, {"members": list(members), "updated_date_time": records.now[:19]})


def _list(records: Records, arguments: Mapping[str, Any]) -> Any:
    items = [
        {name: member.get(name) for name in _SHOWN} for member in members_of(known_team(records, arguments["teamId"]))
    ]
    text = arguments.get("_filter")
    condition = read_filter(text, "whole") if text else None
    if condition is not None:
        items = [item for item in items if condition(item.get)]
    names = selected(arguments.get("_select"))
    shown = [pick(item, names) for item in items[: arguments.get("_top", 50)]]
    return {"@odata.count": len(shown), "value": shown}


def _reply(member: Mapping[str, Any], visible_from: str | None) -> dict[str, Any]:
    return {
        "_odata_type": MEMBER_KIND,
        "id": member["id"],
        "roles": member["roles"],
        "displayName": member["displayName"],
        "visibleHistoryStartDateTime": visible_from,
        "userId": member["userId"],
        "email": member["email"],
        "tenantId": None,
    }


def _add(records: Records, arguments: Mapping[str, Any]) -> Any:
    team = known_team(records, arguments["teamId"])
    user = bound_user(records, arguments["user_odata_bind"])
    members = members_of(team)
    if any(member["userId"] == user["user_id"] for member in members):
        raise ToolFailure(f"User '{user['user_id']}' is already a member of the team")
    visible_from = arguments.get("visibleHistoryStartDateTime")
    member = new_member(records, user, arguments.get("roles") or ["member"], visible_from)
    _save(records, team, [*members, member])
    return _reply(member, visible_from)


def _add_in_bulk(records: Records, arguments: Mapping[str, Any]) -> Any:
    """Those that cannot be added are told, the others are added."""
    team = known_team(records, arguments["teamId"])
    members, added, failed = members_of(team), [], []
    for value in arguments["values"]:
        try:
            user = bound_user(records, value["user_odata_bind"])
            if any(member["userId"] == user["user_id"] for member in members):
                raise ToolFailure(f"User '{user['user_id']}' is already a member of the team")
        except ToolFailure as error:
            failed.append({"user_odata_bind": value["user_odata_bind"], "error": str(error)})
            continue
        visible_from = value.get("visibleHistoryStartDateTime")
        member = new_member(records, user, value.get("roles") or ["member"], visible_from)
        members.append(member)
        added.append({name: item for name, item in member.items() if name != "visibleHistoryStartDateTime"})
    if added:
        _save(records, team, members)
    totals = {"totalAdded": len(added), "totalFailed": len(failed)}
    return {"addedMembers": added, "failedMembers": failed, **totals}


def _position(members: Sequence[Mapping[str, Any]], membership_id: str) -> int:
    for position, member in enumerate(members):
        if member["id"] == membership_id:
            return position
    raise ToolFailure(f"Member not found: {membership_id}")


def _update(records: Records, arguments: Mapping[str, Any]) -> Any:
    team = known_team(records, arguments["teamId"])
    members = members_of(team)
    position = _position(members, arguments["membershipId"])
    members[position] = {**members[position], "roles": arguments["roles"]}
    _save(records, team, members)
    return _reply(members[position], EARLIEST_HISTORY)


def _remove(records: Records, arguments: Mapping[str, Any]) -> Any:
    team = known_team(records, arguments["teamId"])
    members = members_of(team)
    del members[_position(members, arguments["membershipId"])]
    _save(records, team, members)


KINDS = {
    "list_team_members": reading(_list),
    "add_team_member": writing(_add),
    "add_team_members_in_bulk": writing(_add_in_bulk),
    "update_team_member": writing(_update),
    "remove_team_member": writing(_remove),
}
