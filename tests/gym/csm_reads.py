"""One successful call for each csm tool that reads, over the database of `small_csm`.

The right values are those of the recorded rules; where a rule is only a guess, docs/gym_rules.md says so.
"""

from __future__ import annotations

from typing import Any

ROWS = "rows"  # a list reply, told by the keys of its rows

USER_1 = {
    "user_id": 1,
    "first_name": "Ada",
    "last_name": "Stone",
    "email": "ada@desk.example",
    "role": "agent",
    "location_id": 1,
    "active": 1,
}
PRODUCT_1 = {"product_id": 1, "name": "Router X", "category": "hardware", "lifecycle_state": "active"}

READS: dict[str, tuple[dict[str, Any], Any]] = {
    "find_user": ({"name": "ADA stone"}, USER_1),
    "find_user_by_email": ({"email": "ada@desk.example"}, USER_1),
    "find_account": (
        {"name": "Nord"},
        {"account_id": 1, "name": "Nord", "account_type": "customer", "email_domain": "nord.example", "active": 1},
    ),
    "find_contact_by_portal_user": (
        {"portal_user_id": 3},
        {"contact_id": 2, "account_id": 2, "portal_user_id": 3, "active": 0},
    ),
    "find_product": ({"name": "Router X"}, PRODUCT_1),
    "find_product_by_id": ({"product_id": 1}, PRODUCT_1),
    "find_installed_product_by_serial": (
        {"serial_number": "SN-3"},
        {
            "installed_product_id": 3,
            "account_id": 2,
            "product_id": 1,
            "location_id": 2,
            "serial_number": "SN-3",
            "status": "repair",
            "warranty_end": None,
        },
    ),
    "find_location": (
        {"name": "Plant South"},
        {"location_id": 2, "name": "Plant South", "city": "tokyo", "country": "japan", "active": 0},
    ),
    "find_user_group": ({"name": "Depot"}, {"group_id": 3, "name": "Depot", "type": "field", "active": 0}),
    "check_user_membership": ({"user_id": 3, "group_id": 2}, {"exists": True, "member_id": 2}),
    "list_users": ({"first_name": "a", "role": "agent", "active": True}, (ROWS, 1)),
    "list_user_groups": ({"name": "first line"}, (ROWS, 1, 2)),
    "list_group_members": ({"group_id": 2}, (ROWS, 2)),
    "get_accounts": ({"name": "nord", "account_types": ["partner", "internal"]}, (ROWS, 2)),
    "find_contacts": ({"is_primary": False}, (ROWS, 2)),
    "find_locations": ({"plot_no": "7"}, (ROWS, 1)),
    "find_products": ({"name": "x_p"}, (ROWS, 2)),
    "installed_product_warranties_ended_count": ({"on_date": "2025-01-31"}, {"ended_count": 1}),
    "avg_installed_per_account_by_status": (
        {},
        [
            {"account_id": 1, "status": "in_use", "avg_installed_per_account": 2.0},
            {"account_id": 2, "status": "repair", "avg_installed_per_account": 1.0},
        ],
    ),
    "count_installed_product_by_status": (
        {},
        [{"status": "in_use", "count": 2}, {"status": "repair", "count": 1}],
    ),
    "retrieve_installed_products": ({"account_id": 1, "status": "in_use"}, (ROWS, 1, 2)),
    "count_contract_by_status": (
        {"account_id": 1},
        [{"status": "active", "count": 2}, {"status": "expired", "count": 1}],
    ),
    "avg_contracts_per_account_by_status": (
        {},
        [
            {"status": "active", "avg_contracts_per_account": 1.5},
            {"status": "expired", "avg_contracts_per_account": 1.0},
        ],
    ),
    "find_contracts": ({"contract_price_range_start": 500, "contract_price_range_end": 1000}, (ROWS, 1, 2)),
    "total_sum_of_max_cases_per_support_level": ({}, {"support_level": "all", "sum": 35}),
    "find_entitlements": ({"support_level": "standard", "active": True}, (ROWS, 1)),
    "total_sum_of_target_mins_per_priority": ({"priority": "critical"}, {"priority": "critical", "sum": 510}),
    "find_sla_definitions": ({"applies_to_priority": "critical", "pause_on_pending": True}, (ROWS, 2)),
    "average_target_mins_per_priority": (
        {"priority_list": ["critical", "low"]},
        [{"priority": "critical", "avg_target_mins": 255.0}, {"priority": "low", "avg_target_mins": 960.0}],
    ),
    "get_cases_assigned_to": ({"assignment_group_id": 1}, (ROWS, 1, 2)),
    "get_average_case_reopen_count": ({"channel": "web"}, {"avg_reopen_count": 1.5}),
    "get_count_of_cases_priority_wise": ({}, [{"priority": "critical", "count": 2}, {"priority": "low", "count": 1}]),
    "count_case_for_assignment_group": (
        {"assignment_group_id": 1, "state": "new"},
        {"assignment_group_id": 1, "count": 1},
    ),
    "count_case_by_state": (
        {},
        [{"state": "closed", "count": 1}, {"state": "new", "count": 1}, {"state": "pending", "count": 1}],
    ),
    "avg_reopen_count_for_assignment_group": (
        {"assignment_group_id": 1},
        {"assignment_group_id": 1, "avg_reopen_count": 1.0},
    ),
    "search_cases": ({"short_description": "ROUTER", "created_after": "2025-02-01 00:00:00"}, (ROWS, 3)),
    "find_case_slas": ({"case_id": 1, "has_breached": True}, (ROWS, 1)),
    "find_stage_wise_breached_case_sla_counts": (
        {},
        {"in_progress": 1, "paused": 0, "completed": 1, "canceled": 0},
    ),
    "find_interactions": ({"started_at_before": "2025-02-05 09:00:00", "channel": "phone"}, (ROWS, 1)),
    "count_interaction_by_status": ({}, [{"status": "closed", "count": 1}, {"status": "open", "count": 2}]),
    "avg_interactions_per_case_by_status": (
        {"contact_id": 1},
        [
            {"status": "closed", "avg_interactions_per_case": 1.0},
            {"status": "open", "avg_interactions_per_case": 1.0},
        ],
    ),
    "get_channel_wise_case_count": (
        {},
        {"web": 2, "email": 1, "phone": 0, "chat": 0, "social": 0, "alert": 0, "community": 0},
    ),
    "retrieve_knowledge": ({"state": "published"}, (ROWS, 3, 1)),
    "find_case_knowledge_linkages": ({"knowledge_id": 1}, (ROWS, 1, 2)),
    "find_notifications": ({"email": "ben@nord.example", "status": "failed"}, (ROWS, 2)),
    "count_notifications_by_status": ({"status": "success"}, {"status": "success", "count": 2}),
    "count_notifications_by_case": ({"case_id": 1}, {"count": 2}),
    "avg_notifications_by_case": ({}, {"avg_count": 1.5}),
    "count_notifications_by_type": ({"type": ["update", "report"]}, [{"type": "update", "count": 2}]),
}
