"""Calendar templates about calendars themselves: time zone, who may see them. Worlds to drafts."""

from __future__ import annotations

from random import Random

from robustops.agent.plan import Pick, Step
from robustops.data.synth.calendar_events import calendar_step, own_calendars
from robustops.data.synth.calendar_rules import READ_BACKS
from robustops.data.synth.calendar_world import GRANTED, ZONES
from robustops.data.synth.draft import (
    CheckDraft,
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
from robustops.data.synth.world import Row, World


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


def _new_rule(world: World, rng: Random, calendar: Row) -> tuple[Row, Row] | None:
    """Someone without access to the calendar, and the beginning of their rule."""
    user = rng.choice([row for row in world.rows("users") if row["user_id"] != calendar["user_id"]])
    scope = world.one("scopes", {"value": user["email"]})
    rule = {"calendar_id": calendar["calendar_id"], "scope_id": scope["id"]}
    return None if world.rows("acls", rule) else (user, rule)


def _colleague_rule(world: World, rng: Random, calendar: Row) -> tuple[Row, str]:
    """The one rule of a colleague, and their address."""
    owner = world.one("users", {"user_id": calendar["user_id"]})
    own_scope = world.one("scopes", {"value": owner["email"]})
    rules = world.rows("acls", {"calendar_id": calendar["calendar_id"]})
    rule = rng.choice([row for row in rules if row["scope_id"] != own_scope["id"]])
    return rule, world.one("scopes", {"id": rule["scope_id"]})["value"]


def _rule_step(email: str) -> Step:
    """Access rules show whom they are about in an object of their own."""
    pick = Pick(where=expressions({"scope": {"value": email}}))
    return read("rule", "list_acl_rules", {"calendarId": "@calendar.id"}, pick)


def _insertion(user: Row, role: str) -> Step:
    scope = {"type": "user", "value": user["email"]}
    return write("done", "insert_acl_rule", {"calendarId": "@calendar.id", "scope": scope, "role": role}, READ_BACKS)


def _insertion_checks(world: World, rule: Row, role: str) -> tuple[CheckDraft, ...]:
    return (
        holds("access is given", "acls", rule | {"role": role}),
        others_kept("other access is kept", world, "acls", rule),
        row_count("one rule more", "acls", len(world.rows("acls")) + 1),
    )


def share(world: World, rng: Random) -> Draft | None:
    calendar, role = rng.choice(own_calendars(world)), rng.choice(GRANTED)
    found = _new_rule(world, rng, calendar)
    if found is None:
        return None
    user, rule = found
    return Draft(
        slots={"calendar": calendar["summary"], "email": user["email"], "role": role},
        steps=(calendar_step(calendar), _insertion(user, role)),
        checks=_insertion_checks(world, rule, role),
    )


def share_alike(world: World, rng: Random) -> Draft | None:
    """The role is nowhere in the request: it stands in a colleague's rule."""
    calendar = rng.choice(own_calendars(world))
    found = _new_rule(world, rng, calendar)
    if found is None:
        return None
    user, rule = found
    model, email = _colleague_rule(world, rng, calendar)
    return Draft(
        slots={"calendar": calendar["summary"], "email": user["email"], "other": email},
        steps=(calendar_step(calendar), _rule_step(email), _insertion(user, "@rule.role")),
        checks=_insertion_checks(world, rule, model["role"]),
    )


def share_role(world: World, rng: Random) -> Draft:
    calendar = rng.choice(own_calendars(world))
    rule, email = _colleague_rule(world, rng, calendar)
    role = rng.choice([name for name in GRANTED if name != rule["role"]])
    arguments = {"calendarId": "@calendar.id", "ruleId": "@rule.id", "role": role}
    key = {"id": rule["id"]}
    return Draft(
        slots={"calendar": calendar["summary"], "email": email, "role": role},
        steps=(calendar_step(calendar), _rule_step(email), write("done", "patch_acl_rule", arguments, READ_BACKS)),
        checks=(
            holds("role is set", "acls", key | {"role": role}),
            holds("rule is about the same person", "acls", key | {"scope_id": rule["scope_id"]}),
            only_written("no other rule changed", "acls", key, column="updated_at"),
            row_count("no rule more or less", "acls", len(world.rows("acls"))),
        ),
    )


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
    Template(
        name="calendar_share_alike",
        patterns=(
            "Give {email} the same access to the calendar {calendar} as {other} has.",
            "{email} gets the role that {other} has in the calendar {calendar}. Add the access rule.",
            "Share the calendar {calendar} with {email}, with the role of {other}.",
            "As {other} does, {email} should have access to the calendar {calendar}, in the same role.",
        ),
        extra_tools=("patch_acl_rule",),
        draw=share_alike,
    ),
)
