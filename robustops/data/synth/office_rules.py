"""What the small itsm and hr domains share: the policy text and how their writes are read back. Data."""

from __future__ import annotations

from robustops.data.synth.draft import ReadBackRule

RULES = (
    "Call one tool at a time. Copy ids from replies. Change only what is asked. "
    "If a call was not executed, call again. If a reply is incomplete, read again. If the outcome of a write is "
    "unknown, read back first and repeat it only if it is missing. When all is done, answer Done."
)
ITSM_POLICY = f"You serve an IT service desk. {RULES}"
HR_POLICY = f"You serve a personnel office. An article is meant by its full title. {RULES}"

READ_BACKS = {
    "update_configuration_item": ReadBackRule(tool="find_configuration_items", keys=("configuration_item_id",)),
    "update_incident": ReadBackRule(tool="find_incident_by_id", keys=("incident_id",)),
    "add_new_group_member": ReadBackRule(tool="list_group_members", keys=("group_id", "user_id")),
    "link_knowledge_to_hr_case": ReadBackRule(tool="find_hr_case_knowledge_links", keys=("hr_case_id", "knowledge_id")),
    "send_notification": ReadBackRule(tool="find_notifications", keys=("hr_case_id",)),
}
