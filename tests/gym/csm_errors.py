"""One failing call for each of the 89 csm tools: its detail, or type, place and field of the first report."""

from __future__ import annotations

from typing import Any

Expected = str | tuple[str, str, str]


def misread(field: str, value: Any = "x") -> tuple[dict[str, Any], Expected]:
    return {field: value}, ("int_parsing", "query", field)


def not_listed(field: str) -> tuple[dict[str, Any], Expected]:
    return {field: "no such value"}, ("literal_error", "query", field)


def absent(field: str, place: str = "query") -> tuple[dict[str, Any], Expected]:
    return {}, ("missing", place, field)


def unknown(field: str, **others: Any) -> tuple[dict[str, Any], Expected]:
    return {field: 99, **others}, f"{field} not found"


NO_FILTER: tuple[dict[str, Any], Expected] = ({}, "At least one filter is required")
CASE = {
    "account_id": 1,
    "contact_id": 1,
    "channel": "web",
    "priority": "low",
    "state": "new",
    "short_description": "No light",
}
CONTRACT = {
    "account_id": 99,
    "contract_type": "support",
    "status": "draft",
    "start_date": "2026-01-01",
    "end_date": "2026-02-01",
}
LONG = "x" * 121

ERRORS: dict[str, tuple[dict[str, Any], Expected]] = {
    "find_user": ({"name": 5}, ("string_type", "query", "name")),
    "find_user_by_email": absent("email"),
    "find_account": ({"name": ""}, ("string_too_short", "query", "name")),
    "find_contact_by_portal_user": misread("portal_user_id"),
    "find_product": absent("name"),
    "find_product_by_id": ({"product_id": 1.5}, ("int_from_float", "query", "product_id")),
    "find_installed_product_by_serial": ({"serial_number": ""}, ("string_too_short", "query", "serial_number")),
    "find_location": absent("name"),
    "find_user_group": ({"name": ["Depot"]}, ("string_type", "query", "name")),
    "check_user_membership": ({"user_id": 1}, ("missing", "query", "group_id")),
    "assign_case_to_user": ({"case_id": 1, "assigned_to_user_id": 99}, "assigned_to_user_id not found"),
    "set_case_assignment_group": ({"case_id": 1, "assignment_group_id": 99}, "assignment_group_id not found"),
    "list_users": not_listed("role"),
    "list_user_groups": misread("group_id"),
    "list_group_members": misread("member_id"),
    "get_accounts": ({"account_types": "customer"}, ("list_type", "query", "account_types")),
    "find_contacts": ({"active": "perhaps"}, ("bool_parsing", "query", "active")),
    "find_locations": misread("location_id"),
    "find_products": not_listed("category"),
    "installed_product_warranties_ended_count": absent("on_date"),
    "avg_installed_per_account_by_status": misread("product_id"),
    "count_installed_product_by_status": misread("account_id"),
    "retrieve_installed_products": not_listed("status"),
    "count_contract_by_status": not_listed("contract_type"),
    "avg_contracts_per_account_by_status": not_listed("contract_type"),
    "find_contracts": misread("contract_price_range_end"),
    "total_sum_of_max_cases_per_support_level": not_listed("support_level"),
    "find_entitlements": not_listed("coverage_hours"),
    "total_sum_of_target_mins_per_priority": not_listed("priority"),
    "find_sla_definitions": ({"name": ""}, ("string_too_short", "query", "name")),
    "average_target_mins_per_priority": ({"priority_list": "low"}, ("list_type", "query", "priority_list")),
    "get_cases_assigned_to": misread("assigned_to"),
    "get_average_case_reopen_count": not_listed("channel"),
    "get_count_of_cases_priority_wise": not_listed("priority"),
    "count_case_for_assignment_group": absent("assignment_group_id"),
    "count_case_by_state": misread("assignment_group_id"),
    "avg_reopen_count_for_assignment_group": absent("assignment_group_id"),
    "search_cases": not_listed("escalation_reason"),
    "find_case_slas": not_listed("stage"),
    "find_stage_wise_breached_case_sla_counts": not_listed("stage"),
    "find_interactions": misread("interacted_user"),
    "count_interaction_by_status": not_listed("channel"),
    "avg_interactions_per_case_by_status": misread("contact_id"),
    "get_channel_wise_case_count": not_listed("channel"),
    "retrieve_knowledge": misread("limit"),
    "find_case_knowledge_linkages": not_listed("used_as"),
    "find_notifications": not_listed("type"),
    "count_notifications_by_status": not_listed("status"),
    "count_notifications_by_case": misread("case_id"),
    "avg_notifications_by_case": misread("case"),
    "count_notifications_by_type": ({"type": "update"}, ("list_type", "query", "type")),
    "add_new_user": (
        {"first_name": "A", "last_name": "B", "email": "ada@desk.example", "role": "agent", "active": True},
        "email already exists",
    ),
    "update_user_details": ({"user_id": 2, "location_id": 99}, "Invalid location_id"),
    "add_new_user_group": ({"name": "Depot", "type": "field", "active": True}, "name already exists"),
    "update_user_group": ({"group_id": 3, "name": "First Line"}, "name already exists"),
    "add_new_group_member": ({"group_id": 1, "user_id": 1}, "group_id, user_id already exists"),
    "remove_group_membership": ({"group_id": 1}, "member_id or group_id and user_id is required"),
    "create_new_account": ({"name": "Nord", "account_type": "partner", "active": True}, "name already exists"),
    "update_account_details": unknown("account_id", active=False),
    "create_contact": (
        {"account_id": 1, "portal_user_id": 99, "active": True, "is_primary": False},
        "Invalid portal_user_id",
    ),
    "update_contact": ({"contact_id": 1}, "No fields to update"),
    "add_location": (
        {"name": "X", "active": True, "city": "paris", "country": "uk"},
        ("literal_error", "body", "city"),
    ),
    "update_location": unknown("location_id", active=False),
    "add_new_product": (
        {"name": "Router X", "category": "hardware", "lifecycle_state": "active"},
        "name already exists",
    ),
    "update_product": unknown("product_id", product_price=1),
    "delete_products": NO_FILTER,
    "register_new_installed_product": (
        {"account_id": 1, "product_id": 1, "serial_number": "SN-1", "status": "in_use"},
        "account_id, product_id, serial_number already exists",
    ),
    "update_installed_product_details": ({"installed_product_id": 1}, "No fields to update"),
    "enlist_new_contract": (CONTRACT, "Invalid account_id"),
    "update_contract": unknown("contract_id", status="active"),
    "add_new_entitlement": (
        {"account_id": 1, "support_level": "gold", "active": True},
        ("literal_error", "body", "support_level"),
    ),
    "update_entitlement": ({"entitlement_id": 1, "contract_id": 99}, "Invalid contract_id"),
    "add_new_sla_definition": absent("metric", "body"),
    "update_sla_definition": ({"sla_def_id": 1, "name": ""}, ("string_too_short", "body", "name")),
    "create_new_case": ({**CASE, "short_description": "x" * 501}, ("string_too_long", "body", "short_description")),
    "update_case": ({"case_id": 1, "assigned_to": 99}, "Invalid assigned_to"),
    "link_new_case_sla": ({"case_id": 99, "sla_def_id": 1, "stage": "paused"}, "Invalid case_id"),
    "update_case_sla_details": unknown("case_sla_id", stage="paused"),
    "delete_case_slas": NO_FILTER,
    "register_new_interaction": ({"channel": "web", "status": "open", "contact_id": 99}, "Invalid contact_id"),
    "update_interaction": ({"interaction_id": 1}, "No fields to update"),
    "create_knowledge": (
        {"title": "T", "state": "draft", "body": LONG, "visibility": "internal", "owner_id": 1},
        "[{'type': 'string_too_long', 'loc': ['body', 'body'], 'msg': 'String should have at most 120 characters', "
        f"'input': '{LONG}', 'ctx': {{'max_length': 120}}}}]",
    ),
    "update_knowledge": ({"knowledge_id": 1, "body": "new text"}, "No fields to update"),
    "link_case_knowledge": (
        {"case_id": 1, "knowledge_id": 1, "used_as": "applied"},
        "case_id, knowledge_id already exists",
    ),
    "updated_linked_case_knowledge": ({"case_kb_id": 2, "case_id": 1}, "case_id, knowledge_id already exists"),
    "delete_case_knowledge_linkages": NO_FILTER,
    "send_notification": ({"case_id": 99, "email": "a@b.example", "type": "alert"}, "Invalid case_id"),
    "update_notification": ({"notification_id": 1, "knowledge_id": 99}, "Invalid knowledge_id"),
    "delete_notifications": NO_FILTER,
}
