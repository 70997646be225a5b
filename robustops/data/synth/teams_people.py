"""Teams templates about people and the teams that they are in. Worlds to drafts."""

from __future__ import annotations

import json
from random import Random

from robustops.agent.plan import Pick, ReadBack, Step
from robustops.data.synth.draft import (
    CheckDraft,
    Draft,
    Template,
    expressions,
    holds,
    only_written,
    read,
    text,
    write,
)
from robustops.data.synth.teams_rules import READ_BACKS, USERS, find
from robustops.data.synth.teams_world import JOBS
from robustops.data.synth.world import Row, World, literal

MEMBER = {"teamId": "@team.id", "membershipId": "@member.id"}


def _members(team: Row) -> list[Row]:
    found: list[Row] = json.loads(team["members"])
    return found


def _member_steps(team: Row, member: Row) -> tuple[Step, Step]:
    named = Pick(where=expressions({"displayName": member["displayName"]}))
    listed = read("member", "list_team_members", {"teamId": "@team.id"}, named)
    return find("team", "list_teams", team["display_name"]), listed


def _plain_members(team: Row) -> list[Row]:
    return [member for member in _members(team) if member["roles"] == ["member"]]


def _counted(name: str, team: Row, condition: str, expected: int) -> CheckDraft:
    """How many members of the team fulfil the condition."""
    rows = f"teams, json_each(teams.members) AS one WHERE team_id = {literal(team['team_id'])}"
    return CheckDraft(name=name, query=f"SELECT COUNT(*) FROM {rows} AND {condition}", expected=expected)


def _is(user_id: str) -> str:
    return f"json_extract(one.value, '$.userId') = {literal(user_id)}"


def _has_role(role: str) -> str:
    return f"json_extract(one.value, '$.roles[0]') = {literal(role)}"


def _no_other_team(team: Row) -> CheckDraft:
    return only_written("no other team changed", "teams", {"team_id": team["team_id"]}, column="updated_date_time")


def member_add(world: World, rng: Random) -> Draft | None:
    team = rng.choice(world.rows("teams"))
    known = {member["userId"] for member in _members(team)}
    person = rng.choice(world.rows("teams_users", {"org_id": team["org_id"], "account_enabled": True}))
    if person["user_id"] in known:
        return None
    arguments = {
        "teamId": "@team.id",
        "user_odata_bind": text(f"{USERS}('", "@user.id", "')"),
        "roles": ["member"],
    }
    back = ReadBack(
        tool="list_team_members",
        arguments=expressions({"teamId": "@team.id"}),
        where=expressions({"userId": "@user.id", "roles": ["member"]}),
    )
    me = _is(person["user_id"])
    return Draft(
        slots={"team": team["display_name"], "user": person["display_name"]},
        steps=(
            find("team", "list_teams", team["display_name"]),
            find("user", "list_users", person["display_name"]),
            Step(bind="done", tool="add_team_member", arguments=expressions(arguments), read_back=back),
        ),
        checks=(
            _counted("person is a member", team, f"{me} AND {_has_role('member')}", 1),
            _counted("the others still are", team, f"NOT {me}", len(known)),
            _no_other_team(team),
        ),
    )


def member_promote(world: World, rng: Random) -> Draft:
    team = rng.choice(world.rows("teams"))
    member = rng.choice(_plain_members(team))
    num_owners = sum(one["roles"] == ["owner"] for one in _members(team))
    me = _is(member["userId"])
    return Draft(
        slots={"team": team["display_name"], "user": member["displayName"]},
        steps=(
            *_member_steps(team, member),
            write("done", "update_team_member", MEMBER | {"roles": ["owner"]}, READ_BACKS),
        ),
        checks=(
            _counted("person is an owner", team, f"{me} AND {_has_role('owner')}", 1),
            _counted("other owners stay", team, f"NOT {me} AND {_has_role('owner')}", num_owners),
            _counted("nobody left", team, "1", len(_members(team))),
            _no_other_team(team),
        ),
    )


def member_remove(world: World, rng: Random) -> Draft:
    team = rng.choice(world.rows("teams"))
    member = rng.choice(_plain_members(team))
    me = _is(member["userId"])
    return Draft(
        slots={"team": team["display_name"], "user": member["displayName"]},
        steps=(*_member_steps(team, member), write("done", "remove_team_member", MEMBER, READ_BACKS)),
        checks=(
            _counted("person has left", team, me, 0),
            _counted("the others stay", team, f"NOT {me}", len(_members(team)) - 1),
            _no_other_team(team),
        ),
    )


def user_job(world: World, rng: Random) -> Draft:
    caller = world.one("teams_users", {"static_token": world.context["x-teams-access-token"]})
    person = rng.choice(world.rows("teams_users", {"org_id": caller["org_id"], "account_enabled": True}))
    job = rng.choice([name for name in JOBS if name != person["job_title"]])
    key = {"user_id": person["user_id"]}
    return Draft(
        slots={"user": person["display_name"], "job": job},
        steps=(
            find("user", "list_users", person["display_name"]),
            write("done", "update_user", {"userId": "@user.id", "jobTitle": job}, READ_BACKS),
        ),
        checks=(
            holds("job title is set", "teams_users", key | {"job_title": job}),
            holds("department is kept", "teams_users", key | {"department": person["department"]}),
            only_written("no other person changed", "teams_users", key, column="updated_at"),
        ),
    )


def team_visibility(world: World, rng: Random) -> Draft:
    team = rng.choice(world.rows("teams"))
    visibility = "public" if team["visibility"] == "private" else "private"
    key = {"team_id": team["team_id"]}
    return Draft(
        slots={"team": team["display_name"], "visibility": visibility},
        steps=(
            find("team", "list_teams", team["display_name"]),
            write("done", "update_team", {"teamId": "@team.id", "visibility": visibility}, READ_BACKS),
        ),
        checks=(
            holds("visibility is set", "teams", key | {"visibility": visibility}),
            holds("name is kept", "teams", key | {"display_name": team["display_name"]}),
            _no_other_team(team),
        ),
    )


TEMPLATES = (
    Template(
        name="teams_member_add",
        patterns=(
            "Add {user} to the team {team}.",
            "{user} joins the team {team}. Add the member.",
            "The team {team} gets a new member, {user}.",
            "Make {user} a member of the team {team}.",
        ),
        extra_tools=("list_channels",),
        draw=member_add,
    ),
    Template(
        name="teams_member_promote",
        patterns=(
            "Make {user} an owner of the team {team}.",
            "{user}, a member of the team {team}, becomes an owner of it.",
            "In the team {team}, change the role of {user} to owner.",
            "The team {team} needs {user} as another owner.",
        ),
        extra_tools=("list_users",),
        draw=member_promote,
    ),
    Template(
        name="teams_member_remove",
        patterns=(
            "Remove {user} from the team {team}.",
            "{user} leaves the team {team}. Remove the member.",
            "Take {user} out of the team {team}.",
            "{user} should no longer be in the team {team}.",
        ),
        extra_tools=("list_users",),
        draw=member_remove,
    ),
    Template(
        name="teams_user_job",
        patterns=(
            "Set the job title of {user} to {job}.",
            "{user} works as {job} now. Change the job title.",
            "Change the job title of {user}: {job}.",
            "{job} is the new job title of {user}.",
        ),
        extra_tools=("list_teams",),
        draw=user_job,
    ),
    Template(
        name="teams_team_visibility",
        patterns=(
            "Make the team {team} {visibility}.",
            "The team {team} is {visibility} from now on. Change it.",
            "Set the visibility of the team {team} to {visibility}.",
            "{visibility} is what the team {team} should be.",
        ),
        extra_tools=("list_channels", "list_users"),
        draw=team_visibility,
        held_out=True,
    ),
)
