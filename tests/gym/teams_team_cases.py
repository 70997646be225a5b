"""One success and one refusal of the tools on teams, their members, tags and groups."""

from __future__ import annotations

import json

from small_teams import CONTEXT, MEMBERS, NOW, SECONDS, bound, drawn
from tool_cases import Refused, Success

(HEX,) = drawn("32")
(UUID,) = drawn("uuid")
OLD = json.loads(MEMBERS)
KIND = "#microsoft.graph.aadUserConversationMember"
DONE = "Operation completed successfully"


def joined(member_id, user_id, name, email, roles):
    """A member as the team's row stores it."""
    return {
        "@odata.type": KIND,
        "id": f"membership_{member_id}",
        "roles": roles,
        "displayName": name,
        "userId": user_id,
        "email": email,
        "tenantId": "nord-001",
        "visibleHistoryStartDateTime": None,
    }


def with_members(*members):
    return {"teams": {"team-a": {"members": json.dumps(list(members)), "updated_date_time": SECONDS}}}


CY = joined(HEX, "cy", "Cy Doyle", "cy@nord.example", ["member"])
OWNER_ID, GROUP_ID = drawn("32", "32")[0], drawn("32", "32", "32")[2]
TEAM_ID = f"team_{drawn('32', '32')[1]}"
INTERNAL_ID = drawn("32", "32", "32", "uuid")[3]
TAG_ID, TAG_MEMBER_ID = drawn("uuid", "uuid")
TAG = {"team_id": "team-a", "tag_id": "tag-1"}
NEW_GROUP = {"displayName": "Pilots", "mailEnabled": False, "mailNickname": "pilots", "securityEnabled": True}

SUCCESSES = {
    "create_team": Success(
        arguments={
            "template_odata_bind": "https://graph.microsoft.com/v1.0/teamsTemplates('standard')",
            "displayName": "Gamma",
            "members": [{"user_odata_bind": bound("ada"), "roles": ["owner"]}],
            "channels": [{"displayName": "Never made"}],
            "funSettings": {"allowGiphy": False},
        },
        reply={
            "@odata.context": f"{CONTEXT}teams('{TEAM_ID}')/operations/$entity",
            "id": TEAM_ID,
            "operationType": "createTeam",
            "createdDateTime": "2026-06-01T09:00:01",
            "status": "succeeded",
            "lastActionDateTime": "2026-06-01T09:00:01.000000+00:00",
            "attemptsCount": 1,
            "targetResourceId": TEAM_ID,
            "targetResourceLocation": f"/teams('{TEAM_ID}')",
            "values": f'{{"TeamId":"{TEAM_ID}","Messages":["Team created"]}}',
        },
        changes={
            "teams": {
                TEAM_ID: {
                    "org_id": "nord-001",
                    "group_id": f"group_{GROUP_ID}",
                    "template_id": "standard",
                    "display_name": "Gamma",
                    "visibility": "private",
                    "internal_id": INTERNAL_ID,
                    "fun_settings": '{"allowGiphy": false, "giphyContentRating": "moderate", '
                    '"allowStickersAndMemes": true, "allowCustomMemes": true}',
                    "members": json.dumps([joined(OWNER_ID, "ada", "Ada Berg", "ada@nord.example", ["owner"])]),
                    "created_date_time": SECONDS,
                    "soft_delete": 0,
                }
            }
        },
    ),
    "list_teams": Success(
        arguments={"_filter": "contains(displayName,'e') or displayName eq 'Alpha'", "_select": "id", "_count": True},
        reply={"@odata.context": f"{CONTEXT}teams", "@odata.count": 1, "value": [{"id": "team-b"}]},
    ),
    "update_team": Success(
        arguments={"teamId": "team-a", "description": "Still first", "memberSettings": {"allowDeleteChannels": False}},
        reply={
            "id": "team-a",
            "internalId": "int-a",
            "tenantId": "tenant-nord",
            "description": "Still first",
            "memberSettings": {"allowDeleteChannels": False, "allowAddRemoveApps": True},
            "isArchived": False,
            "members": None,
        },
        changes={
            "teams": {
                "team-a": {
                    "description": "Still first",
                    "member_settings": '{"allowDeleteChannels": false, "allowAddRemoveApps": true}',
                    "updated_date_time": SECONDS,
                }
            }
        },
    ),
    "delete_team": Success(
        arguments={"teamId": "team-a"},
        reply=DONE,
        changes={
            "teams": {"team-a": {"soft_delete": 1, "updated_date_time": SECONDS}},
            "groups": {"group-a": {"soft_delete": 1}},
        },
    ),
    "list_team_members": Success(
        arguments={
            "teamId": "team-a",
            "_filter": "(microsoft.graph.aadUserConversationMember/email eq 'ben@nord.example')",
            "_select": "userId,roles",
        },
        reply={"@odata.count": 1, "value": [{"userId": "ben", "roles": ["member"]}]},
    ),
    "add_team_member": Success(
        arguments={"teamId": "team-a", "user_odata_bind": bound("cy@nord.example")},
        reply={
            "_odata_type": KIND,
            "id": f"membership_{HEX}",
            "roles": ["member"],
            "displayName": "Cy Doyle",
            "visibleHistoryStartDateTime": None,
            "userId": "cy",
            "email": "cy@nord.example",
            "tenantId": None,
        },
        changes=with_members(*OLD, CY),
    ),
    "add_team_members_in_bulk": Success(
        arguments={
            "teamId": "team-a",
            "values": [{"user_odata_bind": bound("ben")}, {"user_odata_bind": bound("cy"), "roles": ["guest"]}],
        },
        reply={
            "addedMembers": [{"id": f"membership_{HEX}", "roles": ["guest"], "userId": "cy", "tenantId": "nord-001"}],
            "failedMembers": [{"error": "User 'ben' is already a member of the team"}],
            "totalAdded": 1,
            "totalFailed": 1,
        },
        changes=with_members(*OLD, {**CY, "roles": ["guest"]}),
    ),
    "update_team_member": Success(
        arguments={"teamId": "team-a", "membershipId": "m-ada", "roles": ["member"]},
        reply={"id": "m-ada", "roles": ["member"], "visibleHistoryStartDateTime": "2021-01-01T00:00:00"},
        changes=with_members({**OLD[0], "roles": ["member"]}, OLD[1]),
    ),
    "remove_team_member": Success(
        arguments={"teamId": "team-a", "membershipId": "m-ben"}, reply=DONE, changes=with_members(OLD[0])
    ),
    "list_installed_apps": Success(
        arguments={"teamId": "team-a", "_expand": "teamsApp", "_filter": "teamsApp/externalId eq 'ext-1'"},
        reply={
            "@odata.context": "$metadata#teams('team-a')/installedApps",
            "@odata.count": 1,
            "value": [{"id": "inst-2", "teamsApp": {"id": "app-board", "displayName": "Board", "externalId": "ext-1"}}],
        },
    ),
    "create_teamwork_tag": Success(
        arguments={"team_id": "team-a", "displayName": "Night", "members": [{"userId": "ben", "displayName": "Ben"}]},
        reply={
            "displayName": "Night",
            "description": None,
            "tagType": "standard",
            "teamId": "team-a",
            "id": TAG_ID,
            "memberCount": 1,
            "members": [{"userId": "ben", "displayName": "Ben"}],
        },
        changes={
            "teamwork_tags": {TAG_ID: {"team_id": "team-a", "display_name": "Night", "tag_type": "standard"}},
            "teamwork_tag_members": {
                TAG_MEMBER_ID: {"tagId": TAG_ID, "teamId": "team-a", "userId": "ben", "displayName": "Ben"}
            },
        },
    ),
    "list_teamwork_tags": Success(
        arguments={"team_id": "team-a", "_filter": "tagType eq 'standard'", "_top": 1},
        reply={"@odata.count": 1, "value": [{"id": "tag-1", "displayName": "Leads", "memberCount": 1}]},
    ),
    "update_teamwork_tag": Success(
        arguments={**TAG, "description": "Leaders", "members": [{"userId": "ben", "displayName": "Ben Costa"}]},
        reply={"id": "tag-1", "description": "Leaders", "members": [{"userId": "ben", "displayName": "Ben Costa"}]},
        changes={
            "teamwork_tags": {"tag-1": {"description": "Leaders"}},
            "teamwork_tag_members": {"tm-1": None, UUID: {"tagId": "tag-1", "userId": "ben"}},
        },
    ),
    "create_teamwork_tag_member": Success(
        arguments={**TAG, "userId": "ben"},
        reply={"id": UUID, "userId": "ben", "displayName": "Ben Costa"},
        changes={"teamwork_tag_members": {UUID: {"tagId": "tag-1", "userId": "ben", "displayName": "Ben Costa"}}},
    ),
    "create_group": Success(
        arguments={**NEW_GROUP, "owners_odata_bind": [bound("ada")], "description": "Who fly"},
        reply={"id": UUID, "displayName": "Pilots", "securityEnabled": True, "mailEnabled": False},
        changes={
            "groups": {
                UUID: {"display_name": "Pilots", "mail_nickname": "pilots", "security_enabled": 1, "mail_enabled": 0}
                | {"owners": '["ada"]', "members": "[]", "org_id": "nord-001", "created_date_time": NOW}
            }
        },
    ),
    "list_groups": Success(
        arguments={"_filter": "securityEnabled eq false", "_select": "id,displayName", "_count": True},
        reply={
            "odata_context": f"{CONTEXT}groups",
            "odata_count": 1,
            "value": [{"id": "group-a", "displayName": "Alpha Group"}],
        },
    ),
    "update_group": Success(
        arguments={"groupId": "group-s", "displayName": "Safe", "visibility": "Private"},
        reply=DONE,
        changes={"groups": {"group-s": {"display_name": "Safe", "visibility": "Private", "updated_date_time": NOW}}},
    ),
    "add_group_owner": Success(
        arguments={"groupId": "group-a", "_odata_id": "https://graph.microsoft.com/v1.0/users/ben"},
        reply=DONE,
        changes={"groups": {"group-a": {"owners": '["ada", "ben"]', "updated_date_time": NOW}}},
    ),
}

NO_TEAM = "Team not found: team-z"  # of another organisation
REFUSALS = {
    "create_team": Refused(
        arguments={"template_odata_bind": "x", "displayName": "X", "members": [{"user_odata_bind": bound("ada")}]},
        text="At least one member must have the 'owner' role",
    ),
    "list_teams": Refused(arguments={"_top": 0}, text="_top"),
    "update_team": Refused(arguments={"teamId": "team-a"}, text="At least one property"),
    "delete_team": Refused(arguments={"teamId": "team-z"}, text=NO_TEAM),
    "list_team_members": Refused(arguments={"teamId": "team-z"}, text=NO_TEAM),
    "add_team_member": Refused(
        arguments={"teamId": "team-a", "user_odata_bind": bound("ben")},
        text="User 'ben' is already a member of the team",
    ),
    "add_team_members_in_bulk": Refused(arguments={"teamId": "team-a", "values": []}, text="values"),
    "update_team_member": Refused(
        arguments={"teamId": "team-a", "membershipId": "m-cy", "roles": ["owner"]}, text="Member not found: m-cy"
    ),
    "remove_team_member": Refused(arguments={"teamId": "team-b", "membershipId": "m-ada"}, text="Member not found"),
    "list_installed_apps": Refused(arguments={"teamId": "team-z"}, text=NO_TEAM),
    "create_teamwork_tag": Refused(arguments={"team_id": "team-a", "displayName": "x" * 41}, text="displayName"),
    "list_teamwork_tags": Refused(arguments={"team_id": "team-z"}, text=NO_TEAM),
    "update_teamwork_tag": Refused(arguments={"team_id": "team-b", "tag_id": "tag-1"}, text="Tag not found: tag-1"),
    "create_teamwork_tag_member": Refused(arguments={**TAG, "userId": "cy"}, text="'cy' is not a member of the team"),
    "create_group": Refused(arguments={**NEW_GROUP, "mailNickname": "alpha"}, text="already exists"),
    "list_groups": Refused(arguments={"_top": "many"}, text="_top"),
    "update_group": Refused(arguments={"groupId": "group-z", "displayName": "X"}, text="Group not found: group-z"),
    "add_group_owner": Refused(
        arguments={"groupId": "group-a", "_odata_id": "https://graph.microsoft.com/v1.0/users/ada"},
        text="already an owner",
    ),
}
