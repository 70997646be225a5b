"""Cases of the hr tools for cases, tasks, checklists, surveys and profiles."""

from __future__ import annotations

from hr_people_cases import found
from small_hr import NEW, TODAY, TOUCHED
from tool_cases import Refused, Success

CASE_1 = {
    "hr_case_id": 1,
    "opened_for": 2,
    "opened_for_details": {"first_name": "Ben", "last_name": "Reed"},
    "assignment_group_details": {"name": "Payroll Desk"},
    "hr_service_details": {"service_name": "Pay"},
    "approver_details": {"user_id": 1},
    "skills": [1],
}
LEAVING = {"employment_end_date": TODAY, **TOUCHED}

SUCCESSES = {
    "list_checklists": Success(
        arguments={"checklist_item_description": "READ", "checked": True}, reply=found("checklists", "checklist_id", 2)
    ),
    "create_checklist": Success(
        arguments={"checklist_item_description": "Answer", "case_task_id": 2},
        reply={"checklist_id": 3, "checked": False},
        changes={"checklist": {3: {"checklist_item_description": "Answer", "checked": 0, "case_task_id": 2, **NEW}}},
    ),
    "update_checklist": Success(
        arguments={"checklist_id": 1, "checked": True},
        reply={"checked": True, "changes": ["checked"]},
        changes={"checklist": {1: {"checked": 1, **TOUCHED}}},
    ),
    "list_surveys": Success(arguments={"question_1": "KIND"}, reply=found("surveys", "survey_id", 2)),
    "create_survey": Success(
        arguments={"question_3": "Why?"},
        reply={"survey_id": 3, "question_1": None, "question_3": "Why?"},
        changes={"survey": {3: {"question_3": "Why?", "question_1": None, **NEW}}},
    ),
    "update_survey": Success(
        arguments={"survey_id": 1, "question_1": "Was it quick?", "question_2": "Was it good?"},
        reply={"question_2": "Was it good?", "changes": ["question_2"]},
        changes={"survey": {1: {"question_2": "Was it good?", **TOUCHED}}},
    ),
    "list_survey_instances": Success(
        arguments={"answer_1": "yes"}, reply=found("survey_instances", "survey_instance_id", 1)
    ),
    "create_survey_instance": Success(
        arguments={"survey_id": 2, "assigned_to": 1, "answer_1": "No"},
        reply={"survey_instance_id": 3, "case_task_id": None},
        changes={"survey_instance": {3: {"survey_id": 2, "assigned_to": 1, "answer_1": "No", **NEW}}},
    ),
    "update_survey_instance": Success(
        arguments={"survey_instance_id": 2, "case_task_id": 2},
        reply={"case_task_id": 2, "changes": ["case_task_id"]},
        changes={"survey_instance": {2: {"case_task_id": 2, **TOUCHED}}},
    ),
    "find_hr_case_by_number": Success(arguments={"number": "HRC0000711"}, reply=CASE_1),
    "find_my_cases_to_approve": Success(arguments={}, reply={"hr_cases": [CASE_1], "total_count": 1}),
    "list_hr_cases": Success(
        arguments={"opened_by": "Ada Stone", "short_description": "WRONG", "limit": 1},
        reply=found("hr_cases", "hr_case_id", 1),
    ),
    "get_cases_assigned_to": Success(
        arguments={"assignment_group": "Payroll Desk", "assigned_to": "Ben Reed"},
        reply={"hr_cases": [CASE_1], "total_count": 1},
    ),
    "create_new_hr_case": Success(
        arguments={
            "short_description": "New desk",
            "coe_type": "HRIT",
            "opened_for": "Ben Reed",
            "assignment_group": "Payroll Desk",
            "hr_service": "1",
            "skills": [3, 1],
        },
        reply={"hr_case_id": 4, "number": "HRC0000714", "skills": [3, 1], "opened_by_details": {"user_id": 1}},
        changes={
            "hr_case": {
                4: {
                    "number": "HRC0000714",
                    "status": "draft",
                    "priority": "planning",
                    "opened_for": 2,
                    "opened_by": 1,
                    "assignment_group": 1,
                    "hr_service": 1,
                    "skills": "[3, 1]",
                    **NEW,
                }
            }
        },
    ),
    "update_hr_case": Success(
        arguments={"hr_case_id": "1", "number": "HRC0000711", "worknotes": "Checked", "priority": "low"},
        reply={"worknotes": "Checked", "changes": ["worknotes"]},
        changes={"hr_case": {1: {"worknotes": "Checked", **TOUCHED}}},
    ),
    "onboard_new_hr_profile": Success(
        arguments={
            "user_id": "4",
            "personal_email": "eve@home.example",
            "national_tax_id": "009",
            "dob": "1999-12-31",
            "manager": "1",
        },
        reply={"hr_profile_id": 4, "number": "HR-001", "national_tax_id": "TAX-1-009", "dob": "1999-12-31 00:00:00"},
        changes={
            "hr_profile": {
                4: {
                    "user_id": 4,
                    "number": "HR-001",
                    "national_tax_id": "TAX-1-009",
                    "dob": "1999-12-31 00:00:00",
                    "manager": 1,
                    "employment_end_date": None,
                    **NEW,
                }
            }
        },
    ),
    "update_hr_profile": Success(
        arguments={"number": "HRP00002", "personal_email": "b@home.example", "position": "Sales"},
        reply={"hr_profile_id": 2, "changes": ["personal_email", "position"]},
        changes={"hr_profile": {2: {"personal_email": "b@home.example", "position": "Sales", **TOUCHED}}},
    ),
    "offboard_hr_profile": Success(
        arguments={"user_id": "2"},
        reply={"hr_profile_id": 2, "employment_end_date": TODAY},
        changes={"hr_profile": {2: LEAVING}},
    ),
    "offboard_hr_profiles": Success(
        arguments={"nationality": "GB"},  # Ada's own profile has it too, and stays
        reply={"count": 1, "offboarded_profiles": [{"hr_profile_id": 2}]},
        changes={"hr_profile": {2: LEAVING}},
    ),
    "get_hr_profile_by_id": Success(arguments={"hr_profile_id": "2"}, reply={"number": "HRP00002", "user_id": 2}),
    "get_hr_profile_by_personal_email": Success(
        arguments={"personal_email": "BEN@home.example"}, reply={"hr_profile_id": 2}
    ),
    "get_users_hr_profile": Success(arguments={"user_id": "1"}, reply={"hr_profile_id": 1}),
    "fetch_hr_profile_by_number": Success(arguments={"number": "HRP00001"}, reply={"hr_profile_id": 1}),
    "fetch_hr_profiles": Success(
        arguments={"employment_end_date": "null", "dob": "1990-02-03"}, reply=found("hr_profiles", "hr_profile_id", 2)
    ),
    "list_hr_case_tasks": Success(
        arguments={"assigned_to": "Ben Reed", "parent_case": "1"},
        reply={
            "hr_case_tasks": [
                {
                    "hr_case_task_id": 1,
                    "parent_case_details": {"number": "HRC0000711"},
                    "assigned_to_details": {"email": "ben@north.example"},
                }
            ]
        },
    ),
    "create_hr_case_task": Success(
        arguments={"status": "ready", "short_description": "Ring", "hr_service": "Pay", "parent_case": "3"},
        reply={"hr_case_task_id": 3, "number": "TASK-20260601-0001", "hr_service_details": {"service_name": "Pay"}},
        changes={
            "hr_case_task": {
                3: {
                    "number": "TASK-20260601-0001",
                    "status": "ready",
                    "hr_service": 1,
                    "parent_case": 3,
                    "active": 1,
                    **NEW,
                }
            }
        },
    ),
    "update_hr_case_task": Success(
        arguments={"hr_case_task_id": "2", "assigned_to": "Ada Stone", "status": "ready"},
        reply={"assigned_to": 1, "changes": ["assigned_to"], "assigned_to_details": {"first_name": "Ada"}},
        changes={"hr_case_task": {2: {"assigned_to": 1, **TOUCHED}}},
    ),
}

REFUSALS = {
    "list_checklists": Refused(arguments={"checklist_id": "one"}),
    "create_checklist": Refused(arguments={"checklist_item_description": "Answer", "case_task_id": 9}),
    "update_checklist": Refused(arguments={"checklist_id": 2, "checked": True}),
    "list_surveys": Refused(arguments={"survey_id": "first"}),
    "create_survey": Refused(arguments={}),
    "update_survey": Refused(arguments={"survey_id": 9, "question_1": "Why?"}),
    "list_survey_instances": Refused(arguments={"assigned_to": "Ben"}),
    "create_survey_instance": Refused(arguments={"survey_id": 2, "assigned_to": 3}),
    "update_survey_instance": Refused(arguments={"survey_instance_id": 2}),
    "find_hr_case_by_number": Refused(arguments={"number": "HRC711"}),
    "find_my_cases_to_approve": Refused(arguments={}, context={"x-hr-user-token": "forged"}),
    "list_hr_cases": Refused(arguments={"limit": 0}),
    "get_cases_assigned_to": Refused(arguments={}),
    "create_new_hr_case": Refused(arguments={"short_description": "Desk", "coe_type": "HRIT", "skills": [2]}),
    "update_hr_case": Refused(arguments={"hr_case_id": "1", "number": "HRC0000713", "worknotes": "Checked"}),
    "onboard_new_hr_profile": Refused(
        arguments={"user_id": "2", "personal_email": "b@home.example", "national_tax_id": "009"}
    ),
    "update_hr_profile": Refused(arguments={"hr_profile_id": "1", "manager": "2"}),  # Ben is no manager
    "offboard_hr_profile": Refused(arguments={"hr_profile_id": "3"}),
    "offboard_hr_profiles": Refused(arguments={"gender": "male"}),
    "get_hr_profile_by_id": Refused(arguments={"hr_profile_id": "3"}),
    "get_hr_profile_by_personal_email": Refused(arguments={"personal_email": "cy@home.example"}),
    "get_users_hr_profile": Refused(arguments={"user_id": "4"}),
    "fetch_hr_profile_by_number": Refused(arguments={"number": "HRP00009"}),
    "fetch_hr_profiles": Refused(arguments={"type": "temporary"}),
    "list_hr_case_tasks": Refused(arguments={"status": "suspended"}),
    "create_hr_case_task": Refused(arguments={"status": "ready", "short_description": "  "}),
    "update_hr_case_task": Refused(arguments={"hr_case_task_id": "2", "number": "HRT0001000"}),
}
