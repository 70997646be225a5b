"""Cases of the hr tools for articles, rules, counts and notifications."""

from __future__ import annotations

from hr_people_cases import found
from small_hr import NEW, TOUCHED
from tool_cases import Refused, Success


def sent(*ids):
    return {"notifications": [{"notification_id": one} for one in ids], "count": len(ids)}


SUCCESSES = {
    "retrieve_knowledge_articles": Success(
        arguments={"title": "WORKS", "owner_id": None}, reply=found("knowledges", "knowledge_id", 1)
    ),
    "create_knowledge_article": Success(
        arguments={"title": "Leave"},
        reply={"knowledge_id": 3, "kb_number": "KB-001", "state": "published", "visibility": "internal"},
        changes={"knowledge": {3: {"title": "Leave", "kb_number": "KB-001", "state": "published", **NEW}}},
    ),
    "update_knowledge_article": Success(
        arguments={"kb_number": "KB0040002", "state": "published"},
        reply={"knowledge_id": 2, "kb_number": "KB0040002", "changes": ["state"]},
        changes={"knowledge": {2: {"state": "published", **TOUCHED}}},
    ),
    "link_knowledge_to_hr_case": Success(
        arguments={"hr_case_id": 1, "knowledge_id": 2},
        reply={"hr_case_kb_id": 3, "used_as": "suggested"},
        changes={"hr_case_knowledge": {3: {"hr_case_id": 1, "knowledge_id": 2, "used_as": "suggested", **NEW}}},
    ),
    "find_hr_case_knowledge_links": Success(
        arguments={"hr_case_id": 3, "used_as": "applied"}, reply=found("hr_case_knowledge_links", "hr_case_kb_id", 2)
    ),
    "remove_knowledge_link_to_hr_case": Success(
        arguments={"hr_case_kb_id": 1, "hr_case_id": 3},  # the link's own id goes first
        reply={"deleted_count": 1},
        changes={"hr_case_knowledge": {1: None}},
    ),
    "list_assignment_rules": Success(
        arguments={"based_on_skills": "2,3"},
        reply={"assignment_rules": [{"assignment_rule_id": 1, "based_on_skills": [1, 3], "users": [2]}]},
    ),
    "add_new_assignment_rule": Success(
        arguments={"name": "Names", "users": [1, 4], "user_group": 3},
        reply={"assignment_rule_id": 3, "users": [1, 4], "active": False, "based_on_priority": "planning"},
        changes={
            "assignment_rules": {
                3: {"name": "Names", "users": "[1, 4]", "based_on_skills": None, "user_group": 3, "active": 0, **NEW}
            }
        },
    ),
    "update_assignment_rules": Success(
        arguments={"assignment_rule_id": 1, "users": [2], "based_on_skills": [3]},
        reply={"based_on_skills": [3], "changes": ["based_on_skills"]},
        changes={"assignment_rules": {1: {"based_on_skills": "[3]", **TOUCHED}}},
    ),
    "list_escalation_rules": Success(
        arguments={"escalate_to": "3"},
        reply={
            "escalation_rules": [
                {
                    "escalation_rule_id": 1,
                    "escalate_from_group_name": "Payroll Desk",
                    "escalate_to_group_name": "Second Desk",
                }
            ]
        },
    ),
    "add_new_escalation_rule": Success(
        arguments={"escalate_from": "3", "escalate_to": "1"},
        reply={"escalation_rule_id": 2, "escalate_from_group_name": "Second Desk"},
        changes={"escalation_rule": {2: {"escalate_from": 3, "escalate_to": 1, **NEW}}},
    ),
    "remove_escalation_rule": Success(
        arguments={"escalation_rule_id": "1"},
        reply={"escalation_rule_id": 1, "escalate_to_group_name": "Second Desk"},
        changes={"escalation_rule": {1: None}},
    ),
    "get_count_of_case_priority_wise": Success(
        arguments={"priority_list": ["critical", "low"]}, reply={"critical": 0, "low": 1}
    ),
    "count_case_for_assignment_group": Success(
        arguments={"assignment_group_id": 1, "statuses": ["draft", "ready"]},
        reply={"assignment_group_id": 1, "count": 1},
    ),
    "count_case_task_for_assignment_group": Success(
        arguments={"assignment_group_id": 1, "statuses": ["ready"]}, reply={"assignment_group_id": 1, "count": 1}
    ),
    "count_notifications_by_status": Success(arguments={}, reply={"draft": 1, "ready": 2}),
    "count_notifications_by_case": Success(arguments={"case_ids": [1, 2]}, reply={"count": 3}),
    "avg_notifications_by_case": Success(arguments={}, reply={"average": 1.5}),  # three for the cases 1 and 3
    "count_notifications_by_type": Success(arguments={"type": ["update", "other"]}, reply={"update": 2, "other": 0}),
    "find_notifications_for_email": Success(arguments={"email": "ben@north.example"}, reply=sent(1, 4)),
    "find_notifications_sent_for_incident": Success(arguments={"hr_case_id": 1}, reply=sent(1, 3, 4)),
    "find_notifications": Success(arguments={"hr_case_id": 1, "sys_created_on": "2025-03-03T08:00:00Z"}, reply=sent(3)),
    "send_notification": Success(
        arguments={"hr_case_id": 1, "email": "ben@north.example", "type": "alert"},
        reply={"notification_id": 5, "status": "draft"},
        changes={
            "notification": {
                5: {"hr_case_id": 1, "email": "ben@north.example", "type": "alert", "status": "draft", **NEW}
            }
        },
    ),
    "update_notification": Success(
        arguments={"notification_id": 1, "status": "ready", "type": "update"},
        reply={"status": "ready", "changes": ["status"]},
        changes={"notification": {1: {"status": "ready", **TOUCHED}}},
    ),
    "delete_notifications": Success(
        arguments={"type": "update", "created_after": "2025-01-01"},  # the other organisation's stays
        reply={"deleted_count": 2},
        changes={"notification": {1: None, 4: None}},
    ),
}

REFUSALS = {
    "retrieve_knowledge_articles": Refused(arguments={"state": "review"}),
    "create_knowledge_article": Refused(arguments={"title": "Leave", "owner_id": 3}),
    "update_knowledge_article": Refused(arguments={"state": "published"}),
    "link_knowledge_to_hr_case": Refused(arguments={"hr_case_id": 1, "knowledge_id": 1}),
    "find_hr_case_knowledge_links": Refused(arguments={"used_as": "cited"}),
    "remove_knowledge_link_to_hr_case": Refused(arguments={"knowledge_id": 1}),
    "list_assignment_rules": Refused(arguments={"limit": 10}),
    "add_new_assignment_rule": Refused(arguments={"name": "Names", "users": [1, 3]}),
    "update_assignment_rules": Refused(arguments={"assignment_rule_id": 1, "users": [2]}),
    "list_escalation_rules": Refused(arguments={}),
    "add_new_escalation_rule": Refused(arguments={"escalate_from": "1", "escalate_to": "2"}),
    "remove_escalation_rule": Refused(arguments={"escalation_rule_id": "9"}),
    "get_count_of_case_priority_wise": Refused(arguments={"priority_list": ["urgent"]}),
    "count_case_for_assignment_group": Refused(arguments={"assignment_group_id": 2}),
    "count_case_task_for_assignment_group": Refused(arguments={"assignment_group_id": 1, "statuses": ["done"]}),
    "count_notifications_by_status": Refused(arguments={"status": ["sent"]}),
    "count_notifications_by_case": Refused(arguments={"case_ids": ["first"]}),
    "avg_notifications_by_case": Refused(arguments={"case_ids": 1}),
    "count_notifications_by_type": Refused(arguments={"type": ["letter"]}),
    "find_notifications_for_email": Refused(arguments={}),
    "find_notifications_sent_for_incident": Refused(arguments={"hr_case_id": 2}),
    "find_notifications": Refused(arguments={"status": "sent"}),
    "send_notification": Refused(arguments={"hr_case_id": 1, "email": "cy@south.example"}),
    "update_notification": Refused(arguments={"notification_id": 2, "status": "ready"}),
    "delete_notifications": Refused(arguments={"email": "nobody@north.example"}),
}
