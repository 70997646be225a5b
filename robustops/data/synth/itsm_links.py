"""itsm templates that join two rows: places, parents, articles, members, items of new incidents. World to drafts."""

from __future__ import annotations

from random import Random

from robustops.agent.plan import Pick, Step
from robustops.data.synth.csm_world import complaint
from robustops.data.synth.draft import (
    CheckDraft,
    Draft,
    Template,
    expressions,
    holds,
    only_written,
    read,
    row_count,
    write,
)
from robustops.data.synth.office_rules import PRIORITIES, READ_BACKS, USES
from robustops.data.synth.world import Row, World


def _item_step(item: Row) -> Step:
    return read("item", "find_configuration_items", {"serial_number": item["serial_number"]}, Pick())


def _incident_step(bind: str, incident: Row) -> Step:
    return read(bind, "find_incident_by_number", {"number": incident["number"]})


def _user_step(user: Row) -> Step:
    return read("user", "get_user_using_name", {"first_name": user["first_name"], "last_name": user["last_name"]})


def ci_move(world: World, rng: Random) -> Draft | None:
    item, place = rng.choice(world.rows("configuration_item")), rng.choice(world.rows("location"))
    if item["location_id"] == place["location_id"]:
        return None
    key = {"configuration_item_id": item["configuration_item_id"]}
    arguments = {"configuration_item_id": "@item.configuration_item_id", "location_id": "@place.location_id"}
    return Draft(
        slots={"serial": item["serial_number"], "place": place["name"]},
        steps=(
            _item_step(item),
            read("place", "find_location_by_given_name", {"name": place["name"]}),
            write("done", "update_configuration_item", arguments, READ_BACKS),
        ),
        checks=(
            holds("item is there", "configuration_item", key | {"location_id": place["location_id"]}),
            holds("status is kept", "configuration_item", key | {"status": item["status"]}),
            only_written("no other item changed", "configuration_item", key, column="updated_on"),
        ),
    )


def child_incident(world: World, rng: Random) -> Draft | None:
    child, parent = rng.sample(world.rows("incident"), 2)
    pair = {"parent_incident": parent["incident_id"], "child_incident": child["incident_id"]}
    turned = {"parent_incident": child["incident_id"], "child_incident": parent["incident_id"]}
    has_parent = world.rows("child_incident", {"child_incident": child["incident_id"]})
    if has_parent or world.rows("child_incident", turned):
        return None
    arguments = {"parent_incident": "@parent.incident_id", "child_incident": "@child.incident_id"}
    return Draft(
        slots={"child": child["number"], "parent": parent["number"]},
        steps=(
            _incident_step("child", child),
            _incident_step("parent", parent),
            write("done", "add_child_incident", arguments, READ_BACKS),
        ),
        checks=(
            holds("incidents are linked", "child_incident", pair),
            only_written("no other link made", "child_incident", pair, column="created_at"),
            row_count("one link more", "child_incident", len(world.rows("child_incident")) + 1),
        ),
    )


def incident_article(world: World, rng: Random) -> Draft | None:
    incident, article = rng.choice(world.rows("incident")), rng.choice(world.rows("knowledge"))
    use = rng.choice(USES)
    pair = {"incident_id": incident["incident_id"], "knowledge_id": article["knowledge_id"]}
    if world.rows("incident_knowledge", pair):
        return None
    arguments = {"incident_id": "@incident.incident_id", "knowledge_id": "@article.knowledge_id", "used_as": use}
    exact = Pick(where=expressions({"title": article["title"]}))
    return Draft(
        slots={"number": incident["number"], "title": article["title"], "use": use},
        steps=(
            _incident_step("incident", incident),
            read("article", "retrieve_knowledge_articles", {"title": article["title"]}, exact),
            write("done", "link_knowledge_to_incident", arguments, READ_BACKS),
        ),
        checks=(
            holds("article is linked", "incident_knowledge", pair | {"used_as": use}),
            only_written("no other link made", "incident_knowledge", pair, column="created_on"),
            row_count("one link more", "incident_knowledge", len(world.rows("incident_knowledge")) + 1),
        ),
    )


def group_member(world: World, rng: Random) -> Draft | None:
    user, group = rng.choice(world.rows("users")), rng.choice(world.rows("user_group"))
    pair = {"group_id": group["group_id"], "user_id": user["user_id"]}
    if world.rows("user_group_member", pair):
        return None
    arguments = {"group_id": "@group.group_id", "user_id": "@user.user_id"}
    return Draft(
        slots={"first": user["first_name"], "last": user["last_name"], "group": group["name"]},
        steps=(
            _user_step(user),
            read("group", "find_group_by_name", {"name": group["name"]}),
            write("done", "add_new_group_member", arguments, READ_BACKS),
        ),
        checks=(
            holds("user is a member", "user_group_member", pair),
            only_written("no other member added", "user_group_member", pair, column="created_on"),
            row_count("one member more", "user_group_member", len(world.rows("user_group_member")) + 1),
        ),
    )


def incident_item(world: World, rng: Random) -> Draft | None:
    user, item = rng.choice(world.rows("users")), rng.choice(world.rows("configuration_item"))
    text, priority = complaint(rng), rng.choice(PRIORITIES)
    stored = {"caller_id": user["user_id"], "short_description": text, "priority": priority}
    asked = {"caller_id": "@user.user_id", "short_description": text, "priority": priority}
    where = holds("", "incident", stored).query.split(" WHERE ")[1]
    item_id = item["configuration_item_id"]
    affected = f"configuration_item = '{item_id}' AND incident_id IN (SELECT incident_id FROM incident WHERE {where})"
    query = f"SELECT COUNT(*) FROM incident_affected_cis WHERE {affected}"
    link = {"configuration_item": "@item.configuration_item_id", "incident_id": "@incident.incident_id"}
    return Draft(
        slots={
            "first": user["first_name"],
            "last": user["last_name"],
            "text": text,
            "priority": priority,
            "serial": item["serial_number"],
        },
        steps=(
            _user_step(user),
            _item_step(item),
            write("incident", "create_incident", asked, READ_BACKS),
            write("done", "link_affected_ci_to_incident", link, READ_BACKS),
        ),
        checks=(
            holds("incident exists once", "incident", stored),
            CheckDraft(name="item is affected by it", query=query, expected=1),
            only_written("no other incident written", "incident", stored, column="updated_at"),
            row_count("one link more", "incident_affected_cis", len(world.rows("incident_affected_cis")) + 1),
        ),
        edges=((0, 1),),
    )


TEMPLATES = (
    Template(
        name="itsm_ci_move",
        patterns=(
            "Move the item {serial} to {place}.",
            "Item {serial} is now at {place}. Update its location.",
            "Change the location of item {serial} to {place}.",
            "{place} is where the item {serial} is kept from now on.",
        ),
        extra_tools=("find_incident_by_number",),
        draw=ci_move,
    ),
    Template(
        name="itsm_child_incident",
        patterns=(
            "Make incident {child} a child of incident {parent}.",
            "Incident {parent} is the parent of incident {child}. Link them.",
            "Add incident {child} as a child to incident {parent}.",
            "Incident {child} belongs under its parent incident {parent}.",
        ),
        extra_tools=("find_group_by_name", "update_incident"),
        draw=child_incident,
    ),
    Template(
        name="itsm_incident_article",
        patterns=(
            "Link the article {title} to incident {number} as {use}.",
            "Incident {number} needs the article {title}, used as {use}. Link it.",
            "Add the article {title} to incident {number}, used as {use}.",
            "The article {title} belongs to incident {number} as {use}.",
        ),
        extra_tools=("get_user_using_name",),
        draw=incident_article,
    ),
    Template(
        name="itsm_group_member",
        patterns=(
            "Add {first} {last} to the group {group}.",
            "Make {first} {last} a member of {group}.",
            "The group {group} gets a new member: {first} {last}.",
            "{first} {last} joins {group}. Add the member.",
        ),
        extra_tools=("find_incident_by_number",),
        draw=group_member,
    ),
    Template(
        name="itsm_incident_item",
        patterns=(
            "Open a {priority} incident for {first} {last}: {text}. Item {serial} is affected.",
            "{first} {last} reports: {text}. Open an incident, priority {priority}, that affects item {serial}.",
            "New {priority} incident for {first} {last}, affecting item {serial}: {text}.",
            "Item {serial} of {first} {last}: {text}. Open the incident, priority {priority}, and link the item.",
        ),
        extra_tools=(),
        draw=incident_item,
    ),
)
