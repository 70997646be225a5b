"""One successful call for each csm tool that writes: people, accounts, products, contracts, assignments."""

from __future__ import annotations

from typing import Any

from small_csm import FIRST_WRITE as NOW

STAMPS = {"sys_created_on": NOW, "sys_updated_on": NOW}
TOUCHED = {"sys_updated_on": NOW}

Write = tuple[dict[str, Any], str, dict[int, Any]]  # a row that is gone is None, a changed one its new values

WRITES: dict[str, Write] = {
    "assign_case_to_user": (
        {"case_id": 2, "assigned_to_user_id": 3},
        "customer_case",
        {2: {"assigned_to": 3, **TOUCHED}},
    ),
    "set_case_assignment_group": (
        {"case_id": 2, "assignment_group_id": 2},
        "customer_case",
        {2: {"assignment_group_id": 2, **TOUCHED}},
    ),
    "add_new_user": (
        {"first_name": "Di", "last_name": "Orr", "email": "di@desk.example", "role": "agent", "active": True},
        "user",
        {
            4: {
                "user_id": 4,
                "first_name": "Di",
                "last_name": "Orr",
                "email": "di@desk.example",
                "phone": None,
                "role": "agent",
                "location_id": None,
                "active": 1,
                **STAMPS,
            }
        },
    ),
    "update_user_details": ({"user_id": 2, "phone": "+442"}, "user", {2: {"phone": "+442", **TOUCHED}}),
    "add_new_user_group": (
        {"name": "Second Line", "type": "backoffice", "active": False},
        "user_group",
        {4: {"group_id": 4, "name": "Second Line", "type": "backoffice", "active": 0, **STAMPS}},
    ),
    "update_user_group": ({"group_id": 3, "active": True}, "user_group", {3: {"active": 1, **TOUCHED}}),
    "add_new_group_member": (
        {"group_id": 1, "user_id": 3},
        "user_group_member",
        {3: {"member_id": 3, "group_id": 1, "user_id": 3, "sys_created_on": NOW}},
    ),
    "remove_group_membership": ({"group_id": 2, "user_id": 3}, "user_group_member", {2: None}),
    "create_new_account": (
        {"name": "Ostra", "account_type": "customer", "active": True},
        "account",
        {
            4: {
                "account_id": 4,
                "name": "Ostra",
                "account_type": "customer",
                "email_domain": None,
                "active": 1,
                **STAMPS,
            }
        },
    ),
    "update_account_details": (
        {"account_id": 2, "email_domain": "trade.example"},
        "account",
        {2: {"email_domain": "trade.example", **TOUCHED}},
    ),
    "create_contact": (
        {"account_id": 2, "portal_user_id": 2, "active": True, "is_primary": True},
        "contact",
        {3: {"contact_id": 3, "account_id": 2, "portal_user_id": 2, "active": 1, "is_primary": 1, **STAMPS}},
    ),
    "update_contact": ({"contact_id": 2, "is_primary": True}, "contact", {2: {"is_primary": 1, **TOUCHED}}),
    "add_location": (
        {"name": "Plant West", "active": True, "city": "sydney", "country": "australia", "street": "Bay 1"},
        "location",
        {
            3: {
                "location_id": 3,
                "name": "Plant West",
                "plot_no": None,
                "street": "Bay 1",
                "city": "sydney",
                "country": "australia",
                "active": 1,
                **STAMPS,
            }
        },
    ),
    "update_location": ({"location_id": 1, "active": False}, "location", {1: {"active": 0, **TOUCHED}}),
    "add_new_product": (
        {"name": "Switch", "category": "hardware", "lifecycle_state": "active"},
        "product",
        {
            4: {
                "product_id": 4,
                "name": "Switch",
                "category": "hardware",
                "product_price": None,
                "lifecycle_state": "active",
                **STAMPS,
            }
        },
    ),
    "update_product": ({"product_id": 1, "product_price": 120}, "product", {1: {"product_price": 120, **TOUCHED}}),
    "delete_products": ({"category": "hardware", "lifecycle_state": "retired"}, "product", {2: None}),
    "register_new_installed_product": (
        {"account_id": 2, "product_id": 2, "serial_number": "SN-4", "status": "in_stock"},
        "installed_product",
        {
            4: {
                "installed_product_id": 4,
                "account_id": 2,
                "product_id": 2,
                "location_id": None,
                "serial_number": "SN-4",
                "status": "in_stock",
                "warranty_end": None,
                **STAMPS,
            }
        },
    ),
    "update_installed_product_details": (
        {"installed_product_id": 3, "status": "in_use", "location_id": 1},
        "installed_product",
        {3: {"status": "in_use", "location_id": 1, **TOUCHED}},
    ),
    "enlist_new_contract": (
        {
            "account_id": 2,
            "contract_type": "warranty",
            "status": "draft",
            "start_date": "2026-01-01",
            "end_date": "2026-12-31",
        },
        "contract",
        {
            5: {
                "contract_id": 5,
                "account_id": 2,
                "contract_type": "warranty",
                "status": "draft",
                "contract_price": None,
                "start_date": "2026-01-01",
                "end_date": "2026-12-31",
                **STAMPS,
            }
        },
    ),
    "update_contract": ({"contract_id": 3, "contract_price": 700}, "contract", {3: {"contract_price": 700, **TOUCHED}}),
    "add_new_entitlement": (
        {"account_id": 2, "support_level": "enterprise", "active": True},
        "entitlement",
        {
            4: {
                "entitlement_id": 4,
                "account_id": 2,
                "product_id": None,
                "contract_id": None,
                "support_level": "enterprise",
                "coverage_hours": "h8x5",
                "max_cases_per_month": 0,
                "active": 1,
                **STAMPS,
            }
        },
    ),
    "update_entitlement": (
        {"entitlement_id": 3, "active": True, "coverage_hours": "h24x7"},
        "entitlement",
        {3: {"active": 1, "coverage_hours": "h24x7", **TOUCHED}},
    ),
    "add_new_sla_definition": (
        {"metric": "response", "target_mins": 60, "name": "Answer", "pause_on_pending": False, "active": True},
        "sla_definition",
        {
            4: {
                "sla_def_id": 4,
                "name": "Answer",
                "metric": "response",
                "target_mins": 60,
                "pause_on_pending": 0,
                "applies_to_priority": None,
                "active": 1,
                **STAMPS,
            }
        },
    ),
    "update_sla_definition": (
        {"sla_def_id": 1, "target_mins": 15},
        "sla_definition",
        {1: {"target_mins": 15, **TOUCHED}},
    ),
}
