"""What the itsm and hr domains share: policy text, listed values, how their writes are read back. Data."""

from __future__ import annotations

from robustops.data.synth.draft import ReadBackRule

RULES = (
    "Call one tool at a time. Copy ids from replies. Change only what is asked. "
    "If a call was not executed, call again. If a reply is incomplete, read again. If the outcome of a write is "
    "unknown, read back first and repeat it only if it is missing. When all is done, answer Done."
)
ITSM_POLICY = f"You serve an IT service desk. {RULES}"
HR_POLICY = f"You serve a personnel office. An article is meant by its full title. {RULES}"

PRIORITIES = ("critical", "high", "moderate", "low")
USES = ("suggested", "applied", "resolution")  # of an article

READ_BACKS = {
    "update_configuration_item": ReadBackRule(tool="find_configuration_items", keys=("configuration_item_id",)),
    "update_incident": ReadBackRule(tool="find_incident_by_id", keys=("incident_id",)),
    "add_new_group_member": ReadBackRule(tool="list_group_members", keys=("group_id", "user_id")),
    "link_knowledge_to_hr_case": ReadBackRule(tool="find_hr_case_knowledge_links", keys=("hr_case_id", "knowledge_id")),
    "send_notification": ReadBackRule(tool="find_notifications", keys=("hr_case_id",)),
    "add_child_incident": ReadBackRule(tool="find_parent_incident", keys=("child_incident",)),
    "link_knowledge_to_incident": ReadBackRule(
        tool="find_incident_knowledge_links", keys=("incident_id", "knowledge_id")
    ),
    "create_incident": ReadBackRule(tool="list_incidents", keys=("caller_id",), renamed={"caller_id": "called_id"}),
    "link_affected_ci_to_incident": ReadBackRule(
        tool="list_incident_affected_cis", keys=("incident_id", "configuration_item")
    ),
    "add_new_skill_to_user": ReadBackRule(tool="list_user_skills", keys=("skill", "user")),
    "update_hr_profile": ReadBackRule(tool="get_hr_profile_by_id", keys=("hr_profile_id",)),
    "create_new_hr_case": ReadBackRule(tool="list_hr_cases", keys=("short_description",)),
    "remove_group_membership": ReadBackRule(tool="list_group_members", keys=("group_id", "user_id"), is_absent=True),
}
