"""Cases of the itsm tools for changes, problems, incidents and their children."""

from __future__ import annotations

from itsm_people_cases import found
from small_itsm import AT, ON, SHOWN, WRITTEN
from tool_cases import Refused, Success

CHANGE = {"short_description": "Move", "status": "assess", "impact": "low", "risk": "low", "priority": "high"}
PROBLEM = {
    "problem_statement": "Smoke",
    "status": "assess",
    "impact": "high",
    "urgency": "high",
    "priority": "critical",
}


def ids(key, *values):
    return [{key: value} for value in values]


SUCCESSES = {
    "create_change": Success(
        arguments={**CHANGE, "assigned_to": "USER_002", "service": ""},
        reply={"change_id": "CHG_003", "number": "CHG0000006", "cab_required": False, "requested_by": "USER_001"},
        changes={
            "change": {
                "CHG_003": {
                    **CHANGE,
                    "number": "CHG0000006",
                    "category": "other",
                    "assigned_to": "USER_002",
                    "cab_required": 0,
                    "service": None,
                    "org_id": "ORG_001",
                    **ON,
                }
            }
        },
    ),
    "update_change": Success(
        arguments={"change_id": "CHG_001", "cab_required": True, "status": "assess", "close_notes": ""},
        reply={"cab_required": True, "status": "assess"},
        changes={"change": {"CHG_001": {"cab_required": 1, "status": "assess", "updated_on": WRITTEN}}},
    ),
    "find_change_by_number": Success(
        arguments={"number": "CHG0000001"}, reply={"change_id": "CHG_001", "cab_required": False}
    ),
    "list_changes": Success(
        arguments={"description": "ROLLERS", "status": ""}, reply=found("changes", "change_id", "CHG_001")
    ),
    "get_changes_assigned_to": Success(
        arguments={"assigned_to": "USER_002"}, reply=found("changes", "change_id", "CHG_001")
    ),
    "create_problem": Success(
        arguments={**PROBLEM, "original_task": "INC_002"},
        reply={"problem_id": "PRB_003", "number": "PRB0000008", "opened_by": "USER_001", "category": None},
        changes={
            "problem": {
                "PRB_003": {
                    **PROBLEM,
                    "number": "PRB0000008",
                    "opened_by": "USER_001",
                    "original_task": "INC_002",
                    "org_id": "ORG_001",
                    **ON,
                }
            }
        },
    ),
    "update_problem": Success(
        arguments={"number": "PRB0000007", "workaround": "Candles"},
        reply={"problem_id": "PRB_002", "workaround": "Candles"},
        changes={"problem": {"PRB_002": {"workaround": "Candles", "updated_on": WRITTEN}}},
    ),
    "find_problem_by_number": Success(arguments={"number": "PRB0000004"}, reply={"problem_id": "PRB_001"}),
    "list_problems": Success(
        arguments={"worknotes": "roll", "created_before": "2025-01-01T08:00:00"},
        reply=found("problems", "problem_id", "PRB_001"),
    ),
    "get_problems_assigned_to": Success(
        arguments={"assigned_to": "USER_002"}, reply=found("problems", "problem_id", "PRB_001")
    ),
    "find_incident_by_number": Success(arguments={"number": "INC0000002"}, reply={"incident_id": "INC_002"}),
    "find_incident_by_id": Success(
        arguments={"incident_id": "INC_001"}, reply={"created_at": "2025-02-01T08:00:00", "number": "INC0000001"}
    ),
    "list_incidents": Success(
        arguments={"called_id": "USER_001", "created_after": "2025-02-02T08:00:00"},
        reply=ids("incident_id", "INC_009"),
    ),
    "get_incidents_assigned_to": Success(
        arguments={"assignment_group": "GROUP_001"}, reply=ids("incident_id", "INC_001")
    ),
    "create_incident": Success(
        arguments={"caller_id": "USER_002", "short_description": "Smoke", "assigned_to": ""},
        reply={"incident_id": "INC_010", "number": "INC-000010", "status": "new", "assigned_to": None},
        changes={
            "incident": {
                "INC_010": {
                    "number": "INC-000010",
                    "org_id": "ORG_002",
                    "assigned_to": None,
                    "status": "new",
                    "category": "inquiry-help",
                    "impact": "low",
                    "urgency": "low",
                    "priority": "planning",
                    "contact_type": None,
                    **AT,
                }
            }
        },
    ),
    "update_incident": Success(
        arguments={"incident_id": "INC_001", "status": "in_progress", "worknotes": ""},
        reply={"status": "in_progress", "worknotes": None, "updated_at": SHOWN},
        changes={"incident": {"INC_001": {"status": "in_progress", "worknotes": None, "updated_at": WRITTEN}}},
    ),
    "list_child_incidents": Success(
        arguments={"parent_incident": "INC_001"}, reply=ids("child_incident_mapping_id", "CINC_001")
    ),
    "find_parent_incident": Success(
        arguments={"child_incident": "INC_009"},
        reply={"parent_incident": "INC_001", "child_incident_mapping_id": "CINC_001"},
    ),
    "add_child_incident": Success(
        arguments={"parent_incident": "INC_002", "child_incident": "INC_009"},
        reply={"child_incident_mapping_id": "CINC_002", "created_at": SHOWN},
        changes={
            "child_incident": {"CINC_002": {"parent_incident": "INC_002", "child_incident": "INC_009", **AT}},
        },
    ),
    "add_child_incidents": Success(
        arguments={"parent_incident": "INC_002", "child_incidents": ["INC_001", "INC_009"]},
        reply=ids("child_incident_mapping_id", "CINC_002", "CINC_003"),
        changes={
            "child_incident": {
                "CINC_002": {"parent_incident": "INC_002", "child_incident": "INC_001"},
                "CINC_003": {"parent_incident": "INC_002", "child_incident": "INC_009"},
            }
        },
    ),
    "update_child_incident": Success(
        arguments={"child_incident_mapping_id": "CINC_001", "parent_incident": "INC_002", "child_incident": "INC_009"},
        reply={"parent_incident": "INC_002"},
        changes={"child_incident": {"CINC_001": {"parent_incident": "INC_002", "updated_at": WRITTEN}}},
    ),
    "remove_child_incident": Success(
        arguments={"parent_incident": "INC_001", "child_incident": "INC_009"},
        reply={"message": "Child incident mapping removed successfully"},
        changes={"child_incident": {"CINC_001": None}},
    ),
    "get_count_of_incident_priority_wise": Success(
        arguments={"priority_list": ["high", "low"]}, reply={"high": 0, "low": 2}
    ),
    "count_incident_for_assignment_group": Success(
        arguments={"assignment_group_id": "GROUP_001", "channel": "phone", "status": ""}, reply={"GROUP_001": 1}
    ),
}

REFUSALS = {
    "create_change": Refused(arguments={**CHANGE, "description": "x" * 121}),
    "update_change": Refused(arguments={"change_id": "CHG_001", "status": "done"}),
    "find_change_by_number": Refused(arguments={"number": "CHG0000099"}),
    "list_changes": Refused(arguments={"risk": "none"}),
    "get_changes_assigned_to": Refused(arguments={"assigned_to": ""}),
    "create_problem": Refused(arguments={**PROBLEM, "original_task": "INC_099"}),
    "update_problem": Refused(arguments={"workaround": "Candles"}),
    "find_problem_by_number": Refused(arguments={"number": "PRB0000099"}),
    "list_problems": Refused(arguments={"status": "in_progress"}),
    "get_problems_assigned_to": Refused(arguments={}),
    "find_incident_by_number": Refused(arguments={}),
    "find_incident_by_id": Refused(arguments={"incident_id": "INC_099"}),
    "list_incidents": Refused(arguments={"status": "open"}),
    "get_incidents_assigned_to": Refused(arguments={}),
    "create_incident": Refused(arguments={"caller_id": "USER_099", "short_description": "Smoke"}),
    "update_incident": Refused(arguments={"incident_id": "INC_001", "status": "new"}),  # it is new already
    "list_child_incidents": Refused(arguments={}),
    "find_parent_incident": Refused(arguments={"child_incident": "INC_001"}),
    "add_child_incident": Refused(arguments={"parent_incident": "INC_009", "child_incident": "INC_001"}),  # reversed
    "add_child_incidents": Refused(arguments={"parent_incident": "INC_002", "child_incidents": ["INC_001", "INC_099"]}),
    "update_child_incident": Refused(
        arguments={"child_incident_mapping_id": "CINC_001", "parent_incident": "INC_009", "child_incident": "INC_009"}
    ),
    "remove_child_incident": Refused(arguments={"parent_incident": "INC_001"}),
    "get_count_of_incident_priority_wise": Refused(arguments={"priority_list": ["urgent"]}),
    "count_incident_for_assignment_group": Refused(arguments={"assignment_group_id": "GROUP_099"}),
}
