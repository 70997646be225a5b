"""What people of a synthetic teams world say, call and plan: messages, chats, calls, webinars and town halls."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from robustops.data.synth.world import SEED_TIME, Row, World

FIRST_DAY = datetime(2026, 3, 2, 8, tzinfo=UTC)  # before the day at which a session's clock starts
SENTENCES = (
    "The draft is ready for review.",
    "Please add your numbers until Friday.",
    "We moved the launch by a week.",
    "Who takes the next shift?",
    "The customer confirmed the change.",
    "Tests are green again.",
    "Let us talk about it tomorrow.",
    "I updated the plan.",
)
_EMPTY = {"subject": None, "summary": None, "locale": "en-us", "attachments_json": "[]", "mentions_json": "[]"}
STATUSES = ("draft", "draft", "published", "canceled")


def _moment(world: World) -> datetime:
    return FIRST_DAY + timedelta(days=world.rng.randrange(80), seconds=world.rng.randrange(36_000))


def _text(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%d %H:%M:%S")


def _message(world: World, sender: Row, moment: datetime) -> dict[str, Any]:
    user = {"id": sender["user_id"], "displayName": sender["display_name"], "userIdentityType": "aadUser"}
    content = " ".join(world.rng.sample(SENTENCES, k=world.rng.randint(1, 2)))
    times = {"created_datetime": _text(moment), "last_modified_datetime": _text(moment), "deleted_datetime": None}
    return {
        "message_type": "message",
        **times,
        **_EMPTY,
        "importance": world.rng.choice(("normal", "normal", "high")),
        "from_json": json.dumps({"application": None, "device": None, "user": user}),
        "body_json": json.dumps({"contentType": "text", "content": content}),
        "reactions_json": "[]",
    }


def add_messages(world: World, org: Row, people: Sequence[Row], num_messages: int) -> None:
    """Posts in channels; every third one is answered, and some posts are the caller's."""
    rng = world.rng
    index = 0
    while len(world.tables.get("channel_messages", ())) < num_messages:
        channel = rng.choice(world.tables["channels"])
        place = {"org_id": org["org_id"], "team_id": channel["team_id"], "channel_id": channel["channel_id"]}
        moment = _moment(world)
        opening = _add_post(world, place, people[0] if index % 4 == 0 else rng.choice(people), moment, None)
        if index % 3 == 0:
            _add_post(world, place, rng.choice(people), moment + timedelta(hours=2), opening["message_id"])
        index += 1


def _add_post(world: World, place: Row, sender: Row, moment: datetime, reply_to: str | None) -> Row:
    message_id = f"msg_{world.rng.getrandbits(128):032x}"
    head = {"message_id": message_id, **place, "reply_to_id": reply_to, "etag": f"etag_{message_id}"}
    link = f"https://teams.microsoft.com/l/message/{place['channel_id']}/{message_id}"
    return world.add("channel_messages", {**head, "web_url": link, **_message(world, sender, moment)})


def add_chats(world: World, org: Row, people: Sequence[Row], num_chats: int) -> None:
    """The caller talks to some colleagues alone and to others in groups; a group that is not hers lies between."""
    caller, *colleagues = people
    tenant = org["tenant_id"]
    for index in range(num_chats):
        is_group = index % 2 == 1
        others = world.rng.sample(colleagues, k=3) if is_group else [colleagues[(index // 2) % len(colleagues)]]
        members = others if index == 1 else [caller, *others]
        alone = "_".join(sorted(user["user_id"] for user in members))
        chat_id = f"{world.rng.getrandbits(128):032x}" if is_group else alone
        if any(chat["chat_id"] == chat_id for chat in world.tables.get("chats", ())):
            continue
        topic = world.names.occasion() if is_group else None
        row: Row = {"chat_id": chat_id, "org_id": org["org_id"], "topic": topic}
        row |= {"chat_type": "group" if is_group else "oneOnOne", "created_at": SEED_TIME, "updated_at": SEED_TIME}
        world.add("chats", row | {"soft_delete": 0})
        for user in members:
            member: Row = {"chat_id": chat_id, "org_id": org["org_id"], "user_id": user["user_id"], "roles": "owner"}
            member |= {"tenant_id": tenant, "display_name": user["display_name"], "is_hidden": 0, "added_at": SEED_TIME}
            world.add("chat_members", member)
        _add_talk(world, chat_id, members, is_group=is_group)
    chat = world.rows("chats", {"chat_type": "group"})[-1]
    tab: Row = {"org_id": org["org_id"], "chat_id": chat["chat_id"], "display_name": "Website"}
    tab |= {"app_id": "com.example.apps.web", "configuration_json": None, "sort_order_index": "1", "web_url": None}
    world.add("teams_chat_tabs", tab | {"created_at": SEED_TIME, "updated_at": SEED_TIME})


def _add_talk(world: World, chat_id: str, members: Sequence[Row], *, is_group: bool) -> None:
    known = {row["message_id"] for row in world.tables.get("chat_messages", ())}
    moment = _moment(world)
    for index in range(world.rng.randint(2, 4)):
        moment += timedelta(minutes=world.rng.randint(1, 90), milliseconds=world.rng.randrange(1000))
        number = str(round(moment.timestamp() * 1000))
        if number in known:
            continue
        head = {"message_id": number, "chat_id": chat_id, "reply_to_id": None, "etag": number, "web_url": None}
        world.add("chat_messages", {**head, **_message(world, members[index % len(members)], moment)})
        if is_group and index == 0:
            world.add("pinned_chat_messages", {"chat_id": chat_id, "message_id": number, "pinned_at": SEED_TIME})


def add_calls(world: World, org: Row, people: Sequence[Row]) -> None:
    rng, mine = world.rng, {"org_id": org["org_id"]}
    for subject in (world.names.occasion(), world.names.occasion()):
        target = {"identity": {"user": {"id": rng.choice(people[1:])["user_id"]}}}
        row: Row = {
            **mine,
            "state": "established",
            "direction": "outgoing",
            "callback_uri": "https://bot.example/calls",
        }
        row |= {"subject": subject, "source": None, "targets": json.dumps([target])}
        row |= {"requested_modalities": '["audio"]', "created_at": SEED_TIME, "updated_at": SEED_TIME, "soft_delete": 0}
        call = world.add("calls", row)
    group: Row = {**mine, "call_id": call["id"], "routing_mode": "oneToOne", "sources": '["a"]', "receivers": '["b"]'}
    world.add("audio_routing_groups", group | {"created_at": SEED_TIME})
    for _ in range(4):
        start = _moment(world)
        end = start + timedelta(minutes=rng.randint(5, 50))
        times = {"start_date_time": start.isoformat()[:19] + "Z", "end_date_time": end.isoformat()[:19] + "Z"}
        talking = rng.sample(people, k=3)
        seen = [
            {"id": user["user_id"], "identity": {"user": {"id": user["user_id"], "displayName": user["display_name"]}}}
            for user in talking
        ]
        record: Row = {**mine, "version": 2, "type": "groupCall", "modalities": '["audio"]', **times}
        record |= {"organizer": json.dumps(seen[0]["identity"]), "participants_v2": json.dumps(seen)}
        stored = world.add("call_records", record)
        session: Row = {**mine, "call_record_id": stored["id"], "modalities": '["audio"]', **times, "segments": "[]"}
        world.add("call_sessions", session)
    for user in people[1:3]:
        status = {"status_message": rng.choice(SENTENCES), "expiry_date_time": None}
        presence = {"org_id": org["org_id"], "user_id": user["user_id"], **status}
        world.add("teams_presence_sessions", {**presence, "created_at": SEED_TIME, "updated_at": SEED_TIME})


def add_events(world: World, org: Row, people: Sequence[Row]) -> None:
    """Webinars and town halls in every state; those of the first four states are the caller's, two are not."""
    for index in range(6):
        creator = people[0] if index < 4 else people[1]
        guests = [user["user_id"] for user in world.rng.sample(people[1:], k=2)]
        webinar = world.add("virtual_event_webinars", _event(world, org, creator, STATUSES[index % 4]))
        townhall = _event(world, org, creator, STATUSES[index % 4])
        townhall = world.add("virtual_event_townhalls", townhall | {"is_invite_only": index % 2})
        for user_id in guests:
            mine = {"org_id": org["org_id"], "user_id": user_id, "added_at": SEED_TIME}
            world.add("virtual_event_webinar_coorganizers", {"webinar_id": webinar["id"], **mine})
            world.add("virtual_event_townhall_coorganizers", {"townhall_id": townhall["id"], **mine})
        invited = {"townhall_id": townhall["id"], "org_id": org["org_id"], "identity_id": guests[0]}
        world.add("virtual_event_townhall_invited_attendees", {**invited, "added_at": SEED_TIME})


def _event(world: World, org: Row, creator: Row, status: str) -> Row:
    day = FIRST_DAY + timedelta(days=world.rng.randint(120, 180), hours=world.rng.randint(0, 8))
    end = day + timedelta(hours=1)
    pair = [f"{world.rng.getrandbits(128):032x}" for _ in range(2)]
    event_id = "@".join("-".join((one[:8], one[8:12], one[12:16], one[16:20], one[20:])) for one in pair)
    row: Row = {"id": event_id, "org_id": org["org_id"], "status": status, "display_name": world.names.occasion()}
    row |= {"description_content": world.rng.choice(SENTENCES), "description_content_type": "text"}
    row |= {"start_date_time": day.isoformat()[:19], "start_time_zone": "UTC"}
    row |= {"end_date_time": end.isoformat()[:19], "end_time_zone": "UTC", "audience": "organization"}
    row |= {"created_by_user_id": creator["user_id"], "created_by_display_name": creator["display_name"]}
    row |= {"is_attendee_email_notification_enabled": 0, "created_at": SEED_TIME, "updated_at": SEED_TIME}
    return row
