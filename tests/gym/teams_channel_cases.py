"""One success and one refusal of the tools on channels, what is said in them, and their tabs."""

from __future__ import annotations

import json

from small_teams import APPS, CONTEXT, NOW, SHOWN, bound, drawn, person
from tool_cases import Refused, Success

(HEX,) = drawn("32")
CHANNEL, MESSAGE_ID, TAB_ID = f"channel_{HEX}", f"msg_{HEX}", f"tab_{HEX[:16]}"
GENERAL = {"teamId": "team-a", "channelId": "ch-general"}
LAB = {"teamId": "team-a", "channelId": "ch-lab"}
ITEM_URL = "https://graph.microsoft.com/v1.0/tenants/tenant-nord/teams/team-a/channels"
CURRENT = person("ada", "Current User")
REACTION = {
    "reactionType": "!",
    "createdDateTime": SHOWN,
    "user": {"user": {"id": "ada", "displayName": "Ada Berg", "userIdentityType": "aadUser"}},
}

SUCCESSES = {
    "create_channel": Success(
        arguments={
            "teamId": "team-a",
            "displayName": "Plans",
            "membershipType": "private",
            "members": [
                {"user_odata_bind": bound("ben"), "roles": ["owner"]},
                {"user_odata_bind": "https://graph.microsoft.com/v1.0/users/cy", "roles": []},
            ],
        },
        reply={
            "@odata.context": f"{CONTEXT}teams('team-a')/channels/$entity",
            "@odata.type": "#microsoft.graph.channel",
            "id": CHANNEL,
            "displayName": "Plans",
            "description": None,
            "membershipType": "private",
            "isFavoriteByDefault": False,
            "tenantId": "tenant-nord",
            "teamId": "team-a",
            "isArchived": False,
            "createdDateTime": SHOWN,
        },
        changes={
            "channels": {
                CHANNEL: {"team_id": "team-a", "display_name": "Plans", "membership_type": "private", "email": None}
                | {"org_id": "nord-001", "is_archived": 0, "soft_delete": 0, "created_date_time": NOW}
            },
            "channel_members": {
                8: {"channel_id": CHANNEL, "user_id": "ben", "email": "ben@nord.example", "roles": "owner"},
                9: {"channel_id": CHANNEL, "user_id": "cy", "email": "cy@nord.example", "roles": "member"},
            },
        },
    ),
    "update_channel": Success(
        arguments={**LAB, "displayName": "Laboratory", "isFavoriteByDefault": True},
        reply="Operation completed successfully",
        changes={
            "channels": {
                "ch-lab": {"display_name": "Laboratory", "is_favorite_by_default": 1, "updated_date_time": NOW}
            }
        },
    ),
    "list_channels": Success(
        arguments={"teamId": "team-a", "_select": "displayName,membershipType"},
        reply={
            "@odata.context": f"{CONTEXT}teams('team-a')/channels",
            "@odata.count": 2,
            "value": [
                {"@odata.id": f"{ITEM_URL}/ch-lab", "displayName": "Test Lab", "membershipType": "private"},
                {"@odata.id": f"{ITEM_URL}/ch-general", "displayName": "General", "membershipType": "standard"},
            ],
        },
    ),
    "list_all_channels": Success(
        arguments={"teamId": "team-a", "_filter": "membershipType eq 'private'"},
        reply={
            "@odata.context": f"{CONTEXT}teams('team-a')/allChannels",
            "@odata.count": 1,
            "value": [{"id": "ch-lab", "isArchived": False, "tenantId": "tenant-nord"}],
        },
    ),
    "get_primary_channel": Success(
        arguments={"teamId": "team-a", "_select": "id,description", "_expand": "tabs"},
        reply={
            "id": "ch-general",
            "description": "All of us",
            "tabs": [{"id": "tab-1", "configuration": {"entityId": "n1"}}, {"id": "tab-2"}],
        },
    ),
    "add_channel_member": Success(
        arguments={**LAB, "user_odata_bind": bound("ben@nord.example")},
        reply={
            "id": 8,
            "roles": ["member"],
            "displayName": "Ben Costa",
            "email": "ben@nord.example",
            "userId": "ben",
            "tenantId": "tenant-nord",
            "visibleHistoryStartDateTime": SHOWN,
        },
        changes={"channel_members": {8: {"channel_id": "ch-lab", "user_id": "ben", "roles": "member"}}},
    ),
    "archive_channel": Success(
        arguments=LAB,
        reply="Operation completed successfully",
        changes={"channels": {"ch-lab": {"is_archived": 1, "updated_date_time": NOW}}},
    ),
    "list_channel_messages": Success(
        arguments={**GENERAL, "_top": 5, "_expand": "replies"},
        reply={
            "@odata.count": 2,
            "value": [
                {"id": "msg-2", "deletedDateTime": "2026-05-05T08:00:00Z", "replies": []},
                {"id": "msg-1", "channelIdentity": GENERAL, "replies": [{"id": "msg-3", "replyToId": "msg-1"}]},
            ],
        },
    ),
    "send_channel_message": Success(
        arguments={**GENERAL, "body": {"contentType": "html", "content": "<b>Hi</b>"}, "subject": "News"},
        reply={
            "@odata.context": f"{CONTEXT}teams('team-a')/channels('ch-general')/messages/$entity",
            "id": MESSAGE_ID,
            "etag": f"etag_{MESSAGE_ID}",
            "chatId": None,
            "subject": "News",
            "importance": "normal",
            "webUrl": f"https://teams.microsoft.com/l/message/ch-general/{MESSAGE_ID}",
            "from": CURRENT,
            "body": {"contentType": "text", "content": "<b>Hi</b>"},
            "channelIdentity": GENERAL,
        },
        changes={
            "channel_messages": {
                MESSAGE_ID: {
                    "team_id": "team-a",
                    "channel_id": "ch-general",
                    "created_datetime": NOW,
                    "subject": "News",
                }
                | {"body_json": '{"contentType": "text", "content": "<b>Hi</b>"}', "from_json": json.dumps(CURRENT)}
            }
        },
    ),
    "soft_delete_channel_message": Success(
        arguments={**GENERAL, "messageId": "msg-1", "replyId": "msg-3"},
        reply="Operation completed successfully",
        changes={"channel_messages": {"msg-3": {"deleted_datetime": NOW, "last_modified_datetime": NOW}}},
    ),
    "undo_soft_delete_channel_message": Success(
        arguments={**GENERAL, "messageId": "msg-2"},
        reply="Operation completed successfully",
        changes={"channel_messages": {"msg-2": {"deleted_datetime": None, "last_modified_datetime": NOW}}},
    ),
    "update_channel_message": Success(
        arguments={**GENERAL, "messageId": "msg-1", "body": {"content": "Hello all"}, "importance": "urgent"},
        reply="Operation completed successfully",
        changes={
            "channel_messages": {
                "msg-1": {"body_json": '{"contentType": "text", "content": "Hello all"}', "importance": "urgent"}
                | {"last_modified_datetime": NOW, "last_edited_datetime": NOW}
            }
        },
    ),
    "set_channel_message_reaction": Success(
        arguments={**GENERAL, "messageId": "msg-1", "reactionType": "!"},
        reply="Operation completed successfully",
        changes={"channel_messages": {"msg-1": {"reactions_json": json.dumps([REACTION])}}},
    ),
    "unset_channel_message_reaction": Success(
        arguments={**GENERAL, "messageId": "msg-2", "reactionType": "!"},
        reply="Operation completed successfully",
        changes={"channel_messages": {"msg-2": {"reactions_json": "[]"}}},
    ),
    "get_files_folder": Success(
        arguments=GENERAL,
        reply={
            "id": "folder-1",
            "size": 2048,
            "parentReference": {"driveId": "drive-9"},
            "folder": {"@odata.type": "microsoft.graph.folder"},
            "versions": [{"@odata.type": "microsoft.graph.driveItemVersion"}],
            "@odata.context": "http://localhost:8005/v1.0/$metadata#drives('drive-9')/items/$entity",
        },
    ),
    "list_tabs_in_channel": Success(
        arguments={**GENERAL, "_filter": "teamsApp/id eq 'app-board'", "_expand": "teamsApp", "_select": "id"},
        reply={
            "@odata.context": f"{CONTEXT}teams('team-a')/channels('ch-general')/tabs",
            "@odata.count": 1,
            "value": [
                {
                    "id": "tab-2",
                    "teamsApp": {"id": "app-board", "displayName": "Board", "distributionMethod": "organization"},
                }
            ],
        },
    ),
    "add_tabs_to_channels": Success(
        arguments={
            **GENERAL,
            "displayName": "Wiki",
            "teamsApp_odata_bind": f"{APPS}/app-notes",
            "configuration": {"entityId": "w1"},
        },
        reply={
            "@odata.context": f"{CONTEXT}teams('team-a')/channels('ch-general')/tabs/$entity",
            "id": TAB_ID,
            "displayName": "Wiki",
            "teamsApp_odata_bind": f"{APPS}('app-notes')",
            "configuration": {"entityId": "w1"},
            "teamsApp": {"id": "app-notes", "displayName": "Notes", "distributionMethod": "store"},
        },
        changes={
            "teams_channel_tabs": {
                TAB_ID: {"channel_id": "ch-general", "display_name": "Wiki", "app_id": "app-notes", "team_id": "team-a"}
                | {"configuration_json": '"{\\"entityId\\": \\"w1\\"}"'}
            }
        },
    ),
    "provision_channel_email": Success(
        arguments=LAB,
        reply={
            "@odata.type": "#microsoft.graph.provisionChannelEmailResult",
            "email": "test-lab.team-a@nord-001.teams.ms",
        },
        changes={"channels": {"ch-lab": {"email": "test-lab.team-a@nord-001.teams.ms", "updated_date_time": NOW}}},
    ),
    "update_channel_tab": Success(
        arguments={**GENERAL, "tabId": "tab-1", "displayName": "Records"},
        reply={
            "id": "tab-1",
            "displayName": "Records",
            "teamsApp_odata_bind": f"{APPS}('app-notes')",
            "configuration": {"entityId": "n1"},
            "sortOrderIndex": "10000100",
            "webUrl": "https://tab/1",
        },
        changes={"teams_channel_tabs": {"tab-1": {"display_name": "Records", "updated_at": NOW}}},
    ),
    "delete_channel_tab": Success(
        arguments={**GENERAL, "tabId": "tab-2"},
        reply="Operation completed successfully",
        changes={"teams_channel_tabs": {"tab-2": None}},
    ),
}

NO_CHANNEL = {"teamId": "team-a", "channelId": "ch-old"}  # deleted
NO_MESSAGE = {**GENERAL, "messageId": "msg-9"}
REFUSALS = {
    "create_channel": Refused(
        arguments={
            "teamId": "team-a",
            "displayName": "X",
            "membershipType": "shared",
            "members": [{"user_odata_bind": bound("ben")}],
        },
        text="Invalid request: 1 validation error for ChannelCreate\nmembers.0.roles\n  Field required",
    ),
    "update_channel": Refused(arguments=LAB, text="At least one property"),
    "list_channels": Refused(arguments={"teamId": "team-z"}, text="Team not found: team-z"),
    "list_all_channels": Refused(arguments={}, text="Validation errors:\n- teamId"),
    "get_primary_channel": Refused(arguments={"teamId": "team-b"}, text="Primary channel not found"),
    "add_channel_member": Refused(arguments={**GENERAL, "user_odata_bind": bound("ben")}, text="private or shared"),
    "archive_channel": Refused(arguments=GENERAL, text="General channel cannot be archived"),
    "list_channel_messages": Refused(arguments=NO_CHANNEL, text="Channel not found: ch-old"),
    "send_channel_message": Refused(
        arguments={**GENERAL, "body": {"content": "Hi"}},
        text="Validation errors:\n- contentType: contentType is required",
    ),
    "soft_delete_channel_message": Refused(arguments=NO_MESSAGE, text="Message not found: msg-9"),
    "undo_soft_delete_channel_message": Refused(
        arguments={**GENERAL, "messageId": "msg-2", "replyId": "msg-3"}, text="Message not found: msg-3"
    ),
    "update_channel_message": Refused(
        arguments={**GENERAL, "messageId": "msg-2", "subject": "Mine"}, text="Only the sender"
    ),
    "set_channel_message_reaction": Refused(arguments={**NO_MESSAGE, "reactionType": "!"}, text="Message not found"),
    "unset_channel_message_reaction": Refused(arguments=NO_MESSAGE, text="reactionType"),
    "get_files_folder": Refused(arguments=LAB, text="Files folder not found"),
    "list_tabs_in_channel": Refused(
        arguments={**GENERAL, "_expand": "owner"},
        text="Invalid expand parameter value: 'owner'. Supported values: 'teamsApp'",
    ),
    "add_tabs_to_channels": Refused(
        arguments={**GENERAL, "displayName": "X", "teamsApp_odata_bind": f"{APPS}/app-none"},
        text="Teams app 'app-none' not found in organization app catalog. The app must be preinstalled in the team.",
    ),
    "provision_channel_email": Refused(arguments=NO_CHANNEL, text="Channel not found"),
    "update_channel_tab": Refused(arguments={**GENERAL, "tabId": "tab-1"}, text="At least one property"),
    "delete_channel_tab": Refused(arguments={**LAB, "tabId": "tab-1"}, text="Tab not found: tab-1"),
}
