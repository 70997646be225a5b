"""Threads: a search over their messages, and what messages can do, done to all of a thread."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from robustops.gym.domains.email.caller import mine, page, reading, writing
from robustops.gym.domains.email.mailbox import relabel, remove_messages
from robustops.gym.domains.email.message_object import labelled, message_object
from robustops.gym.domains.email.messages import PAGE, changes_of, trash, untrash
from robustops.gym.domains.email.query import DATE_MS
from robustops.gym.domains.email.search import matching
from robustops.gym.operations.kind import ToolFailure
from robustops.gym.operations.records import Records, Row

_MESSAGES = f"SELECT m.* FROM messages AS m WHERE m.thread_id = ? AND m.user_id = ? ORDER BY {DATE_MS}, m.rowid"


def _messages(db: Records, thread_id: str) -> list[Row]:
    """Oldest first. Raises ToolFailure for a thread that is not the caller's."""
    messages = db.select(_MESSAGES, (thread_id, db.caller["id"]))
    if not messages and not db.count("threads", {"id": thread_id, **mine(db)}):
        raise ToolFailure(f"Thread not found: {thread_id}")
    return messages


def _list(db: Records, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """A thread matches where one of its messages does; the newest match comes first."""
    found: dict[str, Row] = {}
    for message in matching(db, arguments):
        found.setdefault(message["thread_id"], message)
    shown, more = page(list(found), arguments, size=PAGE)
    threads = [
        {"id": thread_id, "snippet": found[thread_id]["snippet"], "historyId": _history_id(db, found[thread_id])}
        for thread_id in shown
    ]
    return {"threads": threads, **more, "resultSizeEstimate": len(found)}


def _history_id(db: Records, message: Row) -> str | None:
    thread = db.first("threads", {"id": message["thread_id"], **mine(db)})
    found: str | None = message["history_id"] if thread is None else thread["history_id"]
    return found


def _get(db: Records, arguments: Mapping[str, Any]) -> dict[str, Any]:
    messages = _messages(db, arguments["id"])
    form, headers = arguments.get("format", "full"), arguments.get("metadataHeaders") or ()
    history = _history_id(db, messages[-1]) if messages else None
    shown = [message_object(db, message, form=form, headers=headers) for message in messages]
    return {"id": arguments["id"], "historyId": history, "messages": shown}


def _changed(db: Records, thread_id: str, messages: list[Row]) -> dict[str, Any]:
    return {"id": thread_id, "messages": [labelled(db, message) for message in messages]}


def _modify(db: Records, arguments: Mapping[str, Any]) -> dict[str, Any]:
    messages = _messages(db, arguments["id"])
    relabel(db, messages, **changes_of(db, arguments))
    return _changed(db, arguments["id"], messages)


def _trash(db: Records, arguments: Mapping[str, Any]) -> dict[str, Any]:
    messages = _messages(db, arguments["id"])
    trash(db, messages)
    return _changed(db, arguments["id"], messages)


def _untrash(db: Records, arguments: Mapping[str, Any]) -> dict[str, Any]:
    messages = _messages(db, arguments["id"])
    untrash(db, messages)
    return _changed(db, arguments["id"], messages)


def _delete(db: Records, arguments: Mapping[str, Any]) -> None:
    messages = _messages(db, arguments["id"])
    remove_messages(db, messages)
    db.remove("threads", {"id": arguments["id"], **mine(db)})


KINDS = {
    "list_threads": reading(_list),
    "get_thread": reading(_get),
    "modify_thread": writing(_modify),
    "trash_thread": writing(_trash),
    "untrash_thread": writing(_untrash),
    "delete_thread": writing(_delete),
}
