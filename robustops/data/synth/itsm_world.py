"""What surrounds the incidents of a synthetic itsm database: services, articles, problems, changes, SLAs, links.

Called when users, groups, items and incidents are there; adds to the world, changes nothing in it.
"""

from __future__ import annotations

from robustops.data.synth.world import SEED_TIME, Row, World

KEYS = {
    "user_group_member": "member_id",
    "service": "service_id",
    "service_offering": "service_offering_id",
    "incident_template": "incident_template_id",
    "child_incident": "child_incident_mapping_id",
    "problem": "problem_id",
    "change": "change_id",
    "change_request_mapping": "change_request_mapping_id",
    "sla_definition": "sla_def_id",
    "incident_sla": "incident_sla_id",
    "incident_affected_cis": "incident_affected_cis_id",
    "knowledge": "knowledge_id",
    "incident_knowledge": "incident_kb_id",
    "notification": "notification_id",
}
PREFIXES = {
    "user_group_member": "MEMBER",
    "service": "SVC",
    "service_offering": "SVCOFF",
    "incident_template": "TMPL",
    "child_incident": "CINC",
    "problem": "PRB",
    "change": "CHG",
    "change_request_mapping": "CRM",
    "sla_definition": "SLA",
    "incident_sla": "TSLA",
    "incident_affected_cis": "TASKCI",
    "knowledge": "KB",
    "incident_knowledge": "IKB",
    "notification": "NOTIF",
}
ON = {"created_on": SEED_TIME, "updated_on": SEED_TIME}
AT = {"created_at": SEED_TIME, "updated_at": SEED_TIME}
LEVELS = ("high", "medium", "low")
TARGETS = {"critical": 60, "high": 240, "moderate": 480, "low": 1440}


def surround(world: World, org: str, few: int) -> None:
    """`few`: rows of a small table."""
    _add_services(world, org, few)
    _add_articles(world, org, few)
    _add_problems_and_changes(world, org, few)
    _add_slas(world, org)
    _add_links(world, org, few)


def _add_services(world: World, org: str, few: int) -> None:
    rng, managers = world.rng, world.rows("users", {"role": "manager"})
    kind = {"used_for": "production", "service_classification": "business", "business_criticality": "critical"}
    for _ in range(few):
        owner = rng.choice(managers)["user_id"]
        status = rng.choice(("operational", "repair_in_progress", "ready"))
        row: Row = {"name": world.names.product_line(), "owned_by": owner, "org_id": org, "status": status}
        service = world.add("service", row | kind | {"description": None} | ON)
        offering: Row = {"name": f"{service['name']} Basic", "owned_by": owner, "status": "operational"}
        offering |= {"business_service": service["service_id"], "short_description": None, "description": None}
        world.add("service_offering", offering | kind | {"org_id": org, **ON})
        template: Row = {"name": f"{service['name']} Outage", "caller_id": owner, "short_description": "No service"}
        template |= {"channel": "phone", "category": "software", "impact": "high", "urgency": "high"}
        template |= {"priority": "high", "service": service["service_id"], "active": 1}
        world.add("incident_template", template | {"org_id": org, **AT})


def _add_articles(world: World, org: str, few: int) -> None:
    for _ in range(few):
        row: Row = {"kb_number": world.names.number("KB"), "title": world.names.subject(), "body": None}
        row |= {"state": world.rng.choice(("draft", "published")), "visibility": "internal"}
        row |= {"owner_id": world.rng.choice(world.rows("users"))["user_id"], "org_id": org}
        world.add("knowledge", row | ON)


def _add_problems_and_changes(world: World, org: str, few: int) -> None:
    rng = world.rng
    for _ in range(few):
        line, priority = world.names.subject(), rng.choice(tuple(TARGETS))
        row: Row = {"number": world.names.number("PRB"), "problem_statement": line, "short_description": line}
        row |= {"opened_by": rng.choice(world.rows("users"))["user_id"], "status": rng.choice(("new", "assess"))}
        row |= {"category": "software", "impact": rng.choice(LEVELS), "urgency": "low", "priority": priority}
        world.add("problem", row | {"assigned_to": None, "assignment_group": None, "org_id": org, **ON})
    for _ in range(few):
        row = {"number": world.names.number("CHG"), "short_description": world.names.subject(), "category": "hardware"}
        row |= {"requested_by": rng.choice(world.rows("users"))["user_id"], "status": rng.choice(("new", "assess"))}
        row |= {"cab_required": rng.choice((0, 1)), "impact": rng.choice(LEVELS), "risk": rng.choice(LEVELS)}
        row |= {"priority": rng.choice(tuple(TARGETS)), "assigned_to": None, "assignment_group": None}
        world.add("change", row | {"org_id": org, **ON})


def _add_slas(world: World, org: str) -> None:
    for priority, minutes in TARGETS.items():
        row: Row = {"name": f"{world.names.company()} {priority}", "metric": "resolution", "target_mins": minutes}
        row |= {"pause_on_pending": 1, "applies_to_priority": priority, "active": 1, "schedule": None, "org_id": org}
        world.add("sla_definition", row | ON)
    for incident in world.rows("incident"):
        definition = world.one("sla_definition", {"applies_to_priority": incident["priority"]})
        stage = "completed" if incident["status"] == "resolved" else world.rng.choice(("in_progress", "paused"))
        row = {"incident_id": incident["incident_id"], "sla_def_id": definition["sla_def_id"], "stage": stage}
        row |= {"start_time": SEED_TIME, "has_breached": world.rng.choice((0, 1)), "org_id": org}
        world.add("incident_sla", row | ON)


def _add_links(world: World, org: str, few: int) -> None:
    """Each link joins rows that no other link of its table joins."""
    rng = world.rng
    for group in world.rows("user_group"):
        member = {"group_id": group["group_id"], "user_id": rng.choice(world.rows("users"))["user_id"]}
        world.add("user_group_member", member | {"org_id": org, **ON})
    few = min(few, len(world.rows("incident")) // 2)
    incidents = rng.sample(world.rows("incident"), 2 * few)
    for incident, other in zip(incidents[:few], incidents[few:], strict=True):
        key = {"incident_id": incident["incident_id"]}
        pair = {"parent_incident": incident["incident_id"], "child_incident": other["incident_id"]}
        world.add("child_incident", pair | AT)
        item = rng.choice(world.rows("configuration_item"))["configuration_item_id"]
        world.add("incident_affected_cis", {"configuration_item": item, **key, "org_id": org, **ON})
        article = rng.choice(world.rows("knowledge"))["knowledge_id"]
        world.add("incident_knowledge", key | {"knowledge_id": article, "org_id": org, "used_as": "suggested", **ON})
        change = rng.choice(world.rows("change"))["change_id"]
        world.add("change_request_mapping", {"change_id": change, **key, "problem_id": None, "org_id": org, **AT})
        email = rng.choice(world.rows("users"))["email"]
        notice: Row = {"email": email, "subject": "News", "message": None, "type": "update", "status": "sent"}
        world.add("notification", key | {"org_id": org} | notice | ON)
