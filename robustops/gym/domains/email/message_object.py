"""Message rows in, the objects of replies out, in each of the formats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from robustops.gym.domains.email.mailbox import labels_of, payload_of
from robustops.gym.domains.email.mime import raw_of
from robustops.gym.operations.records import Records, Row


def reference(message: Row) -> dict[str, Any]:
    return {"id": message["id"], "threadId": message["thread_id"]}


def labelled(db: Records, message: Row) -> dict[str, Any]:
    """What a change of labels replies with."""
    return {**reference(message), "labelIds": labels_of(db, message["id"])}


def message_object(db: Records, message: Row, *, form: str, headers: Sequence[str] = ()) -> dict[str, Any]:
    """`form`: minimal, full, raw or metadata. `headers`: the only ones shown in metadata, all where there are none."""
    shown = {
        **labelled(db, message),
        "snippet": message["snippet"],
        "historyId": message["history_id"],
        "internalDate": internal_date(message["internal_date"]),
        "sizeEstimate": message["size_estimate"],
    }
    payload = payload_of(message)
    match form:
        case "full":
            return {**shown, "payload": payload}
        case "metadata":
            wanted = {name.lower() for name in headers}
            kept = [item for item in payload["headers"] if not wanted or _name(item) in wanted]
            return {**shown, "payload": {"mimeType": payload["mimeType"], "headers": kept}}
        case "raw":
            return {**shown, "raw": raw_of(payload, _data(db, message["id"]))}
    return shown


def _name(item: Mapping[str, Any]) -> str:
    return (item.get("name") or "").lower()


def _data(db: Records, message_id: str) -> dict[str, str]:
    return {row["id"]: row["data"] or "" for row in db.find("attachments", {"message_id": message_id})}


def internal_date(stored: Any) -> str | None:
    """Milliseconds as text, whatever form the seed has."""
    if stored is None or not str(stored) or str(stored).isdigit():
        return None if stored is None else str(stored)
    try:
        moment = datetime.fromisoformat(str(stored))
    except ValueError:
        return str(stored)
    return str(round((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000))
