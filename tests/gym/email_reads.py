"""One successful call for each email tool that reads; the replies follow from the seed and the server's rules."""

from __future__ import annotations

from typing import Any

from email_seed import FILE

ME = {"userId": "me"}
DISK: dict[str, Any] = {
    "id": "m-disk",
    "threadId": "t-disk",
    "labelIds": ["INBOX", "UNREAD", "l-ops"],
    "snippet": "The disk is full.",
    "historyId": "h-1",
    "internalDate": "1756800000000",
    "sizeEstimate": 700,
    "payload": {
        "partId": "",
        "mimeType": "text/plain",
        "filename": "",
        "headers": [
            {"name": "From", "value": "Bob Lind <bob@mail.example>"},
            {"name": "To", "value": "ann@mail.example"},
            {"name": "Cc", "value": "ops@mail.example"},
            {"name": "Subject", "value": "Disk full"},
        ],
        "body": {"size": 17, "data": "The disk is full."},
        "parts": [],
    },
}
INBOX = {
    "id": "INBOX",
    "name": "INBOX",
    "type": "system",
    "messageListVisibility": "show",
    "labelListVisibility": "labelShow",
}
DESK = {
    "sendAsEmail": "desk@mail.example",
    "displayName": "Desk",
    "replyToAddress": None,
    "signature": None,
    "isPrimary": False,
    "isDefault": True,
    "treatAsAlias": True,
    "smtpMsa": None,
    "verificationStatus": "accepted",
}
FILTER = {
    "id": "filter_1",
    "criteria": {"from": "bob@mail.example", "size": 0},
    "action": {"addLabelIds": ["l-ops"]},
}
PAIR = {
    "keyPairId": "kp_1",
    "pkcs7": "P7",
    "pem": "PEM",
    "subjectEmailAddresses": ["ann@mail.example", "desk@mail.example"],
    "enablementState": "enabled",
    "disableTime": None,
}
NORTH = {"id": "c-1", "issuerCn": "North CA", "isDefault": True, "expiration": "1800000000000", "pem": "PEM1"}

READS: dict[str, tuple[dict[str, Any], Any]] = {
    "get_user_profile": (
        {"userId": "Ann@mail.example"},
        {"emailAddress": "ann@mail.example", "messagesTotal": 4, "threadsTotal": 3, "historyId": "h-2"},
    ),
    "get_draft": (
        {"id": "d-plan", "format": "minimal"},
        {
            "id": "d-plan",
            "message": {"id": "m-plan", "threadId": "t-plan", "labelIds": ["DRAFT"], "snippet": "Plan; part two"},
        },
    ),
    "list_drafts": (
        {"q": "subject:plan to:bob"},
        {"drafts": [{"id": "d-plan", "message": {"id": "m-plan", "threadId": "t-plan"}}], "resultSizeEstimate": 1},
    ),
    "list_history": (
        {**ME, "startHistoryId": "h-1"},
        {
            "history": [
                {
                    "id": "h-2",
                    "messages": [{"id": "m-reply", "threadId": "t-disk"}],
                    "messagesAdded": [{"message": {"id": "m-reply", "threadId": "t-disk", "labelIds": ["SENT"]}}],
                }
            ],
            "historyId": "h-2",
        },
    ),
    "get_label": (
        {**ME, "id": "INBOX"},
        {**INBOX, "messagesTotal": 1, "messagesUnread": 1, "threadsTotal": 1, "threadsUnread": 1},
    ),
    "list_labels": (
        ME,
        {
            "labels": [
                INBOX,
                *({"id": name} for name in ("SENT", "DRAFT", "TRASH", "UNREAD", "l-ops")),
                {"id": "l-old", "name": "Old", "type": "user"},
            ]
        },
    ),
    "get_message": ({"id": "m-disk"}, DISK),
    "list_messages": (
        {**ME, "maxResults": 2},
        {
            "messages": [{"id": "m-plan", "threadId": "t-plan"}, {"id": "m-reply", "threadId": "t-disk"}],
            "nextPageToken": "2",
            "resultSizeEstimate": 3,
        },
    ),
    "get_attachment": (
        {**ME, "messageId": "m-disk", "id": "f-1"},
        {"attachmentId": "f-1", "size": 11, "data": FILE},
    ),
    "get_auto_forwarding": (ME, {"enabled": True, "emailAddress": "copy@out.example", "disposition": "archive"}),
    "get_imap_settings": (
        ME,
        {"enabled": True, "autoExpunge": True, "expungeBehavior": "archive", "maxFolderSize": 0},
    ),
    "get_language_settings": (ME, {"displayLanguage": "en"}),
    "get_pop_settings": (ME, {"accessWindow": "allMail", "disposition": "archive"}),
    "get_vacation_settings": (
        ME,
        {
            "enableAutoReply": False,
            "responseSubject": "Away",
            "responseBodyPlainText": "",
            "responseBodyHtml": "",
            "restrictToContacts": True,
            "restrictToDomain": False,
            "startTime": "2025-12-01T00:00:00",
            "endTime": None,
        },
    ),
    "get_cse_identity": (
        {**ME, "cseEmailAddress": "old@mail.example"},
        {"emailAddress": "old@mail.example", "primaryKeyPairId": "kp_1"},
    ),
    "list_cse_identities": (ME, {"cseIdentities": [{"emailAddress": "old@mail.example", "primaryKeyPairId": "kp_1"}]}),
    "email_get_cse_keypair": ({**ME, "keyPairId": "kp_1"}, PAIR),
    "email_list_cse_keypairs": (
        {**ME, "pageSize": 2},
        {"cseKeyPairs": [PAIR, {"keyPairId": "kp_2", "pkcs7": None}], "nextPageToken": "2"},
    ),
    "email_get_delegate": (
        {**ME, "delegateEmail": "cleo@mail.example"},
        {"delegateEmail": "cleo@mail.example", "verificationStatus": "accepted"},
    ),
    "email_list_delegates": (
        ME,
        {"delegates": [{"delegateEmail": "cleo@mail.example", "verificationStatus": "accepted"}]},
    ),
    "get_filter": ({**ME, "id": "filter_1"}, FILTER),
    "list_filters": (ME, {"filter": [FILTER]}),
    "get_forwarding_address": (
        {**ME, "forwardingEmail": "new@out.example"},
        {"forwardingEmail": "new@out.example", "verificationStatus": "pending"},
    ),
    "list_forwarding_addresses": (
        ME,
        {
            "forwardingAddresses": [
                {"forwardingEmail": "copy@out.example", "verificationStatus": "accepted"},
                {"forwardingEmail": "new@out.example", "verificationStatus": "pending"},
            ]
        },
    ),
    "get_send_as_alias": ({**ME, "sendAsEmail": "desk@mail.example"}, DESK),
    "list_send_as_aliases": (
        ME,
        {"sendAs": [{"sendAsEmail": "ann@mail.example", "isPrimary": True}, DESK, {"sendAsEmail": "ann@out.example"}]},
    ),
    "get_smime_config": ({**ME, "sendAsEmail": "desk@mail.example", "id": "c-1"}, NORTH),
    "list_smime_configs": (
        {**ME, "sendAsEmail": "desk@mail.example"},
        {"smimeInfo": [NORTH, {"id": "c-2", "issuerCn": "South CA", "isDefault": False}]},
    ),
    "get_thread": (
        {**ME, "id": "t-disk", "format": "metadata", "metadataHeaders": ["subject"]},
        {
            "id": "t-disk",
            "historyId": "h-1",
            "messages": [
                {
                    "id": "m-disk",
                    "payload": {"mimeType": "text/plain", "headers": [{"name": "Subject", "value": "Disk full"}]},
                },
                {"id": "m-reply"},
            ],
        },
    ),
    "list_threads": (
        {**ME, "q": "disk", "labelIds": ["INBOX"]},
        {"threads": [{"id": "t-disk", "snippet": "The disk is full.", "historyId": "h-1"}], "resultSizeEstimate": 1},
    ),
}
