"""One success and one refusal of the tools on calls, events and the catalogue of apps."""

from __future__ import annotations

import json

from small_teams import CONTEXT, NOW, drawn
from tool_cases import Refused, Success

CALL_ID, CHAIN_ID, PARTICIPANT_ID = drawn("uuid", "uuid", "uuid")
EVENT_ID = "@".join(drawn("uuid", "uuid"))
DONE = "Operation completed successfully"
MEDIA = {"_odata_type": "#microsoft.graph.serviceHostedMediaConfig"}
TARGET = {
    "@odata.type": "#microsoft.graph.invitationParticipantInfo",
    "identity": {
        "@odata.type": "#microsoft.graph.identitySet",
        "user": {
            "@odata.type": "#microsoft.graph.identity",
            "id": "ben",
            "displayName": "Ben Costa",
            "identityProvider": None,
            "tenantId": None,
        },
        "phone": None,
        "application": None,
    },
    "replacesCallId": None,
    "participantId": None,
    "hidden": None,
    "removeFromDefaultAudioRoutingGroup": None,
}
NEW_CALL = {
    "callbackUri": "https://bot.example/calls",
    "targets": [{"identity": {"user": {"id": "ben", "displayName": "Ben Costa"}}}],
    "requestedModalities": ["audio"],
    "mediaConfig": MEDIA,
}
EVENT = {
    "displayName": "Briefing",
    "description": {"contentType": "text", "content": "What is new"},
    "startDateTime": {"dateTime": "2026-08-01T10:00:00", "timeZone": "Pacific Standard Time"},
    "endDateTime": {"dateTime": "2026-08-01T11:00:00", "timeZone": "Pacific Standard Time"},
    "audience": "organization",
    "coOrganizers": [{"id": "cy"}],
}
EVENT_ROW = {
    "org_id": "nord-001",
    "status": "draft",
    "display_name": "Briefing",
    "description_content": "What is new",
    "description_content_type": "text",
    "start_date_time": "2026-08-01T10:00:00",
    "start_time_zone": "Pacific Standard Time",
    "audience": "organization",
    "created_by_user_id": "ada",
    "created_by_display_name": "Ada Berg",
    "is_attendee_email_notification_enabled": 0,
    "created_at": NOW,
}
COORGANIZER = {(EVENT_ID, "nord-001", "cy", NOW): {"user_id": "cy"}}
KICK_OFF = {
    "@odata.type": "#microsoft.graph.virtualEventWebinar",
    "id": "w@1",
    "status": "draft",
    "displayName": "Kick-off",
    "description": {"contentType": "text", "content": "Start"},
    "createdBy": {"application": None, "device": None, "user": {"id": "ada", "tenantId": "tenant-nord"}},
    "coOrganizers": [{"id": "cy", "tenantId": "tenant-nord", "displayName": "Cy Doyle"}],
    "settings": {"isAttendeeEmailNotificationEnabled": True},
}
SESSION = {"id": "ses-1", "segments": [{"id": "seg-1"}]}
RECORDS = f"{CONTEXT}communications/callRecords"
MISHAP = (
    "Failed to create townhall: schemas.virtual_event_townhall.VirtualEventTownhallResponse() "
    "argument after ** must be a mapping, not NoneType"
)

SUCCESSES = {
    "list_call_records": Success(
        arguments={
            "_filter": "participants_v2/any(p:p/id eq 'ben') and startDateTime ge 2026-05-01T00:00:00Z",
            "_select": "id,type",
        },
        reply={"@odata.context": RECORDS, "value": [{"id": "rec-1", "type": "groupCall"}]},
    ),
    "get_call_record": Success(
        arguments={"id": "rec-1", "_select": "modalities", "_expand": "participants_v2,sessions(_expand=segments)"},
        reply={
            "modalities": ["audio"],
            "participants_v2@odata.context": f"{RECORDS}('rec-1')/participants_v2",
            "participants_v2": [{"id": "ben", "identity": {"user": {"id": "ben"}}}],
        },
    ),
    "list_call_sessions": Success(
        arguments={"id": "rec-1", "_select": "id", "_expand": "segments"},
        reply={"@odata.context": f"{RECORDS}('rec-1')/sessions", "value": [SESSION]},
    ),
    "create_call": Success(
        arguments={**NEW_CALL, "subject": "Sync", "callOptions": {"isDeltaRosterEnabled": False}},
        reply={
            "id": CALL_ID,
            "state": "establishing",
            "direction": "outgoing",
            "callChainId": CHAIN_ID,
            "source": None,
            "targets": [TARGET],
            "mediaConfig": {**MEDIA, "@odata.type": "#microsoft.graph.serviceHostedMediaConfig"},
            "myParticipantId": PARTICIPANT_ID,
            "subject": "Sync",
            "callOptions": {
                "isContentSharingNotificationEnabled": True,
                "isDeltaRosterEnabled": False,
                "isInteractiveRosterEnabled": True,
            },
            "routingPolicies": [],
            "tenantId": None,
        },
        changes={
            "calls": {
                CALL_ID: {"org_id": "nord-001", "source": None, "targets": json.dumps([TARGET]), "subject": "Sync"}
                | {"requested_modalities": '["audio"]', "state": "establishing", "soft_delete": 0, "created_at": NOW}
            }
        },
    ),
    "create_audio_routing_group": Success(
        arguments={"call_id": "call-1", "routingMode": "multicast", "sources": ["a"], "receivers": ["b", "c"]},
        reply={"id": CALL_ID, "routingMode": "multicast", "sources": ["a"], "receivers": ["b", "c"]},
        changes={
            "audio_routing_groups": {
                CALL_ID: {"call_id": "call-1", "routing_mode": "multicast", "receivers": '["b", "c"]'}
            }
        },
    ),
    "create_virtual_event_webinar": Success(
        arguments=EVENT,
        reply={
            "@odata.type": "#microsoft.graph.virtualEventWebinar",
            "id": EVENT_ID,
            "status": "draft",
            "startDateTime": EVENT["startDateTime"],
            "coOrganizers": [{"id": "cy", "tenantId": "tenant-nord", "displayName": "Cy Doyle"}],
            "settings": {"isAttendeeEmailNotificationEnabled": False},
            "externalEventInformation": [],
        },
        changes={
            "virtual_event_webinars": {EVENT_ID: EVENT_ROW},
            "virtual_event_webinar_coorganizers": COORGANIZER,
        },
    ),
    "get_virtual_event_webinar": Success(arguments={"webinar_id": "w@1"}, reply=KICK_OFF),
    "list_virtual_event_webinars": Success(
        arguments={},
        reply={
            "@odata.context": f"{CONTEXT}solutions/virtualEvents/webinars",
            "@odata.count": 3,
            "value": [KICK_OFF, {"id": "w@2", "status": "canceled"}, {"id": "w@3"}],
        },
    ),
    "publish_virtual_event_webinar": Success(
        arguments={"webinar_id": "w@1"},
        reply=DONE,
        changes={"virtual_event_webinars": {"w@1": {"status": "published", "updated_at": NOW}}},
    ),
    "cancel_virtual_event_webinar": Success(
        arguments={"webinar_id": "w@1"},
        reply=DONE,
        changes={"virtual_event_webinars": {"w@1": {"status": "canceled", "updated_at": NOW}}},
    ),
    "create_virtual_event_townhall": Success(
        arguments={**EVENT, "isInviteOnly": True, "invitedAttendees": [{"id": "ben"}]},
        reply=MISHAP,
        is_error=True,
        changes={
            "virtual_event_townhalls": {EVENT_ID: {**EVENT_ROW, "is_invite_only": 1}},
            "virtual_event_townhall_coorganizers": COORGANIZER,
            "virtual_event_townhall_invited_attendees": {(EVENT_ID, "nord-001", "ben", NOW): {"identity_id": "ben"}},
        },
    ),
    "list_virtual_event_townhalls": Success(
        arguments={"_count": True},
        reply={
            "@odata.count": 2,
            "value": [
                {
                    "id": "t@1",
                    "isInviteOnly": True,
                    "invitedAttendees": [{"id": "ben", "tenantId": "tenant-nord", "displayName": "Ben Costa"}],
                },
                {"id": "t@2", "isInviteOnly": False, "invitedAttendees": []},
            ],
        },
    ),
    "cancel_virtual_event_townhall": Success(
        arguments={"townhall_id": "t@1"},
        reply=DONE,
        changes={"virtual_event_townhalls": {"t@1": {"status": "canceled", "updated_at": NOW}}},
    ),
    "list_teams_apps": Success(
        arguments={"_filter": "distributionMethod eq 'organization' or id eq 'app-x'", "_select": "displayName,id"},
        reply={
            "@odata.context": f"{CONTEXT}appCatalogs/teamsApps",
            "value": [{"id": "app-board", "displayName": "Board"}],
        },
    ),
}

REFUSALS = {
    "list_call_records": Refused(arguments={"_filter": 5}, text="_filter"),
    "get_call_record": Refused(arguments={"id": "rec-9"}, text="Call record not found: rec-9"),
    "list_call_sessions": Refused(arguments={"id": "rec-9"}, text="Call record not found: rec-9"),
    "create_call": Refused(arguments={**NEW_CALL, "requestedModalities": ["smell"]}, text="requestedModalities[0]"),
    "create_audio_routing_group": Refused(
        arguments={"call_id": "call-1", "routingMode": "oneToOne", "sources": ["a"], "receivers": ["b", "c"]},
        text="does not match",
    ),
    "create_virtual_event_webinar": Refused(
        arguments={**EVENT, "coOrganizers": [{"id": "zed"}]}, text="User not found"
    ),
    "get_virtual_event_webinar": Refused(arguments={"webinar_id": "w@9"}, text="Webinar not found: w@9"),
    "list_virtual_event_webinars": Refused(arguments={"_count": "many"}, text="_count"),
    "publish_virtual_event_webinar": Refused(arguments={"webinar_id": "w@2"}, text="canceled"),
    "cancel_virtual_event_webinar": Refused(arguments={"webinar_id": "w@3"}, text="Only the organizer"),
    "create_virtual_event_townhall": Refused(arguments={**EVENT, "audience": "friends"}, text="audience"),
    "list_virtual_event_townhalls": Refused(arguments={"_count": []}, text="_count"),
    "cancel_virtual_event_townhall": Refused(arguments={"townhall_id": "t@2"}, text="Only the organizer"),
    "list_teams_apps": Refused(arguments={"_select": ["id"]}, text="_select"),
}
