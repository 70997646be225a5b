"""hr templates about tasks, skills, profiles, memberships and new cases. World to drafts."""

from __future__ import annotations

from random import Random

from robustops.agent.plan import Pick, ReadBack, Step
from robustops.data.synth.draft import (
    CheckDraft,
    Draft,
    Template,
    expressions,
    gone,
    holds,
    only_written,
    read,
    row_count,
    write,
)
from robustops.data.synth.hr_world import CENTRES, POSITIONS
from robustops.data.synth.names import Names
from robustops.data.synth.office_rules import PRIORITIES, READ_BACKS, USES
from robustops.data.synth.world import Row, World


def _user_step(user: Row) -> Step:
    return read("user", "get_user_using_email", {"email": user["email"]})


def _group_step(group: Row) -> Step:
    return read("group", "find_group_by_name", {"name": group["name"]})


def task_assign(world: World, rng: Random) -> Draft | None:
    """People are assigned by name; replies show them as objects."""
    case, user = rng.choice(world.rows("hr_case")), rng.choice(world.rows("user"))
    task = world.one("hr_case_task", {"parent_case": case["hr_case_id"]})
    if task["assigned_to"] == user["user_id"]:
        return None
    first, last = user["first_name"], user["last_name"]
    key = {"hr_case_task_id": task["hr_case_task_id"]}
    asked = expressions({"hr_case_task_id": "@task.hr_case_task_id", "assigned_to": f"{first} {last}"})
    back = ReadBack(
        tool="list_hr_case_tasks",
        arguments=expressions({"hr_case_task_id": "@task.hr_case_task_id"}),
        where=expressions({"assigned_to_details": {"first_name": first, "last_name": last}}),
    )
    return Draft(
        slots={"number": case["number"], "first": first, "last": last},
        steps=(
            read("case", "find_hr_case_by_number", {"number": case["number"]}),
            read("task", "list_hr_case_tasks", {"parent_case": "@case.hr_case_id"}, Pick()),
            Step(bind="done", tool="update_hr_case_task", arguments=asked, read_back=back),
        ),
        checks=(
            holds("task is assigned", "hr_case_task", key | {"assigned_to": user["user_id"]}),
            holds("status is kept", "hr_case_task", key | {"status": task["status"]}),
            only_written("no other task changed", "hr_case_task", key, column="updated_at"),
        ),
    )


def user_skill(world: World, rng: Random) -> Draft | None:
    user, skill = rng.choice(world.rows("user")), rng.choice(world.rows("skill"))
    pair = {"skill": skill["skill_id"], "user": user["user_id"]}
    if world.rows("user_skill", pair):
        return None
    exact = Pick(where=expressions({"name": skill["name"]}))
    arguments = {"skill": "@skill.skill_id", "user": "@user.user_id"}
    return Draft(
        slots={"email": user["email"], "skill": skill["name"]},
        steps=(
            _user_step(user),
            read("skill", "list_skills", {"name": skill["name"]}, exact),
            write("done", "add_new_skill_to_user", arguments, READ_BACKS),
        ),
        checks=(
            holds("user has the skill", "user_skill", pair),
            only_written("no other skill given", "user_skill", pair, column="created_at"),
            row_count("one skill more", "user_skill", len(world.rows("user_skill")) + 1),
        ),
    )


def profile_position(world: World, rng: Random) -> Draft:
    user = rng.choice(world.rows("user"))
    profile = world.one("hr_profile", {"user_id": user["user_id"]})
    position = rng.choice([name for name in POSITIONS if name != profile["position"]])
    key = {"hr_profile_id": profile["hr_profile_id"]}
    arguments = {"hr_profile_id": "@profile.hr_profile_id", "position": position}
    return Draft(
        slots={"email": user["email"], "position": position},
        steps=(
            _user_step(user),
            read("profile", "get_users_hr_profile", {"user_id": "@user.user_id"}),
            write("done", "update_hr_profile", arguments, READ_BACKS),
        ),
        checks=(
            holds("position is set", "hr_profile", key | {"position": position}),
            holds("workplace is kept", "hr_profile", key | {"location_type": profile["location_type"]}),
            only_written("no other profile changed", "hr_profile", key, column="updated_at"),
        ),
    )


def member_remove(world: World, rng: Random) -> Draft:
    pair = rng.choice(world.rows("user_group_member"))
    user = world.one("user", {"user_id": pair["user_id"]})
    group = world.one("user_group", {"group_id": pair["group_id"]})
    arguments = {"group_id": "@group.group_id", "user_id": "@user.user_id"}
    return Draft(
        slots={"email": user["email"], "group": group["name"]},
        steps=(
            _user_step(user),
            _group_step(group),
            write("done", "remove_group_membership", arguments, READ_BACKS),
        ),
        checks=(
            gone("user is no member", "user_group_member", {"member_id": pair["member_id"]}),
            holds("group is kept", "user_group", {"group_id": group["group_id"]}),
            row_count("one member less", "user_group_member", len(world.rows("user_group_member")) - 1),
        ),
    )


def case_open(world: World, rng: Random) -> Draft:
    article, use = rng.choice(world.rows("knowledge")), rng.choice(USES)
    subject, centre, priority = Names(world.part, rng).occasion(), rng.choice(CENTRES), rng.choice(PRIORITIES)
    asked = {"short_description": subject, "coe_type": centre, "priority": priority}
    link = {"hr_case_id": "@case.hr_case_id", "knowledge_id": "@article.knowledge_id", "used_as": use}
    linked = f"knowledge_id = {article['knowledge_id']} AND used_as = '{use}' AND hr_case_id IN "
    linked += f"(SELECT hr_case_id FROM hr_case WHERE short_description = '{subject}')"
    query = f"SELECT COUNT(*) FROM hr_case_knowledge WHERE {linked}"
    exact = Pick(where=expressions({"title": article["title"]}))
    return Draft(
        slots={"title": article["title"], "use": use, "subject": subject, "centre": centre, "priority": priority},
        steps=(
            read("article", "retrieve_knowledge_articles", {"title": article["title"]}, exact),
            write("case", "create_new_hr_case", asked, READ_BACKS),
            write("done", "link_knowledge_to_hr_case", link, READ_BACKS),
        ),
        checks=(
            holds("case exists once", "hr_case", asked),
            CheckDraft(name="article is linked to it", query=query, expected=1),
            only_written("no other case written", "hr_case", asked, column="updated_at"),
            row_count("one link more", "hr_case_knowledge", len(world.rows("hr_case_knowledge")) + 1),
        ),
        edges=((0, 1),),
    )


TEMPLATES = (
    Template(
        name="hr_task_assign",
        patterns=(
            "Assign the task of case {number} to {first} {last}.",
            "{first} {last} takes the task of case {number}. Update it.",
            "Change who has the task of case {number}: {first} {last}.",
            "The task of case {number} goes to {first} {last}.",
        ),
        extra_tools=("get_user_using_email",),
        draw=task_assign,
    ),
    Template(
        name="hr_user_skill",
        patterns=(
            "Add the skill {skill} to {email}.",
            "{email} has a new skill: {skill}. Add it.",
            "Note that {email} has the skill {skill}.",
            "The skill {skill} belongs to {email} from now on.",
        ),
        extra_tools=("find_hr_case_by_number",),
        draw=user_skill,
    ),
    Template(
        name="hr_profile_position",
        patterns=(
            "Set the position of {email} to {position}.",
            "{email} now has the position {position}. Update the profile.",
            "Change the profile of {email} to position {position}.",
            "The position of {email} should be {position}.",
        ),
        extra_tools=("find_group_by_name",),
        draw=profile_position,
    ),
    Template(
        name="hr_member_remove",
        patterns=(
            "Take {email} out of the group {group}.",
            "{email} leaves {group}. Remove the member.",
            "Remove {email} from the group {group}.",
            "The group {group} loses a member: {email}.",
        ),
        extra_tools=("find_hr_case_by_number",),
        draw=member_remove,
    ),
    Template(
        name="hr_case_open",
        patterns=(
            "Open a {priority} case {subject} for {centre}. Link the article {title} to it as {use}.",
            "{centre} gets a new case: {subject}, priority {priority}. Link the article {title}, used as {use}.",
            "New {priority} case for {centre}: {subject}. Add the article {title}, used as {use}.",
            "Add a case {subject}, priority {priority}, for {centre}, with the article {title} as {use}.",
        ),
        extra_tools=("get_user_using_email",),
        draw=case_open,
    ),
)
