"""One successful call for each csm tool that writes: cases, SLAs, interactions, knowledge and notifications."""

from __future__ import annotations

from csm_writes import STAMPS, TOUCHED, Write
from small_csm import FIRST_WRITE as NOW

CASE_WRITES: dict[str, Write] = {
    "create_new_case": (
        {
            "account_id": 1,
            "contact_id": 1,
            "channel": "phone",
            "priority": "high",
            "state": "new",
            "short_description": "No light",
        },
        "customer_case",
        {
            4: {
                "case_id": 4,
                "number": "CS-0000004",
                "account_id": 1,
                "contact_id": 1,
                "product_id": None,
                "installed_product_id": None,
                "channel": "phone",
                "priority": "high",
                "state": "new",
                "short_description": "No light",
                "assignment_group_id": None,
                "assigned_to": None,
                "escalation": 0,
                "escalation_reason": None,
                "reopen_count": 0,
                **STAMPS,
                "closed_on": None,
            }
        },
    ),
    "update_case": (
        {"case_id": 3, "state": "closed", "escalation": True},
        "customer_case",
        {3: {"state": "closed", "escalation": 1, **TOUCHED}},
    ),
    "link_new_case_sla": (
        {"case_id": 3, "sla_def_id": 1, "stage": "in_progress"},
        "case_sla",
        {
            4: {
                "case_sla_id": 4,
                "case_id": 3,
                "sla_def_id": 1,
                "stage": "in_progress",
                "start_time": NOW,
                "breach_time": None,
                "has_breached": 0,
                "completed_time": None,
            }
        },
    ),
    "update_case_sla_details": ({"case_sla_id": 2, "stage": "in_progress"}, "case_sla", {2: {"stage": "in_progress"}}),
    "delete_case_slas": ({"case_id": 1}, "case_sla", {1: None, 2: None}),
    "register_new_interaction": (
        {"channel": "chat", "status": "open", "case_id": 2},
        "interaction",
        {
            4: {
                "interaction_id": 4,
                "channel": "chat",
                "account_id": None,
                "contact_id": None,
                "case_id": 2,
                "interacted_user": None,
                "status": "open",
                "started_at": NOW,
                "ended_at": None,
                "sys_created_on": NOW,
            }
        },
    ),
    "update_interaction": ({"interaction_id": 1, "status": "handled"}, "interaction", {1: {"status": "handled"}}),
    "create_knowledge": (
        {"title": "Cables", "state": "draft", "body": "Blue is in.", "visibility": "internal", "owner_id": 1},
        "knowledge",
        {
            4: {
                "knowledge_id": 4,
                "kb_number": "KB000004",
                "title": "Cables",
                "body": "Blue is in.",
                "state": "draft",
                "visibility": "internal",
                "product_id": None,
                "owner_id": 1,
                **STAMPS,
            }
        },
    ),
    "update_knowledge": (
        {"knowledge_id": 2, "state": "published", "body": "is dropped"},
        "knowledge",
        {2: {"state": "published", **TOUCHED}},
    ),
    "link_case_knowledge": (
        {"case_id": 2, "knowledge_id": 2, "used_as": "resolution"},
        "case_knowledge",
        {3: {"case_kb_id": 3, "case_id": 2, "knowledge_id": 2, "used_as": "resolution"}},
    ),
    "updated_linked_case_knowledge": (
        {"case_kb_id": 2, "used_as": "applied"},
        "case_knowledge",
        {2: {"used_as": "applied"}},
    ),
    "delete_case_knowledge_linkages": ({"knowledge_id": 1, "used_as": "suggested"}, "case_knowledge", {2: None}),
    "send_notification": (
        {"case_id": 2, "email": "nobody@else.example", "type": "report"},
        "notification",
        {
            4: {
                "notification_id": 4,
                "case_id": 2,
                "knowledge_id": None,
                "email": "nobody@else.example",
                "type": "report",
                "status": "success",
                "sys_created_on": NOW,
            }
        },
    ),
    "update_notification": ({"notification_id": 2, "status": "success"}, "notification", {2: {"status": "success"}}),
    "delete_notifications": ({"created_before": "2025-02-03 00:00:00"}, "notification", {1: None, 2: None}),
}
