"""Cases of the itsm tools for users, groups, locations, templates, items and services."""

from __future__ import annotations

from small_itsm import AT, ON, SHOWN, WRITTEN
from tool_cases import Refused, Success

ADA = {"user_id": "USER_001", "first_name": "Ada", "active": True, "created_on": "2025-01-01T08:00:00"}
NEW_USER = {
    "first_name": "Di",
    "last_name": "Orr",
    "email": "di@north.example",
    "phone": "+1-415-555-0109",
    "role": "agent",
    "active": True,
}
TEMPLATE = {"caller_id": "USER_002", "short_description": "Smoke"}
ITEM = {
    "name": "Scanner",
    "owner_id": "USER_001",
    "location_id": "LOC_002",
    "serial_number": "S-1",
    "status": "in_stock",
    "cost": 12,
}


def found(wrap, key, *ids):
    """The reply of a list: its rows, told by their ids, and their number."""
    return {wrap: [{key: one} for one in ids], "total_count": len(ids)}


SUCCESSES = {
    "get_user_using_email": Success(
        arguments={"email": "ben@south.example"}, reply={"user_id": "USER_002", "active": True}
    ),
    "get_user": Success(arguments={"user_id": "USER_001"}, reply=ADA),
    "get_user_using_name": Success(arguments={"first_name": "BEN", "last_name": "reed"}, reply={"user_id": "USER_002"}),
    "list_users": Success(
        arguments={"last_name": "REE", "active": "false", "email": ""}, reply=found("users", "user_id", "USER_003")
    ),
    "add_new_user": Success(
        arguments={**NEW_USER, "user_name": "someone", "location_id": ""},
        reply={"user_id": "USER_004", "user_name": "di.orr", "location_id": None, "created_on": SHOWN},
        changes={
            "users": {
                "USER_004": {**NEW_USER, "active": 1, "user_name": "di.orr", "org_id": "ORG_001", **ON},
            },
            "user_role": {
                ("USER_004", "ROLE_003", "ORG_001"): {
                    "user_id": "USER_004",
                    "role_id": "ROLE_003",
                    "org_id": "ORG_001",
                }
            },
        },
    ),
    "update_user_details": Success(
        arguments={"user_id": "USER_002", "role": "manager", "user_name": "benny"},
        reply={"user_name": "ben", "role": "manager"},
        changes={"users": {"USER_002": {"role": "manager", "updated_on": WRITTEN}}},
    ),
    "list_user_groups": Success(
        arguments={"name": "Desk", "group_id": ""}, reply=found("user_groups", "group_id", "GROUP_002", "GROUP_001")
    ),
    "find_group_by_name": Success(arguments={"name": "Desk"}, reply={"group_id": "GROUP_001"}),
    "add_new_user_group": Success(
        arguments={"name": "Night", "type": "IT Support", "manager_id": "USER_003", "email": ""},
        reply={"group_id": "GROUP_003", "active": True, "manager_id": "USER_003"},
        changes={
            "user_group": {
                "GROUP_003": {"name": "Night", "type": "IT Support", "active": 1, "email": None, "org_id": "ORG_001"}
            }
        },
    ),
    "update_user_group": Success(
        arguments={"group_id": "GROUP_002", "active": True},
        reply={"group_id": "GROUP_002", "active": True, "updated_on": None},
        changes={"user_group": {"GROUP_002": {"active": 1}}},
    ),
    "add_new_group_member": Success(
        arguments={"group_id": "GROUP_002", "user_id": "USER_001"},
        reply={"member_id": "MEMBER_001", "org_id": "ORG_002"},
        changes={
            "user_group_member": {
                "MEMBER_001": {"group_id": "GROUP_002", "user_id": "USER_001", "org_id": "ORG_002", **ON}
            }
        },
    ),
    "remove_group_membership": Success(
        arguments={"group_id": "GROUP_001", "user_id": "USER_001", "member_id": ""},
        changes={"user_group_member": {"MEM_001": None}},
    ),
    "list_group_members": Success(
        arguments={"user_id": "USER_001"}, reply=found("group_members", "member_id", "MEM_001")
    ),
    "find_location_by_given_name": Success(arguments={"name": " South Yard "}, reply={"location_id": "LOC_002"}),
    "find_locations": Success(
        arguments={"city": "LON", "created_after": "2025-01-01T08:00:00Z"},
        reply=found("locations", "location_id", "LOC_001"),
    ),
    "add_location": Success(
        arguments={"name": "Depot", "city": "Hull", "country": "UK", "state": ""},
        reply={"location_id": "LOC_003", "active": True, "state": None},
        changes={
            "location": {"LOC_003": {"name": "Depot", "city": "Hull", "active": 1, "org_id": "ORG_001", **ON}},
        },
    ),
    "get_location_by_id": Success(arguments={"location_id": "LOC_001"}, reply={"name": "North Plant", "active": True}),
    "update_location": Success(
        arguments={"location_id": "LOC_001", "plot_no": "8", "street": ""},
        reply={"plot_no": "8", "street": None, "updated_on": SHOWN},
        changes={"location": {"LOC_001": {"plot_no": "8", "updated_on": WRITTEN}}},
    ),
    "create_new_incident_template": Success(
        arguments={
            "name": "Fire",
            "change_request_values": {**TEMPLATE, "service": "SVC_001", "service_offering": "SVCOFF_001"},
        },
        reply={"incident_template_id": "TMPL_002", "impact": "low", "active": True, "category": None},
        changes={
            "incident_template": {
                "TMPL_002": {
                    "name": "Fire",
                    **TEMPLATE,
                    "channel": None,
                    "impact": "low",
                    "urgency": "low",
                    "priority": "planning",
                    "service": "SVC_001",
                    "service_offering": "SVCOFF_001",
                    "active": 1,
                    "org_id": "ORG_001",
                    **AT,
                }
            }
        },
    ),
    "update_incident_template": Success(
        arguments={
            "incident_template_id": "TMPL_001",
            "change_request_values": {"channel": None, "service": "SVC_002", "caller_id": "", "impact": ""},
        },
        reply={"channel": None, "service": "SVC_002", "caller_id": "USER_001"},
        changes={"incident_template": {"TMPL_001": {"channel": None, "service": "SVC_002", "updated_at": WRITTEN}}},
    ),
    "get_incident_template_by_name": Success(
        arguments={"name": "Paper"}, reply={"incident_template_id": "TMPL_001", "active": True}
    ),
    "get_incident_templates": Success(
        arguments={"active": True}, reply=found("incident_templates", "incident_template_id", "TMPL_001")
    ),
    "register_configuration_item": Success(
        arguments=ITEM,
        reply={"configuration_item_id": "CI_003", **ITEM, "created_on": SHOWN, "updated_on": SHOWN},
        changes={"configuration_item": {"CI_003": {**ITEM, "org_id": "ORG_001", **ON}}},
    ),
    "update_configuration_item": Success(
        arguments={"configuration_item_id": "CI_001", "cost": 120},
        reply={"cost": 120.0},
        changes={"configuration_item": {"CI_001": {"cost": 120.0, "updated_on": WRITTEN}}},
    ),
    "find_configuration_item_by_serial_number": Success(
        arguments={"serial_number": "L-1"}, reply={"configuration_item_id": "CI_002", "cost": 900.5}
    ),
    "find_configuration_items": Success(
        arguments={"created_before": "2025-01-02T08:00:00"},
        reply=found("configuration_items", "configuration_item_id", "CI_002", "CI_001"),
    ),
    "find_services": Success(
        arguments={"name": "a", "created_after": "2025-01-01"},
        reply=found("services", "service_id", "SVC_002", "SVC_001"),
    ),
    "find_service_by_name": Success(arguments={"name": "Mail "}, reply={"service_id": "SVC_001"}),
    "add_new_service": Success(
        arguments={"name": "Wiki", "owned_by": "USER_002", "used_for": "QA"},
        reply={"service_id": "SVC_003", "status": "operational", "used_for": "QA"},
        changes={
            "service": {
                "SVC_003": {
                    "name": "Wiki",
                    "owned_by": "USER_002",
                    "used_for": "QA",
                    "status": "operational",
                    "service_classification": "business",
                    "business_criticality": "critical",
                    "description": None,
                    "org_id": "ORG_001",
                    **ON,
                }
            }
        },
    ),
    "update_service": Success(
        arguments={"service_id": "SVC_002", "status": "retired"},
        reply={"status": "retired"},
        changes={"service": {"SVC_002": {"status": "retired", "updated_on": WRITTEN}}},
    ),
}

REFUSALS = {
    "get_user_using_email": Refused(arguments={"email": "nobody@north.example"}),
    "get_user": Refused(arguments={"user_id": "USER_099"}),
    "get_user_using_name": Refused(arguments={"first_name": "Ada"}),
    "list_users": Refused(arguments={"role": "boss"}),
    "add_new_user": Refused(arguments={**NEW_USER, "phone": "+1-415-555-0102"}),  # Ben has that number
    "update_user_details": Refused(arguments={"user_id": "USER_002", "first_name": "Ben"}),  # it is so already
    "list_user_groups": Refused(arguments={"type": "Helpers"}),
    "find_group_by_name": Refused(arguments={"name": "desk"}),
    "add_new_user_group": Refused(arguments={"name": "Night", "type": "IT Support", "manager_id": "USER_002"}),
    "update_user_group": Refused(arguments={"group_id": "GROUP_001", "name": "Desk South"}),
    "add_new_group_member": Refused(arguments={"group_id": "GROUP_001", "user_id": "USER_001"}),
    "remove_group_membership": Refused(
        arguments={"group_id": "GROUP_001", "user_id": "USER_001", "member_id": "MEM_9"}
    ),
    "list_group_members": Refused(arguments={"member_id": 5}),
    "find_location_by_given_name": Refused(arguments={"name": "south yard"}),
    "find_locations": Refused(arguments={"city": ""}),
    "add_location": Refused(arguments={"name": "South Yard", "city": "Hull", "country": "UK"}),
    "get_location_by_id": Refused(arguments={"location_id": "LOC_009"}),
    "update_location": Refused(arguments={"location_id": "LOC_001", "city": ""}),
    "create_new_incident_template": Refused(
        arguments={"name": "Fire", "change_request_values": {**TEMPLATE, "colour": "red"}}
    ),
    "update_incident_template": Refused(
        arguments={
            "incident_template_id": "TMPL_001",
            "change_request_values": {"service": "SVC_001", "service_offering": "SVCOFF_002"},
        }
    ),
    "get_incident_template_by_name": Refused(arguments={"name": "paper"}),
    "get_incident_templates": Refused(arguments={"active": "perhaps"}),
    "register_configuration_item": Refused(arguments={**ITEM, "serial_number": "P-1"}),
    "update_configuration_item": Refused(arguments={"configuration_item_id": "CI_001", "cost": -1}),
    "find_configuration_item_by_serial_number": Refused(arguments={"serial_number": "l-1"}),
    "find_configuration_items": Refused(arguments={"status": "lost"}),
    "find_services": Refused(arguments={"used_for": "fun"}),
    "find_service_by_name": Refused(arguments={"name": "mail"}),
    "add_new_service": Refused(arguments={"name": "Wiki", "owned_by": "USER_099"}),
    "update_service": Refused(arguments={"service_id": "SVC_002", "status": "ready"}),
}
