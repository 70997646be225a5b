"""Drafts: messages with the label DRAFT and an id of their own, until they are sent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from robustops.gym.domains.email.caller import mine, page, reading, touched, writing
from robustops.gym.domains.email.mailbox import (
    DRAFT,
    SENT,
    label_ids,
    labels_of,
    message_of,
    now_ms,
    payload_of,
    relabel,
    remove_messages,
    replace_content,
    store,
)
from robustops.gym.domains.email.message_object import labelled, message_object, reference
from robustops.gym.domains.email.messages import PAGE, outgoing
from robustops.gym.domains.email.mime import content_of, header
from robustops.gym.domains.email.search import matching
from robustops.gym.operations.kind import ToolFailure
from robustops.gym.operations.records import Records, Row

_IS_DRAFT = "EXISTS (SELECT 1 FROM drafts AS d WHERE d.message_id = m.id)"


def _draft_of(db: Records, draft_id: str) -> Row:
    draft = db.first("drafts", {"id": draft_id, **mine(db)})
    if draft is None:
        raise ToolFailure(f"Draft not found: {draft_id}")
    return draft


def _object(db: Records, draft: Row) -> dict[str, Any]:
    return {"id": draft["id"], "message": labelled(db, message_of(db, draft["message_id"]))}


def _create(db: Records, arguments: Mapping[str, Any]) -> dict[str, Any]:
    given = arguments["message"]
    content = content_of(given)
    labels = label_ids(db, [DRAFT, *(given.get("labelIds") or ())])
    message = store(db, content, labels=labels, thread_id=given.get("threadId"), internal_date=now_ms(db))
    return _object(db, db.add("drafts", {**mine(db), "message_id": message["id"]}))


def _list(db: Records, arguments: Mapping[str, Any]) -> dict[str, Any]:
    found = matching(db, arguments, extra=_IS_DRAFT)
    ids = {row["message_id"]: row["id"] for row in db.find("drafts", mine(db))}
    shown, more = page(found, arguments, size=PAGE)
    drafts = [{"id": ids[message["id"]], "message": reference(message)} for message in shown]
    return {"drafts": drafts, **more, "resultSizeEstimate": len(found)}


def _get(db: Records, arguments: Mapping[str, Any]) -> dict[str, Any]:
    draft = _draft_of(db, arguments["id"])
    message = message_of(db, draft["message_id"])
    return {"id": draft["id"], "message": message_object(db, message, form=arguments.get("format", "full"))}


def _update(db: Records, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The message keeps its id. Labels that are given replace those there were, but for DRAFT."""
    draft, given = _draft_of(db, arguments["id"]), arguments["message"]
    message = message_of(db, draft["message_id"])
    if given.get("raw") or given.get("payload"):
        replace_content(db, message, content_of(given), internal_date=now_ms(db))
    if given.get("labelIds"):
        wanted = label_ids(db, [DRAFT, *given["labelIds"]])
        gone = [label for label in labels_of(db, message["id"]) if label not in wanted]
        relabel(db, [message], add=wanted, remove=gone)
    db.change("drafts", {"id": draft["id"]}, touched(db))
    return _object(db, draft)


def _send(db: Records, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The same message row, sent: no copy is made."""
    draft, given = _draft_of(db, arguments["id"]), arguments["message"]
    message = message_of(db, draft["message_id"])
    if given.get("raw") or given.get("payload"):
        replace_content(db, message, outgoing(db, content_of(given)), internal_date=now_ms(db))
    elif not any(header(payload_of(message), name) for name in ("To", "Cc", "Bcc")):
        raise ToolFailure("Recipient address required")
    db.remove("drafts", {"id": draft["id"]})
    add = label_ids(db, [SENT, *(given.get("labelIds") or ())])
    removed = label_ids(db, [DRAFT])
    relabel(db, [message], add=[label for label in add if label not in removed], remove=removed)
    return labelled(db, message_of(db, message["id"]))


def _delete(db: Records, arguments: Mapping[str, Any]) -> None:
    draft = _draft_of(db, arguments["id"])
    remove_messages(db, [message_of(db, draft["message_id"])])


KINDS = {
    "create_draft": writing(_create),
    "list_drafts": reading(_list),
    "get_draft": reading(_get),
    "update_draft": writing(_update),
    "send_draft": writing(_send),
    "delete_draft": writing(_delete),
}
