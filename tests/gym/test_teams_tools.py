"""What teams does beside single calls: how filters read, whose organisation it is, what repeated calls do."""

import json

import pytest
from cases_teams import CASES
from small_teams import SEED, bound

from robustops.gym.domains import load_toolbox
from robustops.gym.domains.teams.odata import read_filter
from robustops.gym.embedded import EmbeddedGym


@pytest.fixture
def opened(tmp_path):
    """Opens a session on the small database for whoever these headers name."""
    gym = EmbeddedGym(toolboxes=(load_toolbox("teams"),))
    return lambda context=None: gym.open(CASES.task(tmp_path, CASES.context if context is None else context))


async def reply(session, tool, **arguments):
    result = await session.call(tool, arguments)
    assert not result.is_error, result.text
    return json.loads(result.text) if result.text.startswith("{") else result.text


async def refusal(session, tool, **arguments):
    result = await session.call(tool, arguments)
    assert result.is_error, result.text
    return result.text


async def rows(session, sql):
    return (await session.query(sql))["data"]


ITEM = {"displayName": "James O'Neil", "size": 5, "isArchived": False, "start": "2026-05-01 08:00:00", "none": None}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("displayName eq 'James O''Neil'", True),
        ("displayName eq 'james o''neil'", False),
        ("displayName ne 'x' and isArchived eq false", True),
        ("displayName eq 'x' or size gt 4 and size lt 6", True),
        ("(displayName eq 'x' or size gt 4) and size lt 5", False),
        ("not (size eq 5)", False),
        ("startswith(displayName,'James') and endswith(displayName, 'Neil')", True),
        ("contains(displayName,'O''N')", True),
        ("microsoft.graph.aadUserConversationMember/displayName eq 'James O''Neil'", True),
        ("start ge 2026-05-01T08:00:00Z and start lt 2026-05-02", True),
        ("none eq null", True),
        ("none gt 3", False),
    ],
)
def test_a_filter_holds_where_it_says(text, expected):
    assert read_filter(text, "whole")(ITEM.get) is expected


@pytest.mark.parametrize("text", ["displayName", "displayName is 'x'", "eq 'x'", "size eq 5 and", "displayName eq x y"])
def test_an_unreadable_filter_is_none(text):
    assert read_filter(text, "whole") is None


async def test_a_filter_with_groups_is_ignored_for_users_as_the_real_server_does(opened):
    async with opened() as session:
        grouped = await reply(
            session, "list_users", _filter="(startswith(displayName,'Ada')) and accountEnabled eq true"
        )
        flat = await reply(session, "list_users", _filter="startswith(displayName,'Ada') and accountEnabled eq true")
    assert [user["id"] for user in grouped["value"]] == ["ada", "ben", "cy"]
    assert [user["id"] for user in flat["value"]] == ["ada"]


async def test_users_come_by_principal_name_unless_an_order_is_asked_for(opened):
    async with opened() as session:
        plain = await reply(session, "list_users")
        ordered = await reply(session, "list_users", _orderby="jobTitle asc,displayName desc", _select="id")
    assert [user["userPrincipalName"] for user in plain["value"]] == [
        *("ada@nord.example", "ben@nord.example", "cy@nord.example"),
    ]
    assert set(plain["value"][0]) == {"@odata.context", "id", "displayName", "givenName", "surname", "mail"} | {
        *("jobTitle", "businessPhones", "mobilePhone", "officeLocation", "preferredLanguage", "userPrincipalName")
    }
    assert [user["id"] for user in ordered["value"]] == ["cy", "ben", "ada"]


async def test_a_literal_with_and_in_it_breaks_the_filter_of_apps_as_on_the_real_server(opened):
    async with opened() as session:
        broken = await reply(
            session, "list_teams_apps", _filter="displayName eq 'To and fro' or displayName eq 'Board'"
        )
        whole = await reply(session, "list_teams_apps", _filter="displayName eq 'X' or displayName eq 'Board'")
    assert broken["value"] == []
    assert [app["id"] for app in whole["value"]] == ["app-board"]


async def test_another_organisation_is_out_of_sight(opened):
    async with opened() as session:
        assert [team["id"] for team in (await reply(session, "list_teams"))["value"]] == ["team-a", "team-b"]
        assert "Team not found" in await refusal(session, "list_channels", teamId="team-z")
        assert "User not found" in await refusal(
            session, "add_team_member", teamId="team-a", user_odata_bind=bound("zed")
        )


async def test_without_a_token_the_first_user_calls(opened):
    async with opened({}) as session:
        sent = await reply(session, "send_chat_message", chatId="chat-g", body={"content": "x"})
    assert sent["from"]["user"]["id"] == "ada"


async def test_a_token_that_nobody_has_is_refused(opened):
    async with opened({"x-teams-access-token": "token-nobody"}) as session:
        assert await refusal(session, "list_users") == "Invalid access token"


async def test_two_people_have_one_chat(opened):
    kind = "#microsoft.graph.aadUserConversationMember"
    members = [{"_odata_type": kind, "roles": ["owner"], "user_odata_bind": bound(user)} for user in ("ben", "ada")]
    async with opened() as session:
        digest = await session.state_hash()
        again = await reply(session, "create_chat", chatType="oneOnOne", members=members)
        assert again["id"] == "ada_ben"
        assert await session.state_hash() == digest


async def test_chats_can_come_by_their_last_message(opened):
    async with opened() as session:
        plain = await reply(session, "list_chats")
        await reply(session, "send_chat_message", chatId="ada_ben", body={"content": "x"})
        ordered = await reply(session, "list_chats", _orderby="lastMessagePreview/createdDateTime desc")
        assert "Invalid orderby" in await refusal(session, "list_chats", _orderby="topic asc")
    assert [chat["id"] for chat in plain["value"]] == ["chat-g", "ada_ben"]
    assert [chat["id"] for chat in ordered["value"]] == ["ada_ben", "chat-g"]


async def test_texts_of_users_are_trimmed_and_empty_ones_cleared(opened):
    async with opened() as session:
        await reply(session, "update_user", userId="ada", jobTitle="  Boss ", department="")
        (row,) = await rows(session, "SELECT job_title, department FROM teams_users WHERE user_id = 'ada'")
    assert row == {"job_title": "Boss", "department": None}


async def test_an_address_is_given_once(opened):
    async with opened() as session:
        first = await reply(session, "provision_channel_email", teamId="team-a", channelId="ch-lab")
        digest = await session.state_hash()
        await reply(session, "update_channel", teamId="team-a", channelId="ch-lab", displayName="Renamed")
        second = await reply(session, "provision_channel_email", teamId="team-a", channelId="ch-lab")
        assert first == second
        assert await session.state_hash() != digest  # the new name


async def test_a_new_channel_comes_first_and_a_standard_one_has_no_members_of_its_own(opened):
    async with opened() as session:
        made = await reply(
            session,
            "create_channel",
            teamId="team-a",
            displayName="Later",
            members=[{"user_odata_bind": bound("ben"), "roles": ["owner"]}],
        )
        listed = await reply(session, "list_channels", teamId="team-a", _select="id")
        assert await rows(session, f"SELECT * FROM channel_members WHERE channel_id = '{made['id']}'") == []
    assert [channel["id"] for channel in listed["value"]] == [made["id"], "ch-lab", "ch-general"]


async def test_a_new_team_has_no_channel(opened):
    async with opened() as session:
        made = await reply(
            session,
            "create_team",
            template_odata_bind="https://graph.microsoft.com/v1.0/teamsTemplates('standard')",
            displayName="Gamma",
            firstChannelName="Start",
            members=[{"user_odata_bind": bound("ada"), "roles": ["owner"]}],
        )
        listed = await reply(session, "list_channels", teamId=made["targetResourceId"])
    assert (listed["@odata.count"], listed["value"]) == (0, [])


async def test_a_failed_town_hall_leaves_a_row_each_time_it_is_tried(opened):
    when = {"dateTime": "2026-08-01T10:00:00", "timeZone": "UTC"}
    asked = {"displayName": "All", "description": {"contentType": "text", "content": "x"}, "audience": "everyone"}
    asked |= {"startDateTime": when, "endDateTime": when, "coOrganizers": [{"id": "ben"}]}
    async with opened() as session:
        for _ in range(2):
            assert "must be a mapping, not NoneType" in await refusal(session, "create_virtual_event_townhall", **asked)
        found = await rows(session, "SELECT DISTINCT id FROM virtual_event_townhalls WHERE display_name = 'All'")
        people = await rows(session, "SELECT user_id FROM virtual_event_townhall_coorganizers")
    assert len(found) == 2
    assert people == [{"user_id": "ben"}, {"user_id": "ben"}]


async def test_a_deleted_user_is_gone_from_lists_and_from_calls(opened):
    async with opened() as session:
        await reply(session, "delete_user", userId="cy")
        assert [user["id"] for user in (await reply(session, "list_users"))["value"]] == ["ada", "ben"]
        assert "User not found" in await refusal(session, "get_user", userId="cy")


async def test_a_message_can_be_deleted_and_brought_back(opened):
    place = {"teamId": "team-a", "channelId": "ch-general", "messageId": "msg-1"}
    async with opened() as session:
        await reply(session, "soft_delete_channel_message", **place)
        (gone,) = await rows(session, "SELECT deleted_datetime FROM channel_messages WHERE message_id = 'msg-1'")
        await reply(session, "undo_soft_delete_channel_message", **place)
        (back,) = await rows(session, "SELECT deleted_datetime FROM channel_messages WHERE message_id = 'msg-1'")
    assert gone == {"deleted_datetime": "2026-06-01 09:00:01.000000"}
    assert back == {"deleted_datetime": None}


async def test_checks_read_json_columns_and_the_present_of_the_session(opened):
    async with opened() as session:
        await reply(session, "add_team_member", teamId="team-a", user_odata_bind=bound("cy"))
        names = await rows(
            session,
            "SELECT json_extract(m.value, '$.userId') AS who FROM teams t JOIN json_each(t.members) m "
            "WHERE t.team_id = 'team-a'",
        )
        await reply(session, "send_chat_message", chatId="chat-g", body={"content": "x"})
        (recent,) = await rows(
            session, "SELECT COUNT(*) AS n FROM chat_messages WHERE created_datetime >= datetime('now', '-5 minutes')"
        )
    assert [row["who"] for row in names] == ["ada", "ben", "cy"]
    assert recent == {"n": 1}


async def test_replies_are_indented_json_in_a_bare_envelope(opened):
    async with opened() as session:
        result = await session.call("get_user", {"userId": "ada", "_select": "displayName"})
    text = json.dumps(json.loads(result.text), indent=2)
    assert result.text == text
    assert json.loads(result.observation) == {"content": [{"type": "text", "text": text}], "isError": False}


def test_the_small_database_is_a_dump_like_the_public_ones():
    assert "CREATE TABLE" not in SEED
