"""Messages: search, read, send, store, label, trash, delete."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from robustops.gym.domains.email.caller import mine, page, reading, writing
from robustops.gym.domains.email.mailbox import (
    INBOX,
    SENT,
    SPAM,
    TRASH,
    UNREAD,
    label_ids,
    labels_of,
    message_of,
    now_ms,
    relabel,
    remove_messages,
    store,
)
from robustops.gym.domains.email.message_object import labelled, message_object, reference
from robustops.gym.domains.email.mime import Content, content_of, date_ms
from robustops.gym.domains.email.search import matching
from robustops.gym.operations.kind import ToolFailure
from robustops.gym.operations.records import Records, Row

PAGE = 100


def _list(db: Records, arguments: Mapping[str, Any]) -> dict[str, Any]:
    found = matching(db, arguments)
    shown, more = page(found, arguments, size=PAGE)
    return {"messages": [reference(message) for message in shown], **more, "resultSizeEstimate": len(found)}


def _get(db: Records, arguments: Mapping[str, Any]) -> dict[str, Any]:
    message = message_of(db, arguments["id"])
    headers = arguments.get("metadataHeaders") or ()
    return message_object(db, message, form=arguments.get("format", "full"), headers=headers)


def _send(db: Records, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The caller's own copy; nobody else's mailbox changes."""
    content = outgoing(db, content_of(arguments))
    labels = label_ids(db, [SENT, *(arguments.get("labelIds") or ())])
    date = now_ms(db)
    return labelled(db, store(db, content, labels=labels, thread_id=arguments.get("threadId"), internal_date=date))


def outgoing(db: Records, content: Content) -> Content:
    """A message that can be sent, with its sender. Raises ToolFailure where nobody would get it."""
    if not any(content.header(name) for name in ("To", "Cc", "Bcc")):
        raise ToolFailure("Recipient address required")
    if content.header("From"):
        return content
    sender = {"name": "From", "value": db.caller["primary_email"]}
    payload = {**content.payload, "headers": [sender, *content.payload["headers"]]}
    return Content(payload=payload, files=content.files, body=content.body, size=content.size)


def _insert(db: Records, arguments: Mapping[str, Any]) -> dict[str, Any]:
    return _stored(db, arguments, arguments.get("labelIds") or [])


def _import(db: Records, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """As if it had arrived: unread in the inbox unless labels are given."""
    return _stored(db, arguments, arguments.get("labelIds") or [INBOX, UNREAD])


def _stored(db: Records, arguments: Mapping[str, Any], names: list[str]) -> dict[str, Any]:
    content, labels = content_of(arguments), label_ids(db, names)
    date = date_ms(content.header("Date")) if arguments.get("internalDateSource") == "dateHeader" else None
    message = store(
        db,
        content,
        labels=labels,
        thread_id=arguments.get("threadId"),
        internal_date=now_ms(db) if date is None else date,
        deleted=bool(arguments.get("deleted")),
    )
    return labelled(db, message)


def changes_of(db: Records, arguments: Mapping[str, Any]) -> dict[str, list[str]]:
    """The labels to put on and to take off. Raises ToolFailure."""
    names = {"add": "addLabelIds", "remove": "removeLabelIds"}
    return {way: label_ids(db, arguments.get(name) or ()) for way, name in names.items()}


def _modify(db: Records, arguments: Mapping[str, Any]) -> dict[str, Any]:
    message, changes = message_of(db, arguments["id"]), changes_of(db, arguments)
    relabel(db, [message], **changes)
    return labelled(db, message)


def _known(db: Records, ids: list[str]) -> list[Row]:
    """Those of the caller's messages that exist, each once."""
    found = (db.first("messages", {"id": message_id, **mine(db)}) for message_id in dict.fromkeys(ids))
    return [message for message in found if message is not None]


def _batch_modify(db: Records, arguments: Mapping[str, Any]) -> None:
    relabel(db, _known(db, arguments["ids"]), **changes_of(db, arguments))


def trash(db: Records, messages: list[Row]) -> None:
    relabel(db, messages, add=label_ids(db, [TRASH]), remove=label_ids(db, [INBOX, SPAM]))


def untrash(db: Records, messages: list[Row]) -> None:
    """Those in the trash go back to the inbox."""
    (label,) = label_ids(db, [TRASH])
    trashed = [message for message in messages if label in labels_of(db, message["id"])]
    relabel(db, trashed, add=label_ids(db, [INBOX]), remove=[label])


def _trash(db: Records, arguments: Mapping[str, Any]) -> dict[str, Any]:
    message = message_of(db, arguments["id"])
    trash(db, [message])
    return labelled(db, message)


def _untrash(db: Records, arguments: Mapping[str, Any]) -> dict[str, Any]:
    message = message_of(db, arguments["id"])
    untrash(db, [message])
    return labelled(db, message)


def _delete(db: Records, arguments: Mapping[str, Any]) -> None:
    remove_messages(db, [message_of(db, arguments["id"])])


def _batch_delete(db: Records, arguments: Mapping[str, Any]) -> None:
    remove_messages(db, _known(db, arguments["ids"]))


def _attachment(db: Records, arguments: Mapping[str, Any]) -> dict[str, Any]:
    message = message_of(db, arguments["messageId"])
    row = db.first("attachments", {"id": arguments["id"], "message_id": message["id"]})
    if row is None:
        raise ToolFailure(f"Attachment not found: {arguments['id']}")
    return {"attachmentId": row["id"], "size": row["size"], "data": row["data"]}


KINDS = {
    "list_messages": reading(_list),
    "get_message": reading(_get),
    "send_message": writing(_send),
    "insert_message": writing(_insert),
    "import_message": writing(_import),
    "modify_message": writing(_modify),
    "batch_modify": writing(_batch_modify),
    "trash_message": writing(_trash),
    "untrash_message": writing(_untrash),
    "delete_message": writing(_delete),
    "batch_delete": writing(_batch_delete),
    "get_attachment": reading(_attachment),
}
