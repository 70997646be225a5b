"""The mailbox behind all tools: storing and removing messages, labels, counters, threads, history. Knows no tool."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from robustops.gym.domains.email.caller import mine, touched
from robustops.gym.domains.email.mime import Content
from robustops.gym.operations.kind import ToolFailure
from robustops.gym.operations.records import Records, Row
from robustops.gym.operations.rows import decoded

INBOX, SENT, DRAFT, TRASH, SPAM, UNREAD = "INBOX", "SENT", "DRAFT", "TRASH", "SPAM", "UNREAD"
_CATEGORIES = tuple(f"CATEGORY_{name}" for name in ("PERSONAL", "SOCIAL", "PROMOTIONS", "UPDATES", "FORUMS"))
SYSTEM_LABELS = (INBOX, SENT, DRAFT, TRASH, SPAM, UNREAD, "STARRED", "IMPORTANT", *_CATEGORIES, "CHAT")
_COUNTERS = """SELECT COUNT(*) AS messages_total, COUNT(DISTINCT m.thread_id) AS threads_total,
COUNT(u.message_id) AS messages_unread, COUNT(DISTINCT CASE WHEN u.message_id IS NOT NULL THEN m.thread_id END)
AS threads_unread FROM message_labels AS l JOIN messages AS m ON m.id = l.message_id
LEFT JOIN message_labels AS u ON u.message_id = m.id AND u.label_id = ? WHERE l.label_id = ? AND m.user_id = ?"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What happened to one message, for the history."""

    message: Row
    type: str
    label_ids: Sequence[str]


def now_ms(db: Records) -> int:
    return round(datetime.fromisoformat(db.now).replace(tzinfo=UTC).timestamp() * 1000)


def message_of(db: Records, message_id: str) -> Row:
    """Raises ToolFailure for a message that is not the caller's."""
    message = db.first("messages", {"id": message_id, **mine(db)})
    if message is None:
        raise ToolFailure(f"Message not found: {message_id}")
    return message


def label_id(db: Records, name: str) -> str | None:
    """The id under which a label is kept. System labels need no row: then their name is their id."""
    if db.count("labels", {"id": name, **mine(db)}):
        return name
    if name not in SYSTEM_LABELS:
        return None
    row = db.first("labels", {"name": name, "type": "system", **mine(db)})
    return name if row is None else str(row["id"])


def label_ids(db: Records, names: Iterable[str]) -> list[str]:
    """Without repetitions. Raises ToolFailure for a label that does not exist."""
    found: dict[str, None] = {}
    for name in names:
        known = label_id(db, name)
        if known is None:
            raise ToolFailure(f"Invalid label: {name}")
        found[known] = None
    return list(found)


def labels_of(db: Records, message_id: str) -> list[str]:
    return [row["label_id"] for row in db.find("message_labels", {"message_id": message_id})]


def store(
    db: Records,
    content: Content,
    *,
    labels: Sequence[str],
    thread_id: str | None,
    internal_date: int,
    deleted: bool = False,
) -> Row:
    """A new message of the caller, in a thread of its own unless told otherwise. Returns its row."""
    if thread_id is not None and not _has_thread(db, thread_id):
        raise ToolFailure(f"Thread not found: {thread_id}")
    is_new_thread = thread_id is None
    if is_new_thread:
        thread_id = str(db.add("threads", {**mine(db), "snippet": content.snippet})["id"])
    ids = {"thread_id": thread_id, "internal_date": str(internal_date), "deleted": deleted}
    message = db.add("messages", {**mine(db), **ids, **_columns(content)})
    _store_files(db, message["id"], content)
    for label in labels:
        db.add("message_labels", {"message_id": message["id"], "label_id": label})
    _count_mail(db, messages=1, threads=int(is_new_thread))
    record(db, [Change(message=message, type="messageAdded", label_ids=labels)])
    recount(db, labels)
    return message_of(db, message["id"])


def _has_thread(db: Records, thread_id: str) -> bool:
    return bool(db.count("threads", {"id": thread_id, **mine(db)})) or bool(
        db.count("messages", {"thread_id": thread_id, **mine(db)})
    )


def _columns(content: Content) -> Row:
    names = {"subject": "subject", "from": "sender", "to": "recipients", "cc": "cc", "bcc": "bcc"}
    row: Row = {column: content.header(name) for name, column in names.items()}
    return row | {"body": content.body, "snippet": content.snippet, "size_estimate": content.size}


def _store_files(db: Records, message_id: str, content: Content) -> None:
    """Files become attachment rows; the payload then names them by their ids."""
    ids = []
    for file in content.files:
        row = {"message_id": message_id, "filename": file.filename, "mime_type": file.mime_type}
        ids.append(db.add("attachments", {**row, "size": file.size, "data": file.data})["id"])
    db.change("messages", {"id": message_id}, {"payload": _named(content.payload, ids)})


def _named(part: Mapping[str, Any], ids: Sequence[str]) -> dict[str, Any]:
    body = dict(part["body"])
    if "file" in body:
        body = {"attachmentId": ids[body["file"]], "size": body["size"]}
    return {**part, "body": body, "parts": [_named(child, ids) for child in part["parts"]]}


def replace_content(db: Records, message: Row, content: Content, *, internal_date: int) -> None:
    db.remove("attachments", {"message_id": message["id"]})
    values = {**_columns(content), "internal_date": str(internal_date), **touched(db)}
    db.change("messages", {"id": message["id"]}, values)
    _store_files(db, message["id"], content)


def relabel(db: Records, messages: Sequence[Row], *, add: Sequence[str] = (), remove: Sequence[str] = ()) -> None:
    """Labels that a message has already, or does not have, are passed over."""
    changes: list[Change] = []
    counted: dict[str, None] = {}
    for message in messages:
        before = labels_of(db, message["id"])
        gone = [label for label in before if label in remove and label not in add]
        new = [label for label in add if label not in before]
        for label in gone:
            db.remove("message_labels", {"message_id": message["id"], "label_id": label})
        for label in new:
            db.add("message_labels", {"message_id": message["id"], "label_id": label})
        if gone:
            changes.append(Change(message=message, type="labelRemoved", label_ids=gone))
        if new:
            changes.append(Change(message=message, type="labelAdded", label_ids=new))
        if gone or new:
            counted |= dict.fromkeys([*before, *new])
    record(db, changes)
    recount(db, list(counted))


def remove_messages(db: Records, messages: Sequence[Row]) -> None:
    """For good: labels, attachments and drafts with them, and threads that are empty then."""
    counted: dict[str, None] = {}
    changes = []
    for message in messages:
        labels = labels_of(db, message["id"])
        counted |= dict.fromkeys(labels)
        changes.append(Change(message=message, type="messageDeleted", label_ids=labels))
        for table in ("message_labels", "attachments", "drafts"):
            db.remove(table, {"message_id": message["id"]})
        db.remove("messages", {"id": message["id"]})
    threads = {message["thread_id"] for message in messages}
    empty = [thread for thread in threads if not db.count("messages", {"thread_id": thread})]
    for thread in empty:
        db.remove("threads", {"id": thread})
    if messages:
        _count_mail(db, messages=-len(messages), threads=-len(empty))
    record(db, changes)
    recount(db, list(counted))


def record(db: Records, changes: Sequence[Change]) -> None:
    """One history row a change; mailbox, threads and messages then bear the id of their last one."""
    last = None
    for change in changes:
        message = change.message
        row = {**mine(db), "message_id": message["id"], "thread_id": message["thread_id"], "type": change.type}
        last = db.add("history", {**row, "label_ids": list(change.label_ids)})["id"]
        db.change("messages", {"id": message["id"]}, {"history_id": last, **touched(db)})
        db.change("threads", {"id": message["thread_id"]}, {"history_id": last, **touched(db)})
    if last is not None:
        db.change("users", {"id": db.caller["id"]}, {"history_id_current": last, **touched(db)})


def recount(db: Records, labels: Sequence[str]) -> None:
    """The counters of labels that have a row are those of the mailbox."""
    unread = label_id(db, UNREAD)
    for label in labels:
        row = db.first("labels", {"id": label, **mine(db)})
        if row is None:
            continue
        (real,) = db.select(_COUNTERS, (unread, label, db.caller["id"]))
        if any(row[name] != value for name, value in real.items()):
            db.change("labels", {"id": label, **mine(db)}, {**real, **touched(db)})


def _count_mail(db: Records, *, messages: int, threads: int) -> None:
    (user,) = db.find("users", {"id": db.caller["id"]})
    totals = {"messages_total": messages, "threads_total": threads}
    db.change("users", {"id": user["id"]}, {name: (user[name] or 0) + change for name, change in totals.items()})


def payload_of(message: Row) -> dict[str, Any]:
    """As stored; of a seed's message that has columns only, made up from them."""
    stored = decoded(message["payload"])
    if isinstance(stored, dict):
        return {
            "partId": "",
            "mimeType": "text/plain",
            "filename": "",
            "headers": [],
            "body": {},
            "parts": [],
            **stored,
        }
    names = {"From": "sender", "To": "recipients", "Cc": "cc", "Bcc": "bcc", "Subject": "subject"}
    headers = [{"name": name, "value": message[column]} for name, column in names.items() if message[column]]
    body = message["body"] or ""
    return {
        "partId": "",
        "mimeType": "text/plain",
        "filename": "",
        "headers": headers,
        "body": {"size": len(body.encode()), "data": body},
        "parts": [],
    }
