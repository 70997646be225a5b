"""Cases of the itsm tools for offerings, articles, SLAs, notifications and links."""

from __future__ import annotations

from itsm_people_cases import found
from itsm_work_cases import ids
from small_itsm import AT, ON, SHOWN, WRITTEN
from tool_cases import Refused, Success

OFFERING = {"name": "Mail plus", "owned_by": "USER_002", "short_description": "A large mailbox"}
DEFINITION = {
    "name": "Middling",
    "metric": "response",
    "target_mins": 60,
    "pause_on_pending": True,
    "active": False,
}


def sent(*values):
    return {"notifications": ids("notification_id", *values), "count": len(values)}


def mappings(*values):
    return found("change_request_mappings", "change_request_mapping_id", *values)


SUCCESSES = {
    "find_service_offerings": Success(
        arguments={"parent": "svc_001", "name": ""},
        reply=found("service_offerings", "service_offering_id", "SVCOFF_001"),
    ),
    "find_service_offering_by_name": Success(
        arguments={"name": "Pay slips"}, reply={"service_offering_id": "SVCOFF_002", "business_service": "SVC_002"}
    ),
    "register_new_service_offering": Success(
        arguments={**OFFERING, "parent": "SVC_001"},
        reply={"service_offering_id": "SVCOFF_003", "status": "operational"},
        changes={
            "service_offering": {
                "SVCOFF_003": {
                    **OFFERING,
                    "business_service": "SVC_001",
                    "used_for": "production",
                    "description": None,
                    "org_id": "ORG_001",
                    **ON,
                }
            }
        },
    ),
    "update_service_offering": Success(
        arguments={"service_offering_id": "SVCOFF_001", "parent": "SVC_002"},
        reply={"business_service": "SVC_002"},
        changes={"service_offering": {"SVCOFF_001": {"business_service": "SVC_002", "updated_on": WRITTEN}}},
    ),
    "retrieve_knowledge_articles": Success(
        arguments={"body": "THE LID;"}, reply=found("knowledges", "knowledge_id", "KB_001")
    ),
    "create_knowledge_article": Success(
        arguments={"title": "Clear a jam", "owner_id": "USER_002"},  # another owner's article has that title
        reply={"knowledge_id": "KB_003", "kb_number": "KB0000009", "state": "published", "visibility": "internal"},
        changes={
            "knowledge": {
                "KB_003": {
                    "kb_number": "KB0000009",
                    "title": "Clear a jam",
                    "body": None,
                    "state": "published",
                    "visibility": "internal",
                    "owner_id": "USER_002",
                    "org_id": "ORG_001",
                    **ON,
                }
            }
        },
    ),
    "update_knowledge_article": Success(
        arguments={"knowledge_id": "KB_001", "body": "", "state": "retired"},
        reply={"body": None, "state": "retired"},
        changes={"knowledge": {"KB_001": {"body": None, "state": "retired", "updated_on": WRITTEN}}},
    ),
    "find_incident_knowledge_links": Success(
        arguments={"used_as": "applied, resolution"}, reply=ids("incident_kb_id", "IKB_002")
    ),
    "link_knowledge_to_incident": Success(
        arguments={"incident_id": "INC_001", "knowledge_id": "KB_002"},
        reply={"incident_kb_id": "IKB_003", "used_as": "suggested", "org_id": "ORG_002"},
        changes={
            "incident_knowledge": {
                "IKB_003": {
                    "incident_id": "INC_001",
                    "knowledge_id": "KB_002",
                    "used_as": "suggested",
                    "org_id": "ORG_002",
                    **ON,
                }
            }
        },
    ),
    "remove_knowledge_link_to_incident": Success(
        arguments={"incident_id": "INC_001", "knowledge_id": "KB_001"},
        changes={"incident_knowledge": {"IKB_001": None}},
    ),
    "add_new_sla_definition": Success(
        arguments=DEFINITION,
        reply={"sla_def_id": "SLA_003", **DEFINITION, "applies_to_priority": None},
        changes={
            "sla_definition": {"SLA_003": {**DEFINITION, "pause_on_pending": 1, "active": 0, "org_id": "ORG_001", **ON}}
        },
    ),
    "update_sla_definition": Success(
        arguments={"sla_def_id": "SLA_001", "metric": "response"},  # the same, which counts as a change
        reply={"metric": "response", "updated_on": SHOWN},
        changes={"sla_definition": {"SLA_001": {"updated_on": WRITTEN}}},
    ),
    "find_sla_definition_by_name": Success(
        arguments={"name": "Slow"}, reply={"sla_def_id": "SLA_002", "pause_on_pending": True}
    ),
    "find_sla_definitions": Success(
        arguments={"target_mins": 480, "name": "", "active": None},
        reply=found("sla_definitions", "sla_def_id", "SLA_002"),
    ),
    "total_sum_of_target_mins_per_priority": Success(
        arguments={"priority": ["critical"]}, reply={"metrics": {"CRITICAL": 0}}
    ),
    "average_target_mins_per_priority": Success(
        arguments={"priority": ["critical", "low"]}, reply={"metrics": {"CRITICAL": 0.0, "LOW": 0.0}}
    ),
    "count_notifications_by_status": Success(arguments={"status": ["sent"]}, reply={"metrics": {"SENT": 0}}),
    "count_notifications_by_incident": Success(
        arguments={"incident_id": ["INC_001", "INC_002"]}, reply={"metrics": {"INC_001": 2, "INC_002": 0}}
    ),
    "average_notifications_by_incident": Success(arguments={}, reply={"average": 1.5}),
    "count_notifications_by_type": Success(arguments={"type": ["update"]}, reply={"metrics": {"UPDATE": 0}}),
    "find_notifications_for_email": Success(
        arguments={"email": "ben@south.example"}, reply=sent("NOTIF_001", "NOTIF_003")
    ),
    "find_notifications_sent_for_incident": Success(
        arguments={"incident_id": "INC_001"}, reply=sent("NOTIF_001", "NOTIF_002")
    ),
    "find_notifications": Success(
        arguments={"email": "SOUTH", "status": "queued", "incident_id": None}, reply=sent("NOTIF_003")
    ),
    "send_notification": Success(
        arguments={"incident_id": "INC_001", "email": "ben@south.example", "subject": "Paper"},
        reply={"notification_id": "NOTIF_004", "status": "queued", "created_on": SHOWN},
        changes={
            "notification": {
                "NOTIF_004": {
                    "status": "queued",
                    "type": "other",
                    "org_id": "ORG_001",
                    "subject": "Paper",
                    "message": None,
                    **ON,
                }
            }
        },
    ),
    "update_notification": Success(
        arguments={"notification_id": "NOTIF_002", "status": "sent"},
        reply={"status": "sent"},
        changes={"notification": {"NOTIF_002": {"status": "sent", "updated_on": WRITTEN}}},
    ),
    "delete_notifications": Success(
        arguments={"notification_id": "NOTIF_003"}, changes={"notification": {"NOTIF_003": None}}
    ),
    "map_change_request": Success(
        arguments={"change_id": "CHG_001", "incident_id": "INC_002"},
        reply={"change_request_mapping_id": "CRM_003", "problem_id": None},
        changes={
            "change_request_mapping": {
                "CRM_003": {"incident_id": "INC_002", "problem_id": None, "org_id": "ORG_001", **AT}
            }
        },
    ),
    "list_change_request_mappings": Success(
        arguments={"created_after": "2025-03-01T08:00:00", "incident_id": ""}, reply=mappings("CRM_002", "CRM_001")
    ),
    "find_change_request_mappings_for_incident": Success(
        arguments={"incident_id": "INC_001"}, reply=mappings("CRM_001")
    ),
    "find_change_request_mappings_for_problem": Success(arguments={"problem_id": "PRB_002"}, reply=mappings()),
    "delete_change_request_mappings": Success(
        arguments={"change_id": "CHG_001"},
        reply={
            "deleted_count": 2,
            "deleted_mappings": [
                {"change_request_mapping_id": "CRM_001", "incident_id": "INC_001"},
                {"change_request_mapping_id": "CRM_002", "incident_id": None},
            ],
        },
        changes={"change_request_mapping": {"CRM_001": None, "CRM_002": None}},
    ),
    "link_affected_ci_to_incident": Success(
        arguments={"configuration_item": "CI_002", "incident_id": "INC_001"},
        reply={"incident_affected_cis_id": "TASKCI_003"},
        changes={
            "incident_affected_cis": {
                "TASKCI_003": {
                    "configuration_item": "CI_002",
                    "incident_id": "INC_001",
                    "org_id": "ORG_001",
                    **ON,
                }
            }
        },
    ),
    "list_incident_affected_cis": Success(
        arguments={"configuration_item": "CI_001"},
        reply=found("incident_affected_cis", "incident_affected_cis_id", "TASKCI_002", "TASKCI_001"),
    ),
    "remove_affected_ci_from_incident": Success(
        arguments={"created_after": "2025-03-01T08:00:00"},  # later than that, not at it
        reply={"deleted_count": 1},
        changes={"incident_affected_cis": {"TASKCI_002": None}},
    ),
    "find_incident_slas": Success(
        arguments={"has_breached": True, "stage": " Completed"},
        reply=found("incident_slas", "incident_sla_id", "TSLA_001"),
    ),
    "find_stage_wise_breached_incident_sla_counts": Success(
        arguments={"stages": ["completed", "paused"]},
        reply={"counts": {"SLAStage.COMPLETED": 1, "SLAStage.PAUSED": 0}},
    ),
    "link_new_incident_sla": Success(
        arguments={"incident_id": "INC_001", "sla_def_id": "SLA_002", "start_time": "2025-04-01T10:00:00+02:00"},
        reply={"incident_sla_id": "TSLA_003", "stage": "in_progress", "has_breached": False, "breach_time": None},
        changes={
            "incident_sla": {
                "TSLA_003": {
                    "start_time": "2025-04-01 08:00:00.000000",
                    "stage": "in_progress",
                    "has_breached": 0,
                    "org_id": "ORG_001",
                    **ON,
                }
            }
        },
    ),
    "update_incident_sla_details": Success(
        arguments={"incident_sla_id": "TSLA_002", "stage": "BREACHED", "has_breached": True},
        reply={"stage": "breached", "has_breached": True},
        changes={"incident_sla": {"TSLA_002": {"stage": "breached", "has_breached": 1, "updated_on": WRITTEN}}},
    ),
    "delete_incident_slas": Success(
        arguments={"stage": "completed"}, reply={"deleted_count": 1}, changes={"incident_sla": {"TSLA_001": None}}
    ),
}

REFUSALS = {
    "find_service_offerings": Refused(arguments={"status": "broken"}),
    "find_service_offering_by_name": Refused(arguments={"name": "pay slips"}),
    "register_new_service_offering": Refused(arguments={**OFFERING, "parent": "SVC_099"}),
    "update_service_offering": Refused(arguments={"service_offering_id": "SVCOFF_001", "name": "Pay slips"}),
    "retrieve_knowledge_articles": Refused(arguments={"state": "done"}),
    "create_knowledge_article": Refused(arguments={"title": "Clear a jam", "owner_id": "USER_001"}),
    "update_knowledge_article": Refused(arguments={"kb_number": "KB0000003", "state": "retired"}),  # needs the id
    "find_incident_knowledge_links": Refused(arguments={"incident_id": 4}),
    "link_knowledge_to_incident": Refused(arguments={"incident_id": "INC_001", "knowledge_id": "KB_001"}),
    "remove_knowledge_link_to_incident": Refused(arguments={"incident_id": "INC_001"}),
    "add_new_sla_definition": Refused(arguments={**DEFINITION, "name": "Fast"}),
    "update_sla_definition": Refused(arguments={"sla_def_id": "SLA_001", "target_mins": 30}),
    "find_sla_definition_by_name": Refused(arguments={"name": "slow"}),
    "find_sla_definitions": Refused(arguments={"metric": "RESPONSE"}),
    "total_sum_of_target_mins_per_priority": Refused(arguments={"priority": ["planning"]}),
    "average_target_mins_per_priority": Refused(arguments={"priority": "critical"}),
    "count_notifications_by_status": Refused(arguments={"status": ["SENT"]}),
    "count_notifications_by_incident": Refused(arguments={"incident_id": ["INC_099"]}),
    "average_notifications_by_incident": Refused(arguments={"incident_id": ["INC_001", "INC_099"]}),
    "count_notifications_by_type": Refused(arguments={"type": ["letter"]}),
    "find_notifications_for_email": Refused(arguments={"email": "nobody@north.example"}),
    "find_notifications_sent_for_incident": Refused(arguments={"incident_id": "INC_002"}),
    "find_notifications": Refused(arguments={"notification_id": "NOTIF_099"}),
    "send_notification": Refused(arguments={"incident_id": "INC_001", "email": "ada@north.example"}),  # to oneself
    "update_notification": Refused(arguments={"notification_id": "NOTIF_002", "subject": ""}),
    "delete_notifications": Refused(arguments={"notification_id": "NOTIF_099"}),
    "map_change_request": Refused(arguments={"change_id": "CHG_001"}),
    "list_change_request_mappings": Refused(arguments={"change_id": 7}),
    "find_change_request_mappings_for_incident": Refused(arguments={"incident_id": "INC_099"}),
    "find_change_request_mappings_for_problem": Refused(arguments={"problem_id": "PRB_099"}),
    "delete_change_request_mappings": Refused(arguments={}),
    "link_affected_ci_to_incident": Refused(arguments={"configuration_item": "CI_001", "incident_id": "INC_001"}),
    "list_incident_affected_cis": Refused(arguments={"incident_id": 1}),
    "remove_affected_ci_from_incident": Refused(arguments={"incident_id": "INC_009"}),
    "find_incident_slas": Refused(arguments={"stage": "canceled"}),  # this one is spelled with two l
    "find_stage_wise_breached_incident_sla_counts": Refused(arguments={"stages": ["late"]}),
    "link_new_incident_sla": Refused(
        arguments={"incident_id": "INC_001", "sla_def_id": "SLA_002", "start_time": "soon"}
    ),
    "update_incident_sla_details": Refused(arguments={"incident_sla_id": "TSLA_002", "has_breached": False}),
    "delete_incident_slas": Refused(arguments={"incident_id": "INC_099"}),
}
