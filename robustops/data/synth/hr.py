"""The hr domain of the synthetic generator: groups, cases and the articles linked to them."""

from __future__ import annotations

from random import Random

from robustops.agent.plan import Pick, ReadBack, Step
from robustops.core.task import Part
from robustops.data.synth import hr_links, hr_world
from robustops.data.synth.draft import Domain, Draft, Template, expressions, holds, only_written, read, row_count, write
from robustops.data.synth.names import Names
from robustops.data.synth.office_rules import HR_POLICY, PRIORITIES, READ_BACKS, USES
from robustops.data.synth.world import SEED_TIME, Row, World

KEYS = {
    "organization": "org_id",
    "user": "user_id",
    "user_group": "group_id",
    "user_group_member": "member_id",
    "knowledge": "knowledge_id",
    "hr_case": "hr_case_id",
    "hr_case_knowledge": "hr_case_kb_id",
    "notification": "notification_id",
    **hr_world.KEYS,
}
AT = {"created_at": SEED_TIME, "updated_at": SEED_TIME}


def build(part: Part, rng: Random, num_rows: int) -> World:
    world = World(part=part, rng=rng, names=Names(part, rng), key_columns=KEYS)
    org = world.add("organization", {"name": world.names.company(), "active": 1, **AT})["org_id"]
    few = max(4, num_rows // 3)
    for index in range(num_rows // 2):
        first, last = world.names.person()
        user: Row = {"first_name": first, "last_name": last, "email": f"{first}.{last}@desk.example".lower()}
        user |= {"phone": None, "role": "admin" if index == 0 else "employee", "active": 1}
        world.add("user", user | {"static_token": f"token-{first}-{last}".lower(), "org_id": org, **AT})
    caller = world.one("user", {"role": "admin"})
    world.context = {"x-hr-user-token": caller["static_token"]}
    for _ in range(few):
        group = {"name": world.names.team(), "type": "Service Desk", "active": 1, "org_id": org, **AT}
        world.add("user_group", group)
        subject = world.names.subject()
        for title in rng.choice(((subject,), (subject, f"{subject} Basics"), (f"{subject} Advanced", subject))):
            _add_article(world, title, caller)
    for _ in range(num_rows // 2):
        _add_case(world, caller)
    for group in world.rows("user_group"):
        pair = {"group_id": group["group_id"], "user_id": rng.choice(world.rows("user"))["user_id"]}
        world.add("user_group_member", pair | {"org_id": org, **AT})
    hr_world.surround(world, org, few)
    return world


def _add_article(world: World, title: str, owner: Row) -> None:
    row: Row = {"kb_number": world.names.number("KB"), "title": title, "body": None, "state": "published"}
    row |= {"visibility": "internal", "owner_id": owner["user_id"], "org_id": owner["org_id"]}
    world.add("knowledge", row | AT)


def _add_case(world: World, caller: Row) -> None:
    rng, org = world.rng, caller["org_id"]
    row: Row = {"number": world.names.number("HRC"), "status": "ready", "opened_by": caller["user_id"]}
    row |= {"priority": rng.choice(PRIORITIES), "short_description": world.names.subject(), "coe_type": "Payroll"}
    case = world.add("hr_case", row | {"org_id": org, **AT})
    link = {"hr_case_id": case["hr_case_id"], "knowledge_id": rng.choice(world.rows("knowledge"))["knowledge_id"]}
    world.add("hr_case_knowledge", link | {"used_as": "suggested", "org_id": org, **AT})
    note = {"hr_case_id": case["hr_case_id"], "email": rng.choice(world.rows("user"))["email"], "type": "update"}
    world.add("notification", note | {"status": "draft", "org_id": org, **AT})


def _case_step(case: Row) -> Step:
    return read("case", "find_hr_case_by_number", {"number": case["number"]})


def group_member(world: World, rng: Random) -> Draft | None:
    user, group = rng.choice(world.rows("user")), rng.choice(world.rows("user_group"))
    pair = {"group_id": group["group_id"], "user_id": user["user_id"]}
    if world.rows("user_group_member", pair):
        return None
    return Draft(
        slots={"email": user["email"], "group": group["name"]},
        steps=(
            read("user", "get_user_using_email", {"email": user["email"]}),
            read("group", "find_group_by_name", {"name": group["name"]}),
            write(
                "done", "add_new_group_member", {"group_id": "@group.group_id", "user_id": "@user.user_id"}, READ_BACKS
            ),
        ),
        checks=(
            holds("user is a member", "user_group_member", pair),
            only_written("no other member added", "user_group_member", pair, column="created_at"),
            row_count("one member more", "user_group_member", len(world.rows("user_group_member")) + 1),
        ),
    )


def case_priority(world: World, rng: Random) -> Draft:
    case = rng.choice(world.rows("hr_case"))
    priority = rng.choice([name for name in PRIORITIES if name != case["priority"]])
    key = {"hr_case_id": case["hr_case_id"]}
    asked = expressions({"hr_case_id": "@case.hr_case_id", "priority": priority})
    found = _case_step(case)
    back = ReadBack(tool=found.tool, arguments=found.arguments, where={"priority": asked["priority"]})
    return Draft(
        slots={"number": case["number"], "priority": priority},
        steps=(found, Step(bind="done", tool="update_hr_case", arguments=asked, read_back=back)),
        checks=(
            holds("priority is set", "hr_case", key | {"priority": priority}),
            holds("status is kept", "hr_case", key | {"status": "ready"}),
            only_written("no other case changed", "hr_case", key, column="updated_at"),
        ),
    )


def case_article(world: World, rng: Random) -> Draft | None:
    """Articles are searched by title, which longer titles contain as well: the exact one is meant."""
    case, article, use = rng.choice(world.rows("hr_case")), rng.choice(world.rows("knowledge")), rng.choice(USES)
    pair = {"hr_case_id": case["hr_case_id"], "knowledge_id": article["knowledge_id"]}
    if world.rows("hr_case_knowledge", pair):
        return None
    arguments = {"hr_case_id": "@case.hr_case_id", "knowledge_id": "@article.knowledge_id", "used_as": use}
    exact = Pick(where=expressions({"title": article["title"]}))
    return Draft(
        slots={"number": case["number"], "title": article["title"], "use": use},
        steps=(
            _case_step(case),
            read("article", "retrieve_knowledge_articles", {"title": article["title"]}, exact),
            write("done", "link_knowledge_to_hr_case", arguments, READ_BACKS),
        ),
        checks=(
            holds("article is linked", "hr_case_knowledge", pair | {"used_as": use}),
            only_written("no other link made", "hr_case_knowledge", pair, column="created_at"),
            row_count("one link more", "hr_case_knowledge", len(world.rows("hr_case_knowledge")) + 1),
        ),
    )


def case_remind(world: World, rng: Random) -> Draft | None:
    case = rng.choice(world.rows("hr_case"))
    user = rng.choice(world.rows("user", {"role": "employee"}))
    values = {"hr_case_id": case["hr_case_id"], "email": user["email"], "type": "reminder"}
    return Draft(
        slots={"number": case["number"], "email": user["email"]},
        steps=(
            _case_step(case),
            write("done", "send_notification", values | {"hr_case_id": "@case.hr_case_id"}, READ_BACKS),
        ),
        checks=(
            holds("reminder is sent", "notification", values),
            only_written("nothing else sent", "notification", values, column="created_at"),
            row_count("one notification more", "notification", len(world.rows("notification")) + 1),
        ),
    )


TEMPLATES = (
    Template(
        name="hr_group_member",
        patterns=(
            "Add {email} to the group {group}.",
            "Make {email} a member of {group}.",
            "The group {group} gets a new member: {email}.",
            "{email} joins {group}. Add the member.",
        ),
        extra_tools=("find_hr_case_by_number",),
        draw=group_member,
    ),
    Template(
        name="hr_case_priority",
        patterns=(
            "Set case {number} to priority {priority}.",
            "Case {number} has priority {priority}. Update it.",
            "Change the priority of case {number} to {priority}.",
            "The priority of case {number} should be {priority}.",
        ),
        extra_tools=("get_user_using_email", "find_group_by_name"),
        draw=case_priority,
    ),
    Template(
        name="hr_case_article",
        patterns=(
            "Link the article {title} to case {number} as {use}.",
            "Case {number} needs the article {title}, used as {use}. Link it.",
            "Add the article {title} to case {number}, used as {use}.",
            "The article {title} belongs to case {number} as {use}.",
        ),
        extra_tools=("get_user_using_email",),
        draw=case_article,
    ),
    Template(
        name="hr_case_remind",
        patterns=(
            "Send a reminder about case {number} to {email}.",
            "Notify {email} about case {number} with a reminder.",
            "Case {number} needs a reminder. Send it to {email}.",
            "{email} should get a reminder about case {number}.",
        ),
        extra_tools=("get_user_using_email",),
        draw=case_remind,
        held_out=True,
    ),
)
HR = Domain(
    name="hr",
    server="sn-hr-internal",
    url="http://localhost:8008",
    policy=HR_POLICY,
    templates=(*hr_links.TEMPLATES, *TEMPLATES),
    build=build,
)
