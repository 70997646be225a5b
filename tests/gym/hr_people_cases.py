"""Cases of the hr tools for services, topics, templates, people, groups, criteria and skills."""

from __future__ import annotations

from small_hr import NEW, TOUCHED, WRITTEN
from tool_cases import Refused, Success

PAY = {
    "hr_service_id": 1,
    "topic_detail": 1,
    "topic_detail_details": {"name": "Salary", "topic_category_details": {"name": "Money", "coe_type": "Payroll"}},
    "service_template_details": {"change_request_values": {"short_description": "A slip", "category": "payroll"}},
    "hr_criteria_details": None,
}
NEW_USER = {"first_name": "Di", "last_name": "O'Hara-Li", "email": "di@north.example", "role": "agent"}
VALUES = {"short_description": "Leave", "category": "hr"}


def found(wrap, key, *ids):
    """The reply of a list: its rows, told by their ids, and their number."""
    return {wrap: [{key: one} for one in ids], "total_count": len(ids)}


SUCCESSES = {
    "get_hr_service_by_name": Success(arguments={"service_name": "Pay"}, reply=PAY),
    "find_hr_services": Success(
        arguments={"topic_detail": "SAL", "hr_service_id": 1}, reply=found("hr_services", "hr_service_id", 1)
    ),
    "create_new_hr_service": Success(
        arguments={"service_name": "Leave", "fulfillment_type": "flow", "active": True, "topic_detail": "Bonus"},
        reply={"hr_service_id": 3, "topic_detail": 2, "topic_detail_details": {"name": "Bonus"}},
        changes={
            "hr_service": {
                3: {"service_name": "Leave", "fulfillment_type": "flow", "active": 1, "topic_detail": 2, **NEW}
            }
        },
    ),
    "update_hr_service": Success(
        arguments={"hr_service_id": "1", "hr_criteria": "All see", "active": True},
        reply={"hr_criteria": 2, "hr_criteria_details": {"name": "All see"}, "changes": ["hr_criteria"]},
        changes={"hr_service": {1: {"hr_criteria": 2, **TOUCHED}}},
    ),
    "delete_hr_service": Success(
        arguments={"hr_service_id": "1", "service_name": "Pay"},
        reply={"hr_service_id": 1, "active": False, "topic_detail_details": {"name": "Salary"}},
        changes={"hr_service": {1: {"active": 0, **TOUCHED}}},
    ),
    "get_topic_details": Success(
        arguments={"topic_category": "mon", "name": "BON"},
        reply={"topic_details": [{"topic_detail_id": 2, "topic_category_details": {"name": "Money"}}]},
    ),
    "get_topic_categories": Success(
        arguments={"active": True},
        reply={"topic_categories": [{"topic_category_id": 1, "topic_details_count": 2}], "total_count": 1},
    ),
    "add_new_topic_detail": Success(
        arguments={"name": "Pension", "active": True, "topic_category": "Money"},
        reply={"topic_detail_id": 4, "topic_category_details": {"topic_category_id": 1}},
        changes={"topic_detail": {4: {"name": "Pension", "active": 1, "topic_category": 1, **NEW}}},
    ),
    "update_topic_detail": Success(
        arguments={"topic_detail_id": "3", "name": "Laptops"},
        reply={"name": "Laptops", "changes": ["name"]},
        changes={"topic_detail": {3: {"name": "Laptops", **TOUCHED}}},
    ),
    "add_new_topic_category": Success(
        arguments={"name": "Time", "coe_type": "HRIT", "active": False},
        reply={"topic_category_id": 3, "created_at": WRITTEN},
        changes={"topic_category": {3: {"name": "Time", "coe_type": "HRIT", "active": 0, **NEW}}},
    ),
    "update_topic_category": Success(
        arguments={"topic_category_id": "2", "name": "Tools", "active": True},
        reply={"active": True, "changes": ["active"]},
        changes={"topic_category": {2: {"active": 1, **TOUCHED}}},
    ),
    "get_service_template_by_name": Success(
        arguments={"name": "PAY SLIP"},
        reply={"service_template_id": 1, "change_request_values": {"category": "payroll"}},
    ),
    "get_service_templates": Success(
        arguments={"name": "slip"}, reply=found("service_templates", "service_template_id", 1)
    ),
    "create_new_service_template": Success(
        arguments={"name": "Leave", "change_request_values": VALUES, "coe_type": "HRIT"},
        reply={"service_template_id": 2, "change_request_values": VALUES, "active": True},
        changes={
            "service_template": {
                2: {
                    "name": "Leave",
                    "change_request_values": '{"short_description": "Leave", "category": "hr"}',
                    "active": 1,
                    **NEW,
                }
            }
        },
    ),
    "update_service_template": Success(
        arguments={"service_template_id": "1", "active": False},
        reply={"active": False, "changes": ["active"]},
        changes={"service_template": {1: {"active": 0, **TOUCHED}}},
    ),
    "get_user": Success(arguments={"user_id": "1"}, reply={"user_id": 1, "first_name": "Ada", "active": True}),
    "get_user_using_email": Success(arguments={"email": "BEN@north.example"}, reply={"user_id": 2}),
    "get_user_using_name": Success(arguments={"first_name": "Ben", "last_name": "Reed"}, reply={"user_id": 2}),
    "list_users": Success(
        arguments={"last_name_like": "REED", "limit": 1, "offset": 1, "order_by": "email"},
        reply={"users": [{"user_id": 4}], "total_count": 2, "returned_count": 1, "limit": 1, "offset": 1},
    ),
    "add_new_user": Success(
        arguments=NEW_USER,
        reply={"user_id": 5, "active": True, "created_at": WRITTEN},
        changes={
            "user": {5: {**NEW_USER, "phone": None, "active": 1, **NEW}},
            "user_role": {(5, 3, 1, WRITTEN, WRITTEN): {"user_id": 5, "role_id": 3, "org_id": 1}},
        },
    ),
    "update_user_details": Success(
        arguments={"user_id": "4", "role": "agent", "first_name": "Eve"},
        reply={"role": "agent", "changes": ["role"]},
        changes={"user": {4: {"role": "agent", **TOUCHED}}},
    ),
    "list_user_groups": Success(arguments={"type": "Service Desk"}, reply=found("user_groups", "group_id", 1)),
    "find_group_by_name": Success(arguments={"name": "Payroll Desk"}, reply={"group_id": 1}),
    "list_group_members": Success(arguments={"group_id": 1}, reply=found("group_members", "member_id", 1)),
    "add_new_user_group": Success(
        arguments={"name": "Night", "type": "IT Support"},
        reply={"group_id": 4, "active": True},
        changes={"user_group": {4: {"name": "Night", "type": "IT Support", "active": 1, **NEW}}},
    ),
    "update_user_group": Success(
        arguments={"group_id": "3", "active": True},
        reply={"active": True, "changes": ["active"]},
        changes={"user_group": {3: {"active": 1, **TOUCHED}}},
    ),
    "add_new_group_member": Success(
        arguments={"group_id": 1, "user_id": "2"},  # a number where text is advertised: ids come either way
        reply={"member_id": 3, "group_id": 1, "user_id": 2},
        changes={"user_group_member": {3: {"group_id": 1, "user_id": 2, **NEW}}},
    ),
    "remove_group_membership": Success(
        arguments={"group_id": "3", "user_id": "2"},
        reply={"member_id": 2, "group_id": 3, "user_id": 2},
        changes={"user_group_member": {2: None}},
    ),
    "list_hr_criteria": Success(
        arguments={"users": "7, 12"}, reply={"hr_criteria": [{"hr_criteria_id": 1, "users": [1, 12]}]}
    ),
    "register_hr_criteria": Success(
        arguments={"name": "Two", "type": "approval", "users": "1, 2"},
        reply={"hr_criteria_id": 3, "users": [1, 2], "active": True},
        changes={"hr_criteria": {3: {"name": "Two", "users": "[1, 2]", "user_group": None, "active": 1, **NEW}}},
    ),
    "update_hr_criteria": Success(
        arguments={"hr_criteria_id": "2", "users": "4"},
        reply={"users": [4], "changes": ["users"]},
        changes={"hr_criteria": {2: {"users": "[4]", **TOUCHED}}},
    ),
    "list_skills": Success(arguments={"name": "LAW"}, reply=found("skills", "skill_id", 1)),
    "list_user_skills": Success(arguments={"user": "2"}, reply=found("user_skills", "user_skill_id", 1)),
    "add_new_skill": Success(
        arguments={"name": "Tax in the south"},  # the other organisation has one of that name
        reply={"skill_id": 4, "active": True},
        changes={"skill": {4: {"name": "Tax in the south", "active": 1, **NEW}}},
    ),
    "update_skill": Success(
        arguments={"skill_id": "3", "active": False},
        reply={"active": False, "changes": ["active"]},
        changes={"skill": {3: {"active": 0, **TOUCHED}}},
    ),
    "add_new_skill_to_user": Success(
        arguments={"skill": "3", "user": "4"},
        reply={
            "user_skill_id": 2,
            "skill_name": "Payroll",
            "user_email": "eve@north.example",
            "user_last_name": "Reedy",
        },
        changes={"user_skill": {2: {"skill": 3, "user": 4, **NEW}}},
    ),
    "remove_user_skills": Success(
        arguments={"user_skill_id": "1"},
        reply={"user_skill_id": 1, "skill_name": "Tax law", "user_first_name": "Ben"},
        changes={"user_skill": {1: None}},
    ),
}

REFUSALS = {
    "get_hr_service_by_name": Refused(arguments={"service_name": "pay"}),
    "find_hr_services": Refused(arguments={}),
    "create_new_hr_service": Refused(
        arguments={"service_name": "Leave", "fulfillment_type": "flow", "active": True, "topic_detail": "No such"}
    ),
    "update_hr_service": Refused(arguments={"hr_service_id": "1", "service_name": "Old pay"}),
    "delete_hr_service": Refused(arguments={"hr_service_id": "2", "service_name": "Old pay"}),  # inactive already
    "get_topic_details": Refused(arguments={}),
    "get_topic_categories": Refused(arguments={"coe_type": "Money"}),
    "add_new_topic_detail": Refused(arguments={"name": "Salary", "active": True}),
    "update_topic_detail": Refused(arguments={"topic_detail_id": "3", "name": "Laptop"}),  # it is so already
    "add_new_topic_category": Refused(arguments={"name": "Money", "coe_type": "Payroll", "active": True}),
    "update_topic_category": Refused(arguments={"topic_category_id": "9", "name": "Time"}),
    "get_service_template_by_name": Refused(arguments={"name": "Slip"}),
    "get_service_templates": Refused(arguments={}),
    "create_new_service_template": Refused(
        arguments={"name": "Leave", "change_request_values": {"category": "hr"}, "coe_type": "HRIT"}
    ),
    "update_service_template": Refused(arguments={"service_template_id": "1"}),
    "get_user": Refused(arguments={"user_id": "3"}),  # of another organisation
    "get_user_using_email": Refused(arguments={"email": "cy@south.example"}),
    "get_user_using_name": Refused(arguments={"first_name": "ben", "last_name": "reed"}),
    "list_users": Refused(arguments={"limit": 101}),
    "add_new_user": Refused(arguments={**NEW_USER, "first_name": "Di2"}),
    "update_user_details": Refused(arguments={"user_id": "4", "email": "ben@north.example"}),
    "list_user_groups": Refused(arguments={"type": "Helpers"}),
    "find_group_by_name": Refused(arguments={"name": "Far Desk"}),
    "list_group_members": Refused(arguments={"group_id": 2}),
    "add_new_user_group": Refused(arguments={"name": "Second Desk", "type": "IT Support"}),
    "update_user_group": Refused(arguments={"group_id": "2", "active": False}),
    "add_new_group_member": Refused(arguments={"group_id": "1", "user_id": "3"}),
    "remove_group_membership": Refused(arguments={"group_id": "1", "user_id": "2"}),
    "list_hr_criteria": Refused(arguments={}),
    "register_hr_criteria": Refused(arguments={"name": "Two", "type": "approval", "users": "1, 3"}),
    "update_hr_criteria": Refused(arguments={"hr_criteria_id": "2", "users": "one"}),
    "list_skills": Refused(arguments={}),
    "list_user_skills": Refused(arguments={}),
    "add_new_skill": Refused(arguments={"name": "Payroll"}),
    "update_skill": Refused(arguments={"skill_id": "2", "active": False}),
    "add_new_skill_to_user": Refused(arguments={"skill": "1", "user": "2"}),
    "remove_user_skills": Refused(arguments={"user_skill_id": "9"}),
}
