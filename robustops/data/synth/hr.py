"""The hr domain of the synthetic generator, small: groups, skills and personnel profiles."""

from __future__ import annotations

from random import Random

from robustops.agent.plan import Pick
from robustops.core.task import Part
from robustops.data.synth.draft import Domain, Draft, Template, expressions, holds, only_written, read, row_count, write
from robustops.data.synth.names import Names
from robustops.data.synth.office_rules import HR_POLICY, READ_BACKS
from robustops.data.synth.world import SEED_TIME, Row, World

KEYS = {
    "organization": "org_id",
    "user": "user_id",
    "user_group": "group_id",
    "user_group_member": "member_id",
    "skill": "skill_id",
    "user_skill": "user_skill_id",
    "hr_profile": "hr_profile_id",
}
AT = {"created_at": SEED_TIME, "updated_at": SEED_TIME}
PLACES = ("Hotdesk", "Office Based", "Remote")


def build(part: Part, rng: Random, num_rows: int) -> World:
    world = World(part=part, rng=rng, names=Names(part, rng), key_columns=KEYS)
    org = world.add("organization", {"name": world.names.company(), "active": 1, **AT})["org_id"]
    few = max(4, num_rows // 3)
    for index in range(num_rows // 2):
        _add_person(world, org, role="admin" if index == 0 else "employee")
    world.context = {"x-hr-user-token": world.one("user", {"role": "admin"})["static_token"]}
    for _ in range(few):
        group = {"name": world.names.team(), "type": "Service Desk", "active": 1, "org_id": org, **AT}
        world.add("user_group", group)
        skill = world.names.skill()
        for name in rng.choice(((skill,), (skill, f"{skill} Basics"), (f"{skill} Advanced", skill))):
            world.add("skill", {"name": name, "active": 1, "org_id": org, **AT})
    for table, left, right in (("user_group_member", "group_id", "user_id"), ("user_skill", "skill", "user")):
        for _ in range(few):
            group = rng.choice(world.rows("user_group" if left == "group_id" else "skill"))
            pair = {left: group["group_id" if left == "group_id" else "skill_id"]}
            pair |= {right: rng.choice(world.rows("user"))["user_id"]}
            if not (table in world.tables and world.rows(table, pair)):
                world.add(table, pair | {"org_id": org, **AT})
    return world


def _add_person(world: World, org: int, *, role: str) -> None:
    rng = world.rng
    first, last = world.names.person()
    row: Row = {"first_name": first, "last_name": last, "email": f"{first}.{last}@desk.example".lower(), "phone": None}
    row |= {"role": role, "active": 1, "static_token": f"token-{first}-{last}".lower(), "org_id": org}
    user = world.add("user", row | AT)
    profile: Row = {"number": f"HRP{user['user_id']:05d}", "user_id": user["user_id"]}
    profile |= {"personal_email": f"{first}.{last}@home.example".lower(), "location_type": rng.choice(PLACES)}
    profile |= {"national_tax_id": f"TAX-{org}-{user['user_id']:04d}", "position": "QA", "org_id": org}
    world.add("hr_profile", profile | AT)


def group_member(world: World, rng: Random) -> Draft | None:
    user, group = rng.choice(world.rows("user")), rng.choice(world.rows("user_group"))
    pair = {"group_id": group["group_id"], "user_id": user["user_id"]}
    if world.rows("user_group_member", pair):
        return None
    return Draft(
        slots={"first": user["first_name"], "last": user["last_name"], "group": group["name"]},
        steps=(
            read("user", "get_user_using_name", {"first_name": user["first_name"], "last_name": user["last_name"]}),
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


def skill_add(world: World, rng: Random) -> Draft | None:
    """The skill is searched by its name, which longer names contain as well: the exact one is meant."""
    user, skill = rng.choice(world.rows("user")), rng.choice(world.rows("skill"))
    pair = {"skill": skill["skill_id"], "user": user["user_id"]}
    if world.rows("user_skill", pair):
        return None
    exact = Pick(where=expressions({"name": skill["name"]}))
    return Draft(
        slots={"first": user["first_name"], "last": user["last_name"], "skill": skill["name"]},
        steps=(
            read("user", "get_user_using_name", {"first_name": user["first_name"], "last_name": user["last_name"]}),
            read("skill", "list_skills", {"name": skill["name"]}, exact),
            write("done", "add_new_skill_to_user", {"skill": "@skill.skill_id", "user": "@user.user_id"}, READ_BACKS),
        ),
        checks=(
            holds("user has the skill", "user_skill", pair),
            only_written("no other skill given", "user_skill", pair, column="created_at"),
            row_count("one skill more", "user_skill", len(world.rows("user_skill")) + 1),
        ),
    )


def profile_place(world: World, rng: Random) -> Draft:
    user = rng.choice(world.rows("user"))
    profile = world.one("hr_profile", {"user_id": user["user_id"]})
    place = rng.choice([name for name in PLACES if name != profile["location_type"]])
    key = {"hr_profile_id": profile["hr_profile_id"]}
    arguments = {"hr_profile_id": "@profile.hr_profile_id", "location_type": place}
    return Draft(
        slots={"first": user["first_name"], "last": user["last_name"], "place": place},
        steps=(
            read("user", "get_user_using_name", {"first_name": user["first_name"], "last_name": user["last_name"]}),
            read("profile", "get_users_hr_profile", {"user_id": "@user.user_id"}),
            write("done", "update_hr_profile", arguments, READ_BACKS),
        ),
        checks=(
            holds("place of work is set", "hr_profile", key | {"location_type": place}),
            holds("position is kept", "hr_profile", key | {"position": profile["position"]}),
            only_written("no other profile changed", "hr_profile", key, column="updated_at"),
        ),
    )


TEMPLATES = (
    Template(
        name="hr_group_member",
        patterns=(
            "Add {first} {last} to the group {group}.",
            "Make {first} {last} a member of {group}.",
            "The group {group} gets a new member: {first} {last}.",
            "{first} {last} joins {group}. Add the member.",
        ),
        extra_tools=("list_skills",),
        draw=group_member,
    ),
    Template(
        name="hr_skill_add",
        patterns=(
            "Give {first} {last} the skill {skill}.",
            "{first} {last} has learned {skill}. Add the skill.",
            "Add the skill {skill} to {first} {last}.",
            "New skill for {first} {last}: {skill}.",
        ),
        extra_tools=("find_group_by_name",),
        draw=skill_add,
    ),
    Template(
        name="hr_profile_place",
        patterns=(
            "Set the location type of {first} {last} to {place}.",
            "{first} {last} now works {place}. Update the profile.",
            "Change the profile of {first} {last} to location type {place}.",
            "The profile of {first} {last} should say {place}.",
        ),
        extra_tools=("find_group_by_name",),
        draw=profile_place,
        held_out=True,
    ),
)
HR = Domain(
    name="hr",
    server="sn-hr-internal",
    url="http://localhost:8008",
    policy=HR_POLICY,
    templates=TEMPLATES,
    build=build,
)
