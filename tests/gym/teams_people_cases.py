"""One success and one refusal of the tools on users, chats and what is said in chats."""

from __future__ import annotations

import json

from small_teams import APPS, CONTEXT, FROM_ADA, NOW, SHOWN, bound, drawn, person
from tool_cases import Refused, Success

(USER_ID,) = drawn("uuid")
(CHAT_ID,) = drawn("32")
(PIN_ID,) = drawn("32")
EPOCH_MS = "1780304401000"  # 2026-06-01 09:00:01 UTC
MESSAGE = {"chatId": "chat-g", "messageId": "1001"}
NEW_USER = {
    "userPrincipalName": "dan@nord.example",
    "displayName": "Dan Engel",
    "accountEnabled": True,
    "mailNickname": "dan",
    "passwordProfile": {"password": "secret", "forceChangePasswordNextSignIn": True},
    "skills": ["Go", "C"],
}
MEMBER = {"_odata_type": "#microsoft.graph.aadUserConversationMember", "roles": ["owner"]}
PAIR = [{**MEMBER, "user_odata_bind": bound("ada")}, {**MEMBER, "user_odata_bind": bound("cy@nord.example")}]
CHAT_REST = ("nord-001", "tenant-nord")
REACTION = {
    "reactionType": "!",
    "createdDateTime": SHOWN,
    "user": {"user": {"id": "ada", "displayName": "Ada Berg", "userIdentityType": "aadUser"}},
}
OLD_REACTION = {"reactionType": "+", "createdDateTime": "x", "user": {"user": {"id": "ada"}}}


def chat_member(chat_id, user_id, role, name):
    """A row of chat_members as its values in order: the table has no key."""
    return (chat_id, "nord-001", user_id, role, "tenant-nord", name, 0, None, NOW)


def new_members(chat_id):
    rows = (chat_member(chat_id, "ada", "owner", "Ada Berg"), chat_member(chat_id, "cy", "owner", "Cy Doyle"))
    return {row: {"chat_id": chat_id, "user_id": row[2], "roles": "owner"} for row in rows}


SUCCESSES = {
    "list_users": Success(
        arguments={"_filter": "jobTitle eq 'Clerk'", "_select": "id,mail", "_top": 1, "_count": True},
        reply={
            "@odata.context": f"{CONTEXT}users",
            "value": [{"@odata.context": f"{CONTEXT}users/$entity", "id": "ben", "mail": None}],
            "@odata.nextLink": "https://graph.microsoft.com/v1.0/users?$top=1&$skip=1",
            "@odata.count": 1,
        },
    ),
    "create_user": Success(
        arguments=NEW_USER,
        reply={"id": USER_ID, "userPrincipalName": "dan@nord.example", "skills": ["Go", "C"], "mail": None}
        | {"userType": "Member", "isResourceAccount": False, "orgId": "nord-001", "softDeleted": False},
        changes={
            "teams_users": {
                USER_ID: {"org_id": "nord-001", "display_name": "Dan Engel", "mail_nickname": "dan", "created_at": NOW}
                | {"account_enabled": 1, "skills": '["Go", "C"]', "mail": None, "soft_deleted": 0}
            }
        },
    ),
    "get_user": Success(
        arguments={"userPrincipalName": "ada@nord.example", "_select": "displayName,skills,accountEnabled"},
        reply={"displayName": "Ada Berg", "skills": ["SQL"], "accountEnabled": True},
    ),
    "update_user": Success(
        arguments={"userId": "ben", "jobTitle": "Manager", "responsibilities": ["Plans"], "mail": "b@nord.example"},
        reply={"id": "ben", "jobTitle": "Manager", "responsibilities": ["Plans"], "lastModifiedDateTime": SHOWN[:-1]},
        changes={
            "teams_users": {
                "ben": {"job_title": "Manager", "responsibilities": '["Plans"]', "mail": "b@nord.example"}
                | {"updated_at": NOW}
            }
        },
    ),
    "delete_user": Success(
        arguments={"userId": "ben", "userPrincipalName": "ben@nord.example"},
        reply="Operation completed successfully",
        changes={"teams_users": {"ben": {"soft_deleted": 1, "updated_at": NOW}}},
    ),
    "set_user_status_message": Success(
        arguments={
            "user_id": "ben@nord.example",
            "statusMessage": {"message": {"content": "At lunch – back soon", "contentType": "text"}},
        },
        reply=200,
        changes={
            "teams_presence_sessions": {
                "ben": {"org_id": "nord-001", "status_message": "At lunch – back soon", "expiry_date_time": None}
            }
        },
    ),
    "create_chat": Success(
        arguments={"chatType": "oneOnOne", "members": list(reversed(PAIR)), "topic": "dropped"},
        reply={
            "@odata.context": f"{CONTEXT}chats/$entity",
            "id": "ada_cy",
            "topic": None,
            "createdDateTime": SHOWN,
            "chatType": "oneOnOne",
            "webUrl": "https://teams.microsoft.com/l/chat/ada%3Acy/0?tenantId=nord-001",
            "tenantId": "nord-001",
            "viewpoint": {"isHidden": False, "lastMessageReadDateTime": None},
        },
        changes={
            "chats": {"ada_cy": {"org_id": "nord-001", "topic": None, "chat_type": "oneOnOne", "soft_delete": 0}},
            "chat_members": new_members("ada_cy"),
        },
    ),
    "update_chat": Success(
        arguments={"chatId": "chat-g", "topic": "Dinner"},
        reply={"id": "chat-g", "topic": "Dinner"},
        changes={"chats": {"chat-g": {"topic": "Dinner", "updated_at": NOW}}},
    ),
    "list_chats": Success(
        arguments={"_expand": "members,lastMessagePreview", "_top": 1},
        reply={
            "@odata.count": 1,
            "value": [
                {
                    "id": "chat-g",
                    "topic": "Lunch",
                    "viewpoint": {"isHidden": True, "lastMessageReadDateTime": None},
                    "members": [{"userId": "ada", "roles": ["owner"]}, {"userId": "cy", "email": "cy@nord.example"}],
                    "lastMessagePreview": {"id": "1002", "body": {"contentType": "text", "content": "Yes"}},
                }
            ],
        },
    ),
    "list_chat_messages": Success(
        arguments={
            "chatId": "chat-g",
            "_orderby": "createdDateTime desc",
            "_filter": "createdDateTime lt 2026-05-04T00:00:00Z",
        },
        reply={
            "@odata.count": 1,
            "value": [
                {"id": "1001", "from": person("ada", "Ada Berg"), "lastModifiedDateTime": "2026-05-08T08:00:00Z"}
            ],
        },
    ),
    "add_tab_to_chat": Success(
        arguments={
            "chatId": "chat-g",
            "displayName": "List",
            "teamsApp_odata_bind": f"{APPS}/app-board",
            "configuration": {"contentUrl": "https://list"},
        },
        reply={
            "id": USER_ID,
            "displayName": "List",
            "sortOrderIndex": "1",
            "configuration": {"contentUrl": "https://list"},
            "teamsApp": {"id": "app-board", "displayName": "Board", "distributionMethod": "organization"},
        },
        changes={
            "teams_chat_tabs": {
                USER_ID: {"chat_id": "chat-g", "display_name": "List", "app_id": "app-board", "org_id": "nord-001"}
                | {"configuration_json": '{"contentUrl": "https://list"}'}
            }
        },
    ),
    "send_chat_message": Success(
        arguments={"chatId": "chat-g", "body": {"content": "One"}, "importance": "high"},
        reply={
            "@odata.context": f"{CONTEXT}chats('chat-g')/messages/$entity",
            "id": EPOCH_MS,
            "etag": EPOCH_MS,
            "chatId": "chat-g",
            "importance": "high",
            "from": person("ada", "Ada Berg"),
            "body": {"contentType": "text", "content": "One"},
            "webUrl": None,
            "mentions": [],
        },
        changes={
            "chat_messages": {
                EPOCH_MS: {
                    "chat_id": "chat-g",
                    "importance": "high",
                    "created_datetime": NOW,
                    "message_type": "message",
                }
                | {"body_json": '{"contentType": "text", "content": "One"}', "from_json": FROM_ADA}
            }
        },
    ),
    "soft_delete_chat_message": Success(
        arguments=MESSAGE,
        reply="Operation completed successfully",
        changes={"chat_messages": {"1001": {"deleted_datetime": NOW, "last_modified_datetime": NOW}}},
    ),
    "undo_soft_delete_chat_message": Success(
        arguments={"chatId": "chat-g", "messageId": "1002"},
        reply="Operation completed successfully",
        changes={"chat_messages": {"1002": {"deleted_datetime": None, "last_modified_datetime": NOW}}},
    ),
    "update_chat_message": Success(
        arguments={**MESSAGE, "body": {"content": "One?", "contentType": "html"}, "subject": "Lunch"},
        reply="Operation completed successfully",
        changes={
            "chat_messages": {
                "1001": {"body_json": '{"contentType": "html", "content": "One?"}', "subject": "Lunch"}
                | {"last_modified_datetime": NOW, "last_edited_datetime": NOW}
            }
        },
    ),
    "set_chat_message_reaction": Success(
        arguments={**MESSAGE, "reactionType": "!"},
        reply="Operation completed successfully",
        changes={"chat_messages": {"1001": {"reactions_json": json.dumps([OLD_REACTION, REACTION])}}},
    ),
    "unset_chat_message_reaction": Success(
        arguments={**MESSAGE, "reactionType": "+"},
        reply="Operation completed successfully",
        changes={"chat_messages": {"1001": {"reactions_json": "[]"}}},
    ),
    "pin_chat_message": Success(
        arguments=MESSAGE,
        reply={"@odata.type": "#microsoft.graph.pinnedChatMessageInfo", "id": PIN_ID},
        changes={"pinned_chat_messages": {PIN_ID: {"chat_id": "chat-g", "message_id": "1001"}}},
    ),
}

NO_CHAT = "Chat not found: chat-z"
NO_MESSAGE = "Message not found: 9"
REFUSALS = {
    "list_users": Refused(arguments={"_top": 1000}, text="Validation errors:\n- _top"),
    "create_user": Refused(arguments={**NEW_USER, "userPrincipalName": "ben@nord.example"}, text="already exists"),
    "get_user": Refused(arguments={"userId": "zed"}, text="User not found: zed or not from your organization"),
    "update_user": Refused(arguments={"userId": "ben"}, text="At least one field must be provided"),
    "delete_user": Refused(arguments={"userId": "ben", "userPrincipalName": "cy@nord.example"}, text="same user"),
    "set_user_status_message": Refused(
        arguments={"user_id": "ben", "statusMessage": {"message": {"content": "x" * 281, "contentType": "text"}}},
        text="statusMessage.message.content",
    ),
    "create_chat": Refused(arguments={"chatType": "oneOnOne", "members": [*PAIR, PAIR[0]]}, text="exactly 2 members"),
    "update_chat": Refused(arguments={"chatId": "ada_ben", "topic": "Two"}, text="Only group chats"),
    "list_chats": Refused(arguments={"_expand": "tabs"}, text="Invalid expand parameter value: 'tabs'"),
    "list_chat_messages": Refused(arguments={"chatId": "chat-z"}, text=NO_CHAT),
    "add_tab_to_chat": Refused(
        arguments={"chatId": "chat-g", "displayName": "X", "teamsApp_odata_bind": f"{APPS}/app-none"},
        text="Teams app 'app-none' not found in organization app catalog",
    ),
    "send_chat_message": Refused(arguments={"chatId": "chat-z", "body": {"content": "One"}}, text=NO_CHAT),
    "soft_delete_chat_message": Refused(arguments={"chatId": "chat-g", "messageId": "9"}, text=NO_MESSAGE),
    "undo_soft_delete_chat_message": Refused(arguments={"chatId": "chat-g", "messageId": "9"}, text=NO_MESSAGE),
    "update_chat_message": Refused(
        arguments={"chatId": "chat-g", "messageId": "1002", "subject": "Mine"}, text="Only the sender"
    ),
    "set_chat_message_reaction": Refused(
        arguments={"chatId": "chat-g", "messageId": "9", "reactionType": "!"}, text=NO_MESSAGE
    ),
    "unset_chat_message_reaction": Refused(arguments={**MESSAGE, "reactionType": ""}, text="reactionType"),
    "pin_chat_message": Refused(arguments={"chatId": "chat-g", "messageId": "1002"}, text="already pinned"),
}
