"""Teams templates about channels and chats: what they are called and what is said in them. Worlds to drafts."""

from __future__ import annotations

from random import Random

from robustops.agent.plan import Pick, ReadBack, Step
from robustops.data.synth.draft import CheckDraft, Draft, Template, expressions, holds, only_written, read, write
from robustops.data.synth.names import Names
from robustops.data.synth.teams_rules import READ_BACKS, find, find_chat, message
from robustops.data.synth.world import Row, World, literal

TODAY = "2026-06-01 00:00:00"  # messages of a world are older; the clock of a session starts on that day
IN_TEAM = {"teamId": "@team.id"}
IN_CHANNEL = {"teamId": "@team.id", "channelId": "@channel.id"}


def _team_and_channel(world: World, rng: Random) -> tuple[Row, Row]:
    team = rng.choice(world.rows("teams"))
    named = [row for row in world.rows("channels", {"team_id": team["team_id"]}) if row["display_name"] != "General"]
    return team, rng.choice(named)


def _channel_steps(team: Row, channel: Row) -> tuple[Step, Step]:
    name = channel["display_name"]
    return find("team", "list_teams", team["display_name"]), find("channel", "list_channels", name, IN_TEAM)


def own_chat(world: World, rng: Random) -> Row:
    """A chat with a topic in which the caller takes part."""
    caller = world.one("teams_users", {"static_token": world.context["x-teams-access-token"]})
    mine = {row["chat_id"] for row in world.rows("chat_members", {"user_id": caller["user_id"]})}
    return rng.choice([row for row in world.rows("chats", {"chat_type": "group"}) if row["chat_id"] in mine])


def said(name: str, table: str, place: Row, words: str) -> CheckDraft:
    """One message there has just these words."""
    query = f"{holds(name, table, place).query} AND json_extract(body_json, '$.content') = {literal(words)}"
    return CheckDraft(name=name, query=query, expected=1)


def nothing_else_said(table: str, place: Row) -> CheckDraft:
    return only_written("nothing said elsewhere", table, place, column="created_datetime", since=TODAY)


def _remark(world: World, rng: Random) -> str:
    """Words that nobody in the world has said."""
    return f"Please ask the {Names(world.part, rng).team()}."


def channel_describe(world: World, rng: Random) -> Draft:
    team, channel = _team_and_channel(world, rng)
    words = Names(world.part, rng).subject()
    key = {"channel_id": channel["channel_id"]}
    return Draft(
        slots={"team": team["display_name"], "channel": channel["display_name"], "text": words},
        steps=(
            *_channel_steps(team, channel),
            write("done", "update_channel", IN_CHANNEL | {"description": words}, READ_BACKS),
        ),
        checks=(
            holds("description is set", "channels", key | {"description": words}),
            holds("name is kept", "channels", key | {"display_name": channel["display_name"]}),
            only_written("no other channel changed", "channels", key, column="updated_date_time"),
        ),
    )


def channel_post(world: World, rng: Random) -> Draft:
    team, channel = _team_and_channel(world, rng)
    words = _remark(world, rng)
    place = {"team_id": team["team_id"], "channel_id": channel["channel_id"]}
    return Draft(
        slots={"team": team["display_name"], "channel": channel["display_name"], "text": words},
        steps=(
            *_channel_steps(team, channel),
            write("done", "send_channel_message", IN_CHANNEL | {"body": message(words)}, READ_BACKS),
        ),
        checks=(
            said("message is posted once", "channel_messages", place, words),
            nothing_else_said("channel_messages", place),
            only_written("no channel changed", "channels", {"channel_id": ""}, column="updated_date_time"),
        ),
    )


def channel_open(world: World, rng: Random) -> Draft | None:
    """A channel is made, then written to under its new id."""
    team = rng.choice(world.rows("teams"))
    name, words = Names(world.part, rng).subject(), _remark(world, rng)
    if world.rows("channels", {"display_name": name}):
        return None
    stored = {"team_id": team["team_id"], "display_name": name, "membership_type": "standard"}
    new = holds("", "channels", stored).query.replace("COUNT(*)", "channel_id")
    posted = said("message is posted once", "channel_messages", {"team_id": team["team_id"]}, words)
    return Draft(
        slots={"team": team["display_name"], "name": name, "text": words},
        steps=(
            find("team", "list_teams", team["display_name"]),
            write(
                "channel", "create_channel", IN_TEAM | {"displayName": name, "membershipType": "standard"}, READ_BACKS
            ),
            write("done", "send_channel_message", IN_CHANNEL | {"body": message(words)}, READ_BACKS),
        ),
        checks=(
            holds("channel exists once", "channels", stored),
            CheckDraft(name=posted.name, query=f"{posted.query} AND channel_id IN ({new})", expected=1),
            only_written("no other channel changed", "channels", stored, column="updated_date_time"),
        ),
        edges=((0, 1),),
    )


def chat_topic(world: World, rng: Random) -> Draft | None:
    chat, topic = own_chat(world, rng), Names(world.part, rng).occasion()
    if world.rows("chats", {"topic": topic}):
        return None
    key = {"chat_id": chat["chat_id"]}
    return Draft(
        slots={"chat": chat["topic"], "topic": topic},
        steps=(
            find_chat(chat["topic"]),
            write("done", "update_chat", {"chatId": "@chat.id", "topic": topic}, READ_BACKS),
        ),
        checks=(
            holds("topic is set", "chats", key | {"topic": topic}),
            holds("chat stays a group", "chats", key | {"chat_type": "group", "soft_delete": 0}),
            only_written("no other chat changed", "chats", key, column="updated_at"),
        ),
    )


def chat_say(world: World, rng: Random) -> Draft:
    chat, words = own_chat(world, rng), _remark(world, rng)
    place = {"chat_id": chat["chat_id"]}
    return Draft(
        slots={"chat": chat["topic"], "text": words},
        steps=(
            find_chat(chat["topic"]),
            write("done", "send_chat_message", {"chatId": "@chat.id", "body": message(words)}, READ_BACKS),
        ),
        checks=(
            said("message is sent once", "chat_messages", place, words),
            nothing_else_said("chat_messages", place),
            holds("topic is kept", "chats", place | {"topic": chat["topic"]}),
        ),
    )


def chat_like(world: World, rng: Random) -> Draft | None:
    chat = own_chat(world, rng)
    messages = sorted(
        world.rows("chat_messages", {"chat_id": chat["chat_id"]}), key=lambda row: str(row["created_datetime"])
    )
    last, before = messages[-1], messages[-2]
    if last["created_datetime"] == before["created_datetime"]:
        return None
    listed = expressions({"chatId": "@chat.id"})
    arguments = {"chatId": "@chat.id", "messageId": "@message.id", "reactionType": "like"}
    liked = expressions({"id": "@message.id", "reactions": [{"reactionType": "like"}]})
    back = ReadBack(tool="list_chat_messages", arguments=listed, where=liked)
    query = "SELECT COUNT(*) FROM chat_messages WHERE json_extract(reactions_json, '$[0].reactionType') = 'like' AND "
    mine = f"message_id = {literal(last['message_id'])}"
    return Draft(
        slots={"chat": chat["topic"]},
        steps=(
            find_chat(chat["topic"]),
            read("message", "list_chat_messages", {"chatId": "@chat.id"}, Pick(order_by="createdDateTime")),
            Step(
                bind="done",
                tool="set_chat_message_reaction",
                arguments=expressions(arguments),
                read_back=back,
            ),
        ),
        checks=(
            CheckDraft(name="last message is liked", query=f"{query}{mine}", expected=1),
            CheckDraft(name="no other message is liked", query=f"{query}NOT {mine}", expected=0),
            nothing_else_said("chat_messages", {"chat_id": ""}),
        ),
    )


TEMPLATES = (
    Template(
        name="teams_channel_describe",
        patterns=(
            "Set the description of the channel {channel} in the team {team} to {text}.",
            "In the team {team}, the channel {channel} is about {text}. Write that in its description.",
            "Change the description of {channel}, a channel of {team}: {text}.",
            "{text} should be the description of the channel {channel} of the team {team}.",
        ),
        extra_tools=("list_team_members",),
        draw=channel_describe,
    ),
    Template(
        name="teams_channel_post",
        patterns=(
            "Post in the channel {channel} of the team {team}: {text}",
            "Write to the team {team} in its channel {channel}: {text}",
            "The channel {channel} of {team} should read this: {text}",
            "Send a message to {channel}, a channel of the team {team}. It says: {text}",
        ),
        extra_tools=("update_channel",),
        draw=channel_post,
    ),
    Template(
        name="teams_channel_open",
        patterns=(
            "Create a channel {name} in the team {team} and post there: {text}",
            "The team {team} needs a channel {name}. Create it, then write in it: {text}",
            "Add the channel {name} to {team}. Its first message is: {text}",
            "Open a channel {name} for the team {team} with this message in it: {text}",
        ),
        extra_tools=("update_channel",),
        draw=channel_open,
    ),
    Template(
        name="teams_chat_topic",
        patterns=(
            "Set the topic of the chat {chat} to {topic}.",
            "The chat {chat} is about {topic} now. Change its topic.",
            "Rename the chat {chat} to {topic}.",
            "{topic} should be the topic of the chat {chat}.",
        ),
        extra_tools=("list_teams", "list_users"),
        draw=chat_topic,
    ),
    Template(
        name="teams_chat_say",
        patterns=(
            "Send to the chat {chat}: {text}",
            "Write in the chat {chat}: {text}",
            "Tell the people in the chat {chat}: {text}",
            "The chat {chat} should get this message: {text}",
        ),
        extra_tools=("update_chat",),
        draw=chat_say,
    ),
    Template(
        name="teams_chat_like",
        patterns=(
            "Give the last message in the chat {chat} a like.",
            "In the chat {chat}, react to the latest message with like.",
            "Set the reaction like on the most recent message of the chat {chat}.",
            "The newest message in the chat {chat} gets a like from me.",
        ),
        extra_tools=("send_chat_message",),
        draw=chat_like,
    ),
)
