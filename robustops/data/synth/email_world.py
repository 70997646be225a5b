"""The mail database of a synthetic world: mailboxes, threads, labels and settings. Knows no template.

The caller's mailbox is full: mail from colleagues and companies, answered, labelled, filed, trashed and drafted. The
colleagues' mailboxes are empty.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from random import Random

from robustops.core.task import Part
from robustops.data.synth.names import Names
from robustops.data.synth.world import Row, World

KEYS = {
    "users": "id",
    "labels": "id",
    "threads": "id",
    "messages": "id",
    "attachments": "id",
    "drafts": "id",
    "history": "id",
    "vacation_settings": "id",
    "auto_forwarding": "id",
    "imap_settings": "id",
    "pop_settings": "id",
    "language_settings": "id",
    "filters": "id",
    "send_as_aliases": "id",
    "forwarding_addresses": "id",
    "delegates": "id",
    "cse_keypairs": "id",
    "cse_identities": "id",
    "smime_configs": "id",
    "watches": "id",
}
SEED_TIME = "2025-01-15T08:00:00.000000"
_TIME = "%Y-%m-%dT%H:%M:%S.%f"
AUDIT = {"created_at": SEED_TIME, "updated_at": SEED_TIME, "created_by": "system", "updated_by": "system"}
SYSTEM_LABELS = ("INBOX", "SENT", "DRAFT", "TRASH", "SPAM", "UNREAD", "STARRED", "IMPORTANT")
FIRST_MAIL = datetime(2026, 3, 2, 8, tzinfo=UTC)
SENTENCES = (
    "Please have a look before Friday.",
    "The figures are in the attached file.",
    "Could you confirm the date?",
    "We moved it by one week.",
    "Thanks for the quick answer.",
    "The contract is ready to be signed.",
    "Nothing is blocked on your side.",
    "I will call you tomorrow.",
)


def build(part: Part, rng: Random, num_rows: int) -> World:
    """A world with about `num_rows` threads in the caller's mailbox."""
    uuids = frozenset(KEYS)
    world = World(part=part, rng=rng, names=Names(part, rng), key_columns=KEYS, uuid_keys=uuids)
    for _ in range(max(5, num_rows // 3)):
        _add_user(world)
    caller, *colleagues = world.tables["users"]
    world.context = {"x-email-user-token": caller["token"]}
    own_labels = [_add_label(world, caller, world.names.subject()) for _ in range(max(5, num_rows // 5))]
    for user in (caller, *colleagues):
        for name in SYSTEM_LABELS:
            _add_label(world, user, name, is_system=True)
    senders = [*(user["primary_email"] for user in colleagues), *(_outside(world) for _ in range(5))]
    for index in range(num_rows):
        _add_thread(world, caller, rng.choice(senders), [label["id"] for label in own_labels], index)
    for _ in range(max(3, num_rows // 8)):
        _add_draft(world, caller, rng.choice(senders))
    _count(world, caller)
    _add_settings(world, caller)
    _add_addresses(world, caller, colleagues)
    _add_filters(world, caller, own_labels, senders)
    return world


def _outside(world: World) -> str:
    first, last = world.names.person()
    return f"{first}.{last}@{world.names.web_domain()}".lower()


def _add_user(world: World) -> Row:
    first, last = world.names.person()
    row: Row = {"token": f"token-{first}-{last}".lower(), "primary_email": f"{first}.{last}@mail.example".lower()}
    row |= {"name": f"{first} {last}", "messages_total": 0, "threads_total": 0, "history_id_current": None}
    return world.add("users", row | AUDIT)


def _add_label(world: World, user: Row, name: str, *, is_system: bool = False) -> Row:
    row: Row = {"user_id": user["id"], "name": name, "type": "system" if is_system else "user"}
    row |= {"message_list_visibility": "show", "label_list_visibility": "labelShow"}
    row |= dict.fromkeys(("messages_total", "messages_unread", "threads_total", "threads_unread"), 0)
    return world.add("labels", ({"id": name} if is_system else {}) | row | AUDIT)


def _add_thread(world: World, owner: Row, sender: str, own_labels: Sequence[str], index: int) -> None:
    """A mail, perhaps answered, perhaps with a file. The first ones lie in the inbox, unread and unanswered."""
    rng = world.rng
    subject, mine = world.names.occasion(), owner["primary_email"]
    thread = _new_thread(world, owner)
    moment = FIRST_MAIL + timedelta(days=rng.randrange(80), minutes=rng.randrange(600))
    labels = (
        ["INBOX", "UNREAD"]
        if index < 3
        else rng.choice(
            (["INBOX"], ["INBOX", "UNREAD"], ["INBOX", "STARRED"], ["TRASH"], ["SPAM"], [rng.choice(own_labels)])
        )
    )
    if "INBOX" in labels and rng.random() < 0.5:
        labels = [*labels, rng.choice(own_labels)]
    first = _add_message(world, owner, thread, subject, sender=sender, to=mine, moment=moment, labels=labels)
    if rng.random() < 0.3:
        data = f"{subject}: {rng.randrange(10**6)}"
        name = f"{subject.replace(' ', '-').lower()}.txt"
        encoded = base64.urlsafe_b64encode(data.encode()).decode()
        row: Row = {"message_id": first["id"], "filename": name, "mime_type": "text/plain", "size": len(data)}
        world.add("attachments", row | {"data": encoded, **AUDIT})
    if index >= 3 and labels[0] == "INBOX" and rng.random() < 0.4:
        moment += timedelta(hours=rng.randint(1, 30))
        _add_message(world, owner, thread, f"Re: {subject}", sender=mine, to=sender, moment=moment, labels=["SENT"])


def _new_thread(world: World, owner: Row) -> Row:
    return world.add("threads", {"user_id": owner["id"], "snippet": "", "history_id": None, **AUDIT})


def _add_message(
    world: World,
    owner: Row,
    thread: Row,
    subject: str,
    *,
    sender: str,
    to: str,
    moment: datetime,
    labels: Sequence[str],
) -> Row:
    body = " ".join(world.rng.sample(SENTENCES, k=world.rng.randint(1, 3)))
    row: Row = {"user_id": owner["id"], "thread_id": thread["id"], "history_id": None}
    row |= {"internal_date": str(round(moment.timestamp() * 1000)), "snippet": body[:100], "size_estimate": len(body)}
    row |= {"subject": subject, "sender": sender, "recipients": to, "cc": "", "bcc": "", "body": body}
    message = world.add("messages", row | {"deleted": False, **AUDIT})
    for label in labels:
        world.add("message_labels", {"message_id": message["id"], "label_id": label})
    history: Row = {"user_id": owner["id"], "message_id": message["id"], "thread_id": thread["id"]}
    history |= {"type": "messageAdded", "label_ids": json.dumps(list(labels)), "created_at": moment.strftime(_TIME)}
    recorded = world.add("history", history)
    thread["snippet"] = message["snippet"]
    message["history_id"] = thread["history_id"] = owner["history_id_current"] = recorded["id"]
    return message


def _add_draft(world: World, owner: Row, to: str) -> None:
    thread = _new_thread(world, owner)
    moment = FIRST_MAIL + timedelta(days=85, minutes=world.rng.randrange(600))
    subject = world.names.occasion()
    sender = owner["primary_email"]
    message = _add_message(world, owner, thread, subject, sender=sender, to=to, moment=moment, labels=["DRAFT"])
    world.add("drafts", {"user_id": owner["id"], "message_id": message["id"], **AUDIT})


def _count(world: World, owner: Row) -> None:
    """The counters of labels and mailbox are those of the rows."""
    threads = {row["id"]: row["thread_id"] for row in world.tables["messages"]}
    unread = {row["message_id"] for row in world.tables["message_labels"] if row["label_id"] == "UNREAD"}
    for label in world.rows("labels", {"user_id": owner["id"]}):
        held = [row["message_id"] for row in world.tables["message_labels"] if row["label_id"] == label["id"]]
        new = [message for message in held if message in unread]
        label |= {"messages_total": len(held), "messages_unread": len(new)}
        label |= {"threads_total": len({threads[message] for message in held})}
        label |= {"threads_unread": len({threads[message] for message in new})}
    owner |= {"messages_total": len(threads), "threads_total": len(set(threads.values()))}


def _add_settings(world: World, owner: Row) -> None:
    mine = {"user_id": owner["id"]}
    away: Row = {"enable_auto_reply": False, "response_subject": "", "response_body_plain_text": ""}
    away |= {"response_body_html": "", "restrict_to_contacts": False, "restrict_to_domain": False}
    world.add("vacation_settings", {**mine, **away, "start_time": None, "end_time": None, **AUDIT})
    pop = {"access_window": "disabled", "disposition": "leaveInInbox"}
    world.add("pop_settings", {**mine, **pop, **AUDIT})
    imap = {"enabled": True, "auto_expunge": True, "expunge_behavior": "archive", "max_folder_size": 0}
    world.add("imap_settings", {**mine, **imap, **AUDIT})
    world.add("language_settings", {**mine, "display_language": "en", **AUDIT})
    forwarding = {"enabled": False, "email_address": None, "disposition": "leaveInInbox"}
    world.add("auto_forwarding", {**mine, **forwarding, **AUDIT})


def _add_addresses(world: World, owner: Row, colleagues: Sequence[Row]) -> None:
    """Addresses to send from and to forward to, verified and not; a delegate; a key pair that is on, another off."""
    mine, team = {"user_id": owner["id"]}, f"{world.names.team().replace(' ', '.')}@mail.example".lower()
    for email, name, is_primary, status in (
        (owner["primary_email"], owner["name"], True, "accepted"),
        (team, "Team", False, "accepted"),
        (_outside(world), None, False, "pending"),
        (_outside(world), None, False, "pending"),
    ):
        row: Row = {"send_as_email": email, "display_name": name, "reply_to_address": None, "signature": None}
        row |= {"is_primary": is_primary, "is_default": is_primary, "treat_as_alias": not is_primary}
        world.add("send_as_aliases", {**mine, **row, "verification_status": status, **AUDIT})
    for status in ("accepted", "accepted", "pending"):
        address = {"forwarding_email": _outside(world), "verification_status": status}
        world.add("forwarding_addresses", {**mine, **address, **AUDIT})
    delegate = {"delegate_email": colleagues[0]["primary_email"], "verification_status": "accepted"}
    world.add("delegates", {**mine, **delegate, **AUDIT})
    for state, since in (("enabled", None), ("disabled", SEED_TIME)):
        pair: Row = {"key_pair_id": f"kp_{world.rng.getrandbits(128):032x}", "pkcs7": None, "pem": None}
        pair |= {"subject_email_addresses": owner["primary_email"], "enablement_state": state, "disable_time": since}
        world.add("cse_keypairs", {**mine, **pair, **AUDIT})
    keys = world.one("cse_keypairs", {"enablement_state": "enabled"})["key_pair_id"]
    identity = {"email_address": owner["primary_email"], "primary_key_pair_id": keys}
    world.add("cse_identities", {**mine, **identity, **AUDIT})
    for number, year in enumerate((2027, 2028)):
        certificate: Row = {"send_as_email": owner["primary_email"], "issuer_cn": world.names.company()}
        certificate |= {
            "is_default": not number,
            "expiration": str(round(datetime(year, 1, 1, tzinfo=UTC).timestamp()) * 1000),
        }
        world.add("smime_configs", {**mine, **certificate, "pem": None, **AUDIT})
    watch: Row = {"topic_name": "projects/desk/topics/mail", "label_ids": "[]", "label_filter_behavior": "include"}
    world.add("watches", {**mine, **watch, "expiration": "1767225600000", **AUDIT})


def _add_filters(world: World, owner: Row, labels: Sequence[Row], senders: Sequence[str]) -> None:
    rng = world.rng
    for sender, label in zip(rng.sample(senders, k=3), rng.sample(labels, k=3), strict=True):
        criteria = {"from": sender, "to": "", "subject": "", "query": "", "negatedQuery": "", "hasAttachment": False}
        criteria |= {"excludeChats": False, "size": 0, "sizeComparison": "unspecified"}
        row: Row = {"user_id": owner["id"], "criteria_json": json.dumps(criteria)}
        row |= {"action_json": json.dumps({"addLabelIds": [label["id"]]}), "created_by": owner["primary_email"]}
        row |= {"id": f"filter_{world.names.serial().lower()}", "created_at": SEED_TIME, "updated_at": SEED_TIME}
        world.add("filters", row)
