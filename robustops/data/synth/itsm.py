"""The itsm domain of the synthetic generator: configuration items and incidents."""

from __future__ import annotations

from random import Random

from robustops.agent.plan import Pick
from robustops.core.task import Part
from robustops.data.synth import itsm_links, itsm_world
from robustops.data.synth.draft import Domain, Draft, Template, expressions, holds, only_written, read, write
from robustops.data.synth.names import Names
from robustops.data.synth.office_rules import ITSM_POLICY, PRIORITIES, READ_BACKS
from robustops.data.synth.world import SEED_TIME, Row, World

KEYS = {
    "organization": "org_id",
    "users": "user_id",
    "user_group": "group_id",
    "location": "location_id",
    "configuration_item": "configuration_item_id",
    "incident": "incident_id",
    **itsm_world.KEYS,
}
PREFIXES = {
    "organization": "ORG",
    "users": "USER",
    "user_group": "GROUP",
    "location": "LOC",
    "configuration_item": "CI",
    "incident": "INC",
    **itsm_world.PREFIXES,
}
ON = {"created_on": SEED_TIME, "updated_on": SEED_TIME}
AT = {"created_at": SEED_TIME, "updated_at": SEED_TIME}
CI_STATES = ("in_use", "in_stock", "maintenance", "retired")


def build(part: Part, rng: Random, num_rows: int) -> World:
    world = World(part=part, rng=rng, names=Names(part, rng), key_columns=KEYS, key_prefixes=PREFIXES)
    org = world.add("organization", {"name": world.names.company(), "active": 1, **AT})["org_id"]
    few = max(4, num_rows // 3)
    for index in range(num_rows // 2):
        _add_user(world, org, role="manager" if index < 2 else rng.choice(("agent", "reporter", "manager")))
    manager = world.rows("users", {"role": "manager"})[0]
    world.context = {"x-itsm-user-token": manager["static_token"]}
    for _ in range(few):
        group: Row = {"name": world.names.team(), "type": "IT Support", "active": 1, "email": None, "description": None}
        world.add("user_group", group | {"manager_id": manager["user_id"], "org_id": org, **ON})
        place: Row = {"name": world.names.place(), "plot_no": None, "street": None, "city": "London", "state": None}
        world.add("location", place | {"country": "UK", "active": 1, "org_id": org, **ON})
    for number in range(num_rows // 2):
        item: Row = {"name": f"{world.names.product_line()} {number}", "serial_number": world.names.serial()}
        item |= {"owner_id": rng.choice(world.rows("users"))["user_id"]}
        item |= {"location_id": rng.choice(world.rows("location"))["location_id"], "status": rng.choice(CI_STATES)}
        world.add("configuration_item", item | {"cost": rng.randrange(100, 900, 10), "org_id": org, **ON})
    for user in world.rows("users"):
        _add_incidents(world, user)
    itsm_world.surround(world, org, few)
    return world


def _add_user(world: World, org: str, *, role: str) -> None:
    first, last = world.names.person()
    row: Row = {"user_name": f"{first}.{last}".lower(), "first_name": first, "last_name": last}
    row |= {"email": f"{first}.{last}@desk.example".lower(), "phone": f"+1-555-{len(world.names.used):03d}-0100"}
    row |= {"role": role, "active": 1, "static_token": f"token-{first}-{last}".lower(), "org_id": org}
    world.add("users", row | {"location_id": None, **ON})


def _add_incidents(world: World, user: Row) -> None:
    """Up to three incidents assigned to one person, exactly one of them new."""
    rng = world.rng
    for status in rng.choice((("new",), ("new", "resolved"), ("on_hold", "new"), ("resolved", "new", "on_hold"))):
        row: Row = {
            "number": world.names.number("INC"),
            "short_description": world.names.product_line(),
        }
        row |= {"caller_id": rng.choice(world.rows("users"))["user_id"], "assigned_to": user["user_id"]}
        row |= {"assignment_group": None, "org_id": user["org_id"], "status": status, "category": "hardware"}
        world.add("incident", row | {"impact": "low", "urgency": "low", "priority": rng.choice(PRIORITIES), **AT})


def ci_status(world: World, rng: Random) -> Draft:
    item = rng.choice(world.rows("configuration_item"))
    status = rng.choice([state for state in CI_STATES if state != item["status"]])
    key = {"configuration_item_id": item["configuration_item_id"]}
    arguments = {"configuration_item_id": "@item.configuration_item_id", "status": status}
    return Draft(
        slots={"serial": item["serial_number"], "status": status},
        steps=(
            read("item", "find_configuration_items", {"serial_number": item["serial_number"]}, Pick()),
            write("done", "update_configuration_item", arguments, READ_BACKS),
        ),
        checks=(
            holds("status is set", "configuration_item", key | {"status": status}),
            holds("item stays where it is", "configuration_item", key | {"location_id": item["location_id"]}),
            only_written("no other item changed", "configuration_item", key, column="updated_on"),
        ),
    )


def incident_group(world: World, rng: Random) -> Draft:
    incident, group = rng.choice(world.rows("incident")), rng.choice(world.rows("user_group"))
    key = {"incident_id": incident["incident_id"]}
    arguments = {"incident_id": "@incident.incident_id", "assignment_group": "@group.group_id"}
    return Draft(
        slots={"number": incident["number"], "group": group["name"]},
        steps=(
            read("incident", "find_incident_by_number", {"number": incident["number"]}),
            read("group", "find_group_by_name", {"name": group["name"]}),
            write("done", "update_incident", arguments, READ_BACKS),
        ),
        checks=(
            holds("group is set", "incident", key | {"assignment_group": group["group_id"]}),
            holds("priority is kept", "incident", key | {"priority": incident["priority"]}),
            only_written("no other incident changed", "incident", key, column="updated_at"),
        ),
    )


def incident_priority(world: World, rng: Random) -> Draft:
    user = rng.choice(world.rows("users"))
    incident = world.one("incident", {"assigned_to": user["user_id"], "status": "new"})
    priority = rng.choice([name for name in PRIORITIES if name != incident["priority"]])
    key = {"incident_id": incident["incident_id"]}
    new = Pick(where=expressions({"status": "new"}))
    return Draft(
        slots={"first": user["first_name"], "last": user["last_name"], "priority": priority},
        steps=(
            read("user", "get_user_using_name", {"first_name": user["first_name"], "last_name": user["last_name"]}),
            read("incident", "get_incidents_assigned_to", {"assigned_to": "@user.user_id"}, new),
            write(
                "done", "update_incident", {"incident_id": "@incident.incident_id", "priority": priority}, READ_BACKS
            ),
        ),
        checks=(
            holds("priority is set", "incident", key | {"priority": priority}),
            holds("incident stays new", "incident", key | {"status": "new"}),
            only_written("no other incident changed", "incident", key, column="updated_at"),
        ),
    )


TEMPLATES = (
    Template(
        name="itsm_ci_status",
        patterns=(
            "Set the status of item {serial} to {status}.",
            "Item {serial} now has status {status}. Update it.",
            "Change item {serial} to status {status}.",
            "Mark the item {serial} as {status}.",
        ),
        extra_tools=("get_user_using_name", "find_group_by_name"),
        draw=ci_status,
    ),
    Template(
        name="itsm_incident_priority",
        patterns=(
            "Set the new incident of {first} {last} to priority {priority}.",
            "The new incident of {first} {last} has priority {priority}. Update it.",
            "Change the priority of the new incident of {first} {last} to {priority}.",
            "{first} {last} has a new incident; its priority should be {priority}.",
        ),
        extra_tools=("find_configuration_items",),
        draw=incident_priority,
    ),
    Template(
        name="itsm_incident_group",
        patterns=(
            "Assign incident {number} to the group {group}.",
            "Incident {number} now belongs to {group}. Update it.",
            "Change the assignment group of incident {number} to {group}.",
            "{group} takes over the incident {number}.",
        ),
        extra_tools=("get_user_using_name",),
        draw=incident_group,
        held_out=True,
    ),
)
ITSM = Domain(
    name="itsm",
    server="gym-itsm-mcp",
    url="http://localhost:8006",
    policy=ITSM_POLICY,
    templates=(*itsm_links.TEMPLATES, *TEMPLATES),
    build=build,
)
