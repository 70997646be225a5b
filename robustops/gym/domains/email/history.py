"""What happened in the mailbox, its profile, and the watch on it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from robustops.gym.domains.email.caller import mine, page, reading, touched, writing
from robustops.gym.domains.email.mailbox import label_id, label_ids, labels_of, now_ms
from robustops.gym.operations.kind import ToolFailure
from robustops.gym.operations.records import Records, Row
from robustops.gym.operations.rows import decoded

PAGE = 100
WATCHED_MS = 7 * 24 * 3600 * 1000
_LISTS = {
    "messageAdded": "messagesAdded",
    "messageDeleted": "messagesDeleted",
    "labelAdded": "labelsAdded",
    "labelRemoved": "labelsRemoved",
}


def _list(db: Records, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Records after the start, in the order in which they were written: their ids have none."""
    found = _since(db, arguments["startHistoryId"])
    types = arguments.get("historyTypes")
    if types:
        found = [row for row in found if row["type"] in types]
    if arguments.get("labelId"):
        wanted = label_id(db, arguments["labelId"]) or arguments["labelId"]
        found = [row for row in found if wanted in _labels(row) or wanted in labels_of(db, row["message_id"])]
    shown, more = page(found, arguments, size=PAGE)
    current = db.find("users", {"id": db.caller["id"]})[0]["history_id_current"]
    return {"history": [_record(row) for row in shown], **more, "historyId": current}


def _since(db: Records, start: str) -> list[Row]:
    """Everything for an empty start. Raises ToolFailure for one that is unknown."""
    rows = db.find("history", mine(db), order="created_at, rowid")
    if not start:
        return rows
    for index, row in enumerate(rows):
        if row["id"] == start:
            return rows[index + 1 :]
    known = db.count("messages", {"history_id": start, **mine(db)})
    if known or db.count("users", {"id": db.caller["id"], "history_id_current": start}):
        return rows  # a point that the seed names without a record: all records are younger
    raise ToolFailure(f"History not found: {start}")


def _labels(row: Row) -> list[str]:
    found = decoded(row["label_ids"])
    return found if isinstance(found, list) else []


def _record(row: Row) -> dict[str, Any]:
    message = {"id": row["message_id"], "threadId": row["thread_id"]}
    if row["type"].startswith("label"):
        change: dict[str, Any] = {"message": message, "labelIds": _labels(row)}
    else:
        change = {"message": {**message, "labelIds": _labels(row)}}
    return {"id": row["id"], "messages": [message], _LISTS[row["type"]]: [change]}


def _profile(db: Records, _arguments: Mapping[str, Any]) -> dict[str, Any]:
    user = db.caller
    totals = {"messagesTotal": user["messages_total"], "threadsTotal": user["threads_total"]}
    return {"emailAddress": user["primary_email"], **totals, "historyId": user["history_id_current"]}


def _watch(db: Records, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """One watch a user: a new one takes the place of the old."""
    values = {
        "topic_name": arguments["topicName"],
        "label_ids": label_ids(db, arguments["labelIds"]),
        "label_filter_behavior": arguments.get("labelFilterBehavior", "include"),
        "expiration": str(now_ms(db) + WATCHED_MS),
    }
    if db.count("watches", mine(db)):
        db.change("watches", mine(db), {**values, **touched(db)})
    else:
        db.add("watches", {**mine(db), **values})
    return {"historyId": db.caller["history_id_current"], "expiration": values["expiration"]}


def _stop(db: Records, _arguments: Mapping[str, Any]) -> None:
    db.remove("watches", mine(db))


KINDS = {
    "list_history": reading(_list),
    "get_profile": reading(_profile),
    "watch_mailbox": writing(_watch),
    "stop_watch": writing(_stop),
}
