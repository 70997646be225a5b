"""What surrounds the cases of a synthetic hr database: profiles, skills, services, tasks, surveys, rules.

Called when users, groups, articles and cases are there; adds to the world, changes nothing in it.
"""

from __future__ import annotations

import json
from itertools import pairwise

from robustops.data.synth.world import SEED_TIME, Row, World

KEYS = {
    "hr_profile": "hr_profile_id",
    "skill": "skill_id",
    "user_skill": "user_skill_id",
    "hr_criteria": "hr_criteria_id",
    "topic_category": "topic_category_id",
    "topic_detail": "topic_detail_id",
    "service_template": "service_template_id",
    "hr_service": "hr_service_id",
    "hr_case_task": "hr_case_task_id",
    "checklist": "checklist_id",
    "survey": "survey_id",
    "survey_instance": "survey_instance_id",
    "assignment_rules": "assignment_rule_id",
    "escalation_rule": "escalation_rule_id",
}
AT = {"created_at": SEED_TIME, "updated_at": SEED_TIME}
CENTRES = ("HRIT", "Payroll", "Talent Management", "Total Rewards", "Workforce Administration")
COUNTRIES = ("US", "GB", "CA", "IN", "DE", "FR", "JP", "CN", "AU", "BR")
POSITIONS = ("Software Engineer", "QA", "HR", "IT Support", "Administration", "Sales")


def surround(world: World, org: int, few: int) -> None:
    """`few`: rows of a small table."""
    own = {"org_id": org, **AT}
    _add_profiles(world, own)
    _add_skills(world, own, few)
    _add_services(world, own)
    _add_tasks(world, own)
    _add_surveys(world, own, few)
    _add_rules(world, own, few)


def _add_profiles(world: World, own: Row) -> None:
    rng = world.rng
    for number, user in enumerate(world.rows("user"), start=1):
        name = f"{user['first_name']}.{user['last_name']}".lower()
        row: Row = {"number": world.names.number("HRP"), "user_id": user["user_id"], "gender": None}
        row |= {"personal_email": f"{name}@home.example", "type": rng.choice(("full-time", "part-time", "contractor"))}
        row |= {"nationality": rng.choice(COUNTRIES), "employment_start_date": "2024-01-01 09:00:00"}
        row |= {"employment_end_date": None, "manager": None, "location_type": rng.choice(("Remote", "Hotdesk"))}
        row |= {"national_tax_id": f"TAX-{own['org_id']}-{number:03d}", "position": rng.choice(POSITIONS)}
        world.add("hr_profile", row | own)


def _add_skills(world: World, own: Row, few: int) -> None:
    for _ in range(few):
        skill = world.add("skill", {"name": world.names.product_line(), "active": 1, **own})
        user = world.rng.choice(world.rows("user"))
        world.add("user_skill", {"skill": skill["skill_id"], "user": user["user_id"], **own})


def _add_services(world: World, own: Row) -> None:
    """One of each kind for each centre."""
    for centre in CENTRES:
        name = world.names.product_line()
        category = world.add("topic_category", {"name": name, "active": 1, "coe_type": centre, **own})
        topic: Row = {"active": 1, "name": f"{name} Topics", "topic_category": category["topic_category_id"]}
        detail = world.add("topic_detail", topic | own)
        values = json.dumps({"short_description": name, "category": "hr"})
        form: Row = {"name": f"{name} Form", "change_request_values": values, "active": 1, "coe_type": centre}
        template = world.add("service_template", form | own)
        approval: Row = {"name": f"{name} Approval", "type": "approval", "active": 1, "user_group": None, "users": None}
        criteria = world.add("hr_criteria", approval | own)
        service: Row = {"service_name": f"{name} Service", "fulfillment_type": "manual", "active": 1}
        service |= {"topic_detail": detail["topic_detail_id"], "service_template": template["service_template_id"]}
        world.add("hr_service", service | {"hr_criteria": criteria["hr_criteria_id"], **own})


def _add_tasks(world: World, own: Row) -> None:
    rng = world.rng
    for case in world.rows("hr_case"):
        row: Row = {"number": world.names.number("HRT"), "status": rng.choice(("draft", "ready", "work_in_progress"))}
        row |= {"assigned_to": rng.choice(world.rows("user"))["user_id"], "assignment_group": None}
        row |= {"short_description": case["short_description"], "task_type": "checklist", "active": 1}
        task = world.add("hr_case_task", row | {"parent_case": case["hr_case_id"], **own})
        item: Row = {"checklist_item_description": f"Read about {case['short_description']}", "checked": 0}
        world.add("checklist", item | {"case_task_id": task["hr_case_task_id"], **own})


def _add_surveys(world: World, own: Row, few: int) -> None:
    rng = world.rng
    for _ in range(few):
        questions: Row = {"question_1": f"How was {world.names.product_line()}?", "question_2": None}
        survey = world.add("survey", questions | own)
        instance: Row = {"survey_id": survey["survey_id"], "assigned_to": rng.choice(world.rows("user"))["user_id"]}
        instance |= {"case_task_id": rng.choice(world.rows("hr_case_task"))["hr_case_task_id"], "answer_1": None}
        world.add("survey_instance", instance | own)


def _add_rules(world: World, own: Row, few: int) -> None:
    rng, groups = world.rng, [group["group_id"] for group in world.rows("user_group")]
    for _ in range(few):
        skills = [skill["skill_id"] for skill in rng.sample(world.rows("skill"), 2)]
        row: Row = {"name": world.names.company(), "based_on_skills": json.dumps(skills), "active": rng.choice((0, 1))}
        row |= {"based_on_country": rng.choice(COUNTRIES), "based_on_priority": "planning"}
        world.add("assignment_rules", row | {"user_group": rng.choice(groups), "users": None, **own})
    for source, target in pairwise(groups):
        world.add("escalation_rule", {"escalate_from": source, "escalate_to": target, **own})
