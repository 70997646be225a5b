"""One successful call for each email tool that writes messages or threads."""

from __future__ import annotations

import base64
from typing import Any

from email_reads import ME
from email_seed import FILE, STAMPS, TOUCHED, WRITTEN, WRITTEN_MS
from tool_cases import New

Write = tuple[dict[str, Any], Any, dict[str, Any]]


def counted(label: str, **values: int) -> dict[str, Any]:
    return {label: {**values, **TOUCHED}}


def link(message: Any, label: str) -> dict[Any, Any]:
    """A pair of message and label that is there; with None as its row, one that is gone."""
    return {(message, label): {"message_id": message, "label_id": label}}


def unlinked(message: str, *labels: str) -> dict[Any, Any]:
    return {(message, label): None for label in labels}


def told(*records: tuple[str, str, str, str], **also: Any) -> dict[str, Any]:
    """What history, messages, threads and mailbox say after changes of (message, thread, type, labels as JSON)."""
    ids = [New("history", index) for index in range(len(records))]
    last = {"history_id": None}
    changes: dict[str, Any] = {"history": {}, "messages": {}, "threads": {}}
    for key, (message, thread, kind, labels) in zip(ids, records, strict=True):
        row = {"message_id": message, "thread_id": thread, "type": kind, "label_ids": labels, "user_id": "user_001"}
        changes["history"][key] = {**row, "created_at": WRITTEN}
        last = {"history_id": key, **TOUCHED}
        changes["messages"][message] = changes["threads"][thread] = last
    changes["users"] = {"user_001": {"history_id_current": ids[-1], **TOUCHED}}
    return {**changes, **also}


GONE: dict[str, Any] = {
    "messages": {"m-plan": None},
    "threads": {"t-plan": None},
    "drafts": {"d-plan": None},
    "message_labels": unlinked("m-plan", "DRAFT"),
    "labels": counted("DRAFT", messages_total=0, threads_total=0),
    "users": {
        "user_001": {"history_id_current": New("history"), "messages_total": 3, "threads_total": 2, **TOUCHED},
    },
    "history": {New("history"): {"message_id": "m-plan", "type": "messageDeleted", "label_ids": '["DRAFT"]'}},
}
DISK_GONE: dict[str, Any] = {
    "messages": {"m-disk": None},
    "message_labels": unlinked("m-disk", "INBOX", "UNREAD", "l-ops"),
    "attachments": {"f-1": None},
    "labels": {
        label: {"messages_total": 0, "messages_unread": 0, "threads_total": 0, "threads_unread": 0, **TOUCHED}
        for label in ("INBOX", "UNREAD", "l-ops")
    },
    "users": {"user_001": {"history_id_current": New("history"), "messages_total": 3, **TOUCHED}},
    "threads": {"t-disk": {"history_id": New("history"), **TOUCHED}},
    "history": {New("history"): {"message_id": "m-disk", "type": "messageDeleted"}},
}
THREAD_GONE: dict[str, Any] = {
    **DISK_GONE,
    "messages": {"m-disk": None, "m-reply": None},
    "message_labels": {**DISK_GONE["message_labels"], **unlinked("m-reply", "SENT")},
    "labels": {**DISK_GONE["labels"], **counted("SENT", messages_total=0, threads_total=0)},
    "threads": {"t-disk": None},
    "users": {
        "user_001": {"history_id_current": New("history", 1), "messages_total": 2, "threads_total": 2, **TOUCHED},
    },
    "history": {
        New("history", index): {"message_id": message, "type": "messageDeleted"}
        for index, message in enumerate(("m-disk", "m-reply"))
    },
}


def arrived(
    labels: str, *, thread: Any = None, counters: dict[str, Any] | None = None, **columns: Any
) -> dict[str, Any]:
    """The rows of one new message, in a new thread unless told otherwise."""
    new_thread = {New("threads"): {"user_id": "user_001", "history_id": New("history")}}
    old_thread = {thread: {"history_id": New("history"), **TOUCHED}}
    totals = {"messages_total": 5, **({} if thread else {"threads_total": 4})}
    row = {"user_id": "user_001", "thread_id": thread or New("threads"), "history_id": New("history"), **STAMPS}
    changes = {
        "messages": {New("messages"): {**row, "internal_date": WRITTEN_MS, **columns}},
        "threads": old_thread if thread else new_thread,
        "users": {"user_001": {"history_id_current": New("history"), **totals, **TOUCHED}},
        "history": {New("history"): {"message_id": New("messages"), "type": "messageAdded", "label_ids": labels}},
    }
    return {**changes, **({"labels": counters} if counters else {})}


def payload(**headers: str) -> dict[str, Any]:
    return {
        "headers": [{"name": name, "value": value} for name, value in headers.items()],
        "mimeType": "text/plain",
        "body": {"data": "See you at nine.", "size": 16},
    }


RAW = base64.urlsafe_b64encode(
    b"From: shop@out.example\r\nTo: ann@mail.example\r\nSubject: Bill\r\nDate: Mon, 01 Sep 2025 10:00:00 +0200\r\n"
    b"\r\nPlease pay.\r\n"
).decode()
WITH_FILE = {
    "headers": [{"name": "To", "value": "bob@mail.example"}, {"name": "Subject", "value": "Report"}],
    "mimeType": "multipart/mixed",
    "parts": [
        {"mimeType": "text/plain", "body": {"data": "U2VlIGJlbG93Lg==", "size": 10}},
        {"mimeType": "text/plain", "filename": "disk.txt", "body": {"data": FILE, "size": 11}},
    ],
}

MAIL_WRITES: dict[str, Write] = {
    "batch_delete_messages": (
        {**ME, "ids": ["m-plan", "m-nowhere", "m-bob"]},
        "Operation completed successfully",
        GONE,
    ),
    "batch_modify_messages": (
        {"ids": ["m-disk", "m-nowhere"], "removeLabelIds": ["INBOX"]},
        "Operation completed successfully",
        told(
            ("m-disk", "t-disk", "labelRemoved", '["INBOX"]'),
            message_labels=unlinked("m-disk", "INBOX"),
            labels=counted("INBOX", messages_total=0, messages_unread=0, threads_total=0, threads_unread=0),
        ),
    ),
    "delete_message": ({"id": "m-disk"}, "Operation completed successfully", DISK_GONE),
    "import_message": (
        {"raw": RAW, "internalDateSource": "dateHeader"},
        {"id": New("messages"), "threadId": New("threads"), "labelIds": ["INBOX", "UNREAD"]},
        {
            **arrived(
                '["INBOX", "UNREAD"]',
                counters={
                    label: {
                        "messages_total": 2,
                        "messages_unread": 2,
                        "threads_total": 2,
                        "threads_unread": 2,
                        **TOUCHED,
                    }
                    for label in ("INBOX", "UNREAD")
                },
            ),
            "messages": {
                New("messages"): {
                    "subject": "Bill",
                    "sender": "shop@out.example",
                    "snippet": "Please pay.",
                    "internal_date": "1756713600000",  # 2025-09-01 08:00:00 UTC
                    "deleted": 0,
                }
            },
            "message_labels": {
                New("message_labels", index): {"message_id": New("messages"), "label_id": label}
                for index, label in enumerate(("INBOX", "UNREAD"))
            },
        },
    ),
    "insert_message": (
        {"payload": payload(To="ann@mail.example", Subject="Note"), "threadId": "t-disk", "labelIds": ["STARRED"]},
        {"id": New("messages"), "threadId": "t-disk", "labelIds": ["STARRED"]},
        {
            **arrived('["STARRED"]', thread="t-disk", subject="Note", sender=""),
            "message_labels": {New("message_labels"): {"message_id": New("messages"), "label_id": "STARRED"}},
        },
    ),
    "modify_message": (
        {**ME, "id": "m-disk", "addLabelIds": ["l-old", "l-ops"], "removeLabelIds": ["UNREAD"]},
        {"id": "m-disk", "threadId": "t-disk", "labelIds": ["INBOX", "l-ops", "l-old"]},
        {
            "message_labels": {**unlinked("m-disk", "UNREAD"), **link("m-disk", "l-old")},
            "messages": {"m-disk": {"history_id": New("history", 1), **TOUCHED}},
            "threads": {"t-disk": {"history_id": New("history", 1), **TOUCHED}},
            "users": {"user_001": {"history_id_current": New("history", 1), **TOUCHED}},
            "history": {
                New("history", 0): {"type": "labelRemoved", "label_ids": '["UNREAD"]'},
                New("history", 1): {"type": "labelAdded", "label_ids": '["l-old"]'},
            },
            "labels": {
                **{label: {"messages_unread": 0, "threads_unread": 0, **TOUCHED} for label in ("INBOX", "l-ops")},
                **counted("UNREAD", messages_total=0, messages_unread=0, threads_total=0, threads_unread=0),
                **counted("l-old", messages_total=1, threads_total=1),
            },
        },
    ),
    "send_message": (
        {**ME, "payload": payload(To="bob@mail.example", Subject="Nine"), "labelIds": ["l-old"]},
        {"id": New("messages"), "threadId": New("threads"), "labelIds": ["SENT", "l-old"]},
        {
            **arrived(
                '["SENT", "l-old"]',
                counters={
                    **counted("SENT", messages_total=2, threads_total=2),
                    **counted("l-old", messages_total=1, threads_total=1),
                },
                subject="Nine",
                sender="ann@mail.example",
                recipients="bob@mail.example",
                body="See you at nine.",
            ),
            "message_labels": {
                New("message_labels", index): {"message_id": New("messages"), "label_id": label}
                for index, label in enumerate(("SENT", "l-old"))
            },
        },
    ),
    "trash_message": (
        {**ME, "id": "m-disk"},
        {"id": "m-disk", "labelIds": ["UNREAD", "l-ops", "TRASH"]},
        {
            "message_labels": {**unlinked("m-disk", "INBOX"), **link("m-disk", "TRASH")},
            "messages": {"m-disk": {"history_id": New("history", 1), **TOUCHED}},
            "threads": {"t-disk": {"history_id": New("history", 1), **TOUCHED}},
            "users": {"user_001": {"history_id_current": New("history", 1), **TOUCHED}},
            "history": {
                New("history", 0): {"type": "labelRemoved", "label_ids": '["INBOX"]'},
                New("history", 1): {"type": "labelAdded", "label_ids": '["TRASH"]'},
            },
            "labels": {
                **counted("INBOX", messages_total=0, messages_unread=0, threads_total=0, threads_unread=0),
                **counted("TRASH", messages_total=2, messages_unread=1, threads_total=2, threads_unread=1),
            },
        },
    ),
    "untrash_message": (
        {**ME, "id": "m-spam"},
        {"id": "m-spam", "labelIds": ["INBOX"]},
        {
            "message_labels": {**unlinked("m-spam", "TRASH"), **link("m-spam", "INBOX")},
            "messages": {"m-spam": {"history_id": New("history", 1), **TOUCHED}},
            "threads": {"t-old": {"history_id": New("history", 1), **TOUCHED}},
            "users": {"user_001": {"history_id_current": New("history", 1), **TOUCHED}},
            "history": {
                New("history", 0): {"type": "labelRemoved", "label_ids": '["TRASH"]'},
                New("history", 1): {"type": "labelAdded", "label_ids": '["INBOX"]'},
            },
            "labels": {
                **counted("TRASH", messages_total=0, threads_total=0),
                **counted("INBOX", messages_total=2, threads_total=2),
            },
        },
    ),
    "delete_thread": ({**ME, "id": "t-disk"}, "Operation completed successfully", THREAD_GONE),
    "modify_thread": (
        {**ME, "id": "t-disk", "addLabelIds": ["l-old"]},
        {
            "id": "t-disk",
            "messages": [
                {"id": "m-disk", "labelIds": ["INBOX", "UNREAD", "l-ops", "l-old"]},
                {"id": "m-reply", "labelIds": ["SENT", "l-old"]},
            ],
        },
        told(
            ("m-disk", "t-disk", "labelAdded", '["l-old"]'),
            ("m-reply", "t-disk", "labelAdded", '["l-old"]'),
            message_labels={**link("m-disk", "l-old"), **link("m-reply", "l-old")},
            labels=counted("l-old", messages_total=2, messages_unread=1, threads_total=1, threads_unread=1),
        ),
    ),
    "trash_thread": (
        {**ME, "id": "t-plan"},
        {"id": "t-plan", "messages": [{"id": "m-plan", "labelIds": ["DRAFT", "TRASH"]}]},
        told(
            ("m-plan", "t-plan", "labelAdded", '["TRASH"]'),
            message_labels=link("m-plan", "TRASH"),
            labels=counted("TRASH", messages_total=2, threads_total=2),
        ),
    ),
    "untrash_thread": (
        {**ME, "id": "t-old"},
        {"id": "t-old", "messages": [{"id": "m-spam", "labelIds": ["INBOX"]}]},
        {
            "message_labels": {**unlinked("m-spam", "TRASH"), **link("m-spam", "INBOX")},
            "messages": {"m-spam": {"history_id": New("history", 1), **TOUCHED}},
            "threads": {"t-old": {"history_id": New("history", 1), **TOUCHED}},
            "users": {"user_001": {"history_id_current": New("history", 1), **TOUCHED}},
            "history": {
                New("history", 0): {"type": "labelRemoved", "label_ids": '["TRASH"]'},
                New("history", 1): {"type": "labelAdded", "label_ids": '["INBOX"]'},
            },
            "labels": {
                **counted("TRASH", messages_total=0, threads_total=0),
                **counted("INBOX", messages_total=2, threads_total=2),
            },
        },
    ),
}
