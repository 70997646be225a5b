"""Calendar templates about calendars themselves: time zone, who may see them. Worlds to drafts."""

from __future__ import annotations

from random import Random

from robustops.agent.plan import Pick
from robustops.data.synth.calendar_events import calendar_step, own_calendars
from robustops.data.synth.calendar_rules import READ_BACKS
from robustops.data.synth.calendar_world import GRANTED, ZONES
from robustops.data.synth.draft import (
    Draft,
    Template,
    expressions,
    holds,
    only_written,
    others_kept,
    read,
    row_count,
    write,
)
from robustops.data.synth.world import World


def calendar_zone(world: World, rng: Random) -> Draft:
    calendar = rng.choice(own_calendars(world))
    zone = rng.choice([name for name in ZONES if name != calendar["time_zone"]])
    key = {"calendar_id": calendar["calendar_id"]}
    arguments = {"calendarId": "@calendar.id", "timeZone": zone}
    return Draft(
        slots={"calendar": calendar["summary"], "zone": zone},
        steps=(calendar_step(calendar), write("done", "patch_calendar", arguments, READ_BACKS)),
        checks=(
            holds("time zone is set", "calendars", key | {"time_zone": zone}),
            holds("name is kept", "calendars", key | {"summary": calendar["summary"]}),
            only_written("no other calendar changed", "calendars", key, column="updated_at"),
        ),
    )


def share(world: World, rng: Random) -> Draft | None:
    calendar, role = rng.choice(own_calendars(world)), rng.choice(GRANTED)
    user = rng.choice([row for row in world.rows("users") if row["user_id"] != calendar["user_id"]])
    scope = world.one("scopes", {"value": user["email"]})
    rule = {"calendar_id": calendar["calendar_id"], "scope_id": scope["id"]}
    if world.rows("acls", rule):
        return None
    arguments = {"calendarId": "@calendar.id", "scope": {"type": "user", "value": user["email"]}, "role": role}
    return Draft(
        slots={"calendar": calendar["summary"], "email": user["email"], "role": role},
        steps=(calendar_step(calendar), write("done", "insert_acl_rule", arguments, READ_BACKS)),
        checks=(
            holds("access is given", "acls", rule | {"role": role}),
            others_kept("other access is kept", world, "acls", rule),
            row_count("one rule more", "acls", len(world.rows("acls")) + 1),
        ),
    )


def share_role(world: World, rng: Random) -> Draft:
    """Access rules show whom they are about in an object of their own."""
    calendar = rng.choice(own_calendars(world))
    rules = world.rows("acls", {"calendar_id": calendar["calendar_id"]})
    rule = rng.choice([row for row in rules if row["role"] in GRANTED and _is_single(row["scope_id"], rules)])
    email = world.one("scopes", {"id": rule["scope_id"]})["value"]
    role = rng.choice([name for name in GRANTED if name != rule["role"]])
    pick = Pick(where=expressions({"scope": {"value": email}}))
    arguments = {"calendarId": "@calendar.id", "ruleId": "@rule.id", "role": role}
    key = {"id": rule["id"]}
    return Draft(
        slots={"calendar": calendar["summary"], "email": email, "role": role},
        steps=(
            calendar_step(calendar),
            read("rule", "list_acl_rules", {"calendarId": "@calendar.id"}, pick),
            write("done", "patch_acl_rule", arguments, READ_BACKS),
        ),
        checks=(
            holds("role is set", "acls", key | {"role": role}),
            holds("rule is about the same person", "acls", key | {"scope_id": rule["scope_id"]}),
            only_written("no other rule changed", "acls", key, column="updated_at"),
            row_count("no rule more or less", "acls", len(world.rows("acls"))),
        ),
    )


def _is_single(scope_id: str, rules: list[dict[str, str]]) -> bool:
    """The owner has two rules, a colleague one."""
    return sum(row["scope_id"] == scope_id for row in rules) == 1


TEMPLATES = (
    Template(
        name="calendar_zone",
        patterns=(
            "Set the time zone of the calendar {calendar} to {zone}.",
            "The calendar {calendar} is kept in {zone} from now on. Update its time zone.",
            "Change the calendar {calendar} to time zone {zone}.",
            "{zone} is the new time zone of the calendar {calendar}.",
        ),
        extra_tools=("list_events",),
        draw=calendar_zone,
    ),
    Template(
        name="calendar_share",
        patterns=(
            "Give {email} access to the calendar {calendar} as {role}.",
            "{email} becomes {role} of the calendar {calendar}. Add the access rule.",
            "Share the calendar {calendar} with {email}, role {role}.",
            "The calendar {calendar} gets a new {role}: {email}.",
        ),
        extra_tools=("patch_acl_rule",),
        draw=share,
    ),
    Template(
        name="calendar_share_role",
        patterns=(
            "Set the role of {email} in the calendar {calendar} to {role}.",
            "{email} is now {role} of the calendar {calendar}. Update the access rule.",
            "Change the access of {email} to the calendar {calendar} to {role}.",
            "The role of {email} should be {role} in the calendar {calendar}.",
        ),
        extra_tools=("insert_acl_rule",),
        draw=share_role,
    ),
)
