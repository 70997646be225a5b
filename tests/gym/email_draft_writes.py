"""One successful call for each email tool that writes drafts or labels."""

from __future__ import annotations

from email_mail_writes import GONE, WITH_FILE, Write, arrived, counted, link, payload, told, unlinked
from email_reads import ME
from email_seed import FILE, STAMPS, TOUCHED, WRITTEN_MS
from tool_cases import New

DRAFT_WRITES: dict[str, Write] = {
    "create_draft": (
        {"message": {"payload": WITH_FILE, "labelIds": ["l-old"]}},
        {
            "id": New("drafts"),
            "message": {"id": New("messages"), "threadId": New("threads"), "labelIds": ["DRAFT", "l-old"]},
        },
        {
            **arrived(
                '["DRAFT", "l-old"]',
                counters={
                    **counted("DRAFT", messages_total=2, threads_total=2),
                    **counted("l-old", messages_total=1, threads_total=1),
                },
                subject="Report",
                recipients="bob@mail.example",
                body="See below.",
                snippet="See below.",
                size_estimate=21,
            ),
            "drafts": {New("drafts"): {"user_id": "user_001", "message_id": New("messages"), **STAMPS}},
            "attachments": {
                New("attachments"): {"message_id": New("messages"), "filename": "disk.txt", "size": 11, "data": FILE}
            },
            "message_labels": {
                New("message_labels", 0): {"message_id": New("messages"), "label_id": "DRAFT"},
                New("message_labels", 1): {"message_id": New("messages"), "label_id": "l-old"},
            },
        },
    ),
    "delete_draft": ({"id": "d-plan"}, "Operation completed successfully", GONE),
    "send_draft": (
        {"id": "d-plan", "message": {"id": "m-plan", "payload": payload(To="cleo@mail.example", Subject="Plan B")}},
        {"id": "m-plan", "threadId": "t-plan", "labelIds": ["SENT"]},
        {
            "drafts": {"d-plan": None},
            "message_labels": {**unlinked("m-plan", "DRAFT"), **link("m-plan", "SENT")},
            "messages": {
                "m-plan": {
                    "subject": "Plan B",
                    "recipients": "cleo@mail.example",
                    "cc": "",
                    "bcc": "",
                    "body": "See you at nine.",
                    "snippet": "See you at nine.",
                    "size_estimate": 16,
                    "internal_date": WRITTEN_MS,
                    "payload": (
                        '{"partId": "", "mimeType": "text/plain", "filename": "", "headers": '
                        '[{"name": "From", "value": "ann@mail.example"}, {"name": "To", "value": "cleo@mail.example"}, '
                        '{"name": "Subject", "value": "Plan B"}], "body": {"size": 16, "data": "See you at nine."}, '
                        '"parts": []}'
                    ),
                    "history_id": New("history", 1),
                    **TOUCHED,
                }
            },
            "threads": {"t-plan": {"history_id": New("history", 1), **TOUCHED}},
            "users": {"user_001": {"history_id_current": New("history", 1), **TOUCHED}},
            "history": {
                New("history", 0): {"type": "labelRemoved", "label_ids": '["DRAFT"]'},
                New("history", 1): {"type": "labelAdded", "label_ids": '["SENT"]'},
            },
            "labels": {
                **counted("DRAFT", messages_total=0, threads_total=0),
                **counted("SENT", messages_total=2, threads_total=2),
            },
        },
    ),
    "update_draft": (
        {"id": "d-plan", "message": {"id": "m-plan", "labelIds": ["l-old"]}},
        {"id": "d-plan", "message": {"id": "m-plan", "labelIds": ["DRAFT", "l-old"]}},
        told(
            ("m-plan", "t-plan", "labelAdded", '["l-old"]'),
            drafts={"d-plan": TOUCHED},
            message_labels=link("m-plan", "l-old"),
            labels=counted("l-old", messages_total=1, threads_total=1),
        ),
    ),
    "create_label": (
        {**ME, "name": "Ops/Day", "color": {"textColor": "#000000", "backgroundColor": "#16a765"}},
        {
            "id": New("labels"),
            "name": "Ops/Day",
            "type": "user",
            "messageListVisibility": "show",
            "labelListVisibility": "labelShow",
            "color": {"textColor": "#000000", "backgroundColor": "#16a765"},
        },
        {
            "labels": {
                New("labels"): {
                    "user_id": "user_001",
                    "name": "Ops/Day",
                    "type": "user",
                    "text_color": "#000000",
                    "messages_total": 0,
                    "threads_unread": 0,
                    **STAMPS,
                }
            }
        },
    ),
    "delete_label": (
        {**ME, "id": "l-ops"},
        "Operation completed successfully",
        {"labels": {"l-ops": None}, "message_labels": unlinked("m-disk", "l-ops")},
    ),
    "patch_label": (
        {**ME, "id": "l-old", "labelListVisibility": "labelHide"},
        {"id": "l-old", "name": "Old", "messageListVisibility": "show", "labelListVisibility": "labelHide"},
        {"labels": {"l-old": {"label_list_visibility": "labelHide", **TOUCHED}}},
    ),
    "update_label": (
        {**ME, "id": "l-old", "name": "OLD", "messageListVisibility": "hide", "labelListVisibility": "labelShow"},
        {"id": "l-old", "name": "OLD"},
        {"labels": {"l-old": {"name": "OLD", "message_list_visibility": "hide", **TOUCHED}}},
    ),
}
