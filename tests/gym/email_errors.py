"""One refused call for each email tool and the text it gets. The texts are our own, as none was ever seen."""

from __future__ import annotations

from typing import Any

from email_address_writes import CRITERIA
from email_reads import ME

BOB = {"userId": "bob@mail.example"}
DENIED = "Delegation denied for bob@mail.example"
DESK = {**ME, "sendAsEmail": "desk@mail.example"}
PAYLOAD = {"headers": [{"name": "Subject", "value": "Nine"}], "body": {"data": "Hi", "size": 2}}
VACATION = {
    "enableAutoReply": True,
    "responseSubject": "Away",
    "responseBodyPlainText": "",
    "responseBodyHtml": "",
    "restrictToContacts": False,
    "restrictToDomain": False,
    "startTime": "2026-07-15T00:00:00",
    "endTime": "2026-07-01T00:00:00",
}

ERRORS: dict[str, tuple[dict[str, Any], str]] = {
    "get_user_profile": (BOB, DENIED),
    "stop_user_watch": ({"userId": "somebody"}, "Validation errors:\n- userId: String should match pattern"),
    "watch_user_mailbox": ({**ME, "topicName": "news", "labelIds": []}, "- topicName: String should match pattern"),
    "create_draft": ({"message": {}}, "Exactly one of 'raw' or 'payload' must be provided"),
    "delete_draft": ({"id": "m-plan"}, "Draft not found: m-plan"),
    "get_draft": ({"id": "d-none"}, "Draft not found: d-none"),
    "list_drafts": ({"maxResults": 0}, "- maxResults: Input should be greater than or equal to 1"),
    "send_draft": ({"id": "d-plan", "message": {"payload": PAYLOAD}}, "Recipient address required"),
    "update_draft": ({"id": "d-plan", "message": {}}, "Validation errors:\n- message.id: is required"),
    "list_history": ({**ME, "startHistoryId": "h-77"}, "History not found: h-77"),
    "create_label": ({**ME, "name": "ops/night"}, "Label name already exists: ops/night"),
    "delete_label": ({**ME, "id": "INBOX"}, "System labels cannot be changed: INBOX"),
    "get_label": ({**ME, "id": "l-bob"}, "Label not found: l-bob"),
    "list_labels": (BOB, DENIED),
    "patch_label": (
        {**ME, "id": "l-old", "color": {"textColor": "#000000"}},
        "Both textColor and backgroundColor are required to set a color",
    ),
    "update_label": ({**ME, "id": "l-old", "name": "Old"}, "- messageListVisibility: is required"),
    "batch_delete_messages": ({**ME, "ids": ["x"] * 1001}, "- ids: List should have at most 1000 items"),
    "batch_modify_messages": ({"ids": ["m-disk"], "addLabelIds": ["l-bob"]}, "Invalid label: l-bob"),
    "delete_message": ({"id": "m-bob"}, "Message not found: m-bob"),
    "get_message": ({"id": "m-bob"}, "Message not found: m-bob"),
    "import_message": ({"raw": "%%"}, "Invalid raw message"),
    "insert_message": ({"payload": PAYLOAD, "threadId": "t-bob"}, "Thread not found: t-bob"),
    "list_messages": ({**ME, "pageToken": "next"}, "Invalid pageToken"),
    "modify_message": ({**ME, "id": "m-disk", "addLabelIds": ["Ops"]}, "Invalid label: Ops"),
    "send_message": ({**ME, "payload": PAYLOAD}, "Recipient address required"),
    "trash_message": ({**ME, "id": "m-none"}, "Message not found: m-none"),
    "untrash_message": ({**ME, "id": "m-none"}, "Message not found: m-none"),
    "get_attachment": ({**ME, "messageId": "m-reply", "id": "f-1"}, "Attachment not found: f-1"),
    "get_auto_forwarding": (BOB, DENIED),
    "update_auto_forwarding": (
        {**ME, "enabled": True, "emailAddress": "new@out.example", "disposition": "trash"},
        "Forwarding address not verified: new@out.example",
    ),
    "get_imap_settings": ({}, "Validation errors:\n- userId: is required"),
    "update_imap_settings": (
        {**ME, "enabled": True, "autoExpunge": True, "expungeBehavior": "trash", "maxFolderSize": "7"},
        "- maxFolderSize: Input should be '0', '1000', '2000', '5000' or '10000'",
    ),
    "get_language_settings": (BOB, DENIED),
    "update_language_settings": (
        {**ME, "displayLanguage": "English"},
        "- displayLanguage: String should match pattern",
    ),
    "get_pop_settings": (BOB, DENIED),
    "update_pop_settings": ({**ME, "accessWindow": "never", "disposition": "trash"}, "- accessWindow: Input should be"),
    "get_vacation_settings": (BOB, DENIED),
    "update_vacation_settings": ({**ME, **VACATION}, "startTime must precede endTime"),
    "create_cse_identity": (
        {**ME, "emailAddress": "ann@mail.example", "primaryKeyPairId": "kp_2"},
        "Key pair is not enabled: kp_2",
    ),
    "delete_cse_identity": ({**ME, "cseEmailAddress": "no@mail.example"}, "CSE identity not found: no@mail.example"),
    "get_cse_identity": ({**ME, "cseEmailAddress": "no@mail.example"}, "CSE identity not found: no@mail.example"),
    "list_cse_identities": ({**ME, "pageSize": 101}, "- pageSize: Input should be less than or equal to 100"),
    "patch_cse_identity": (
        {**ME, "emailAddress": "old@mail.example"},
        "Exactly one of primaryKeyPairId or signAndEncryptKeyPairs is required",
    ),
    "email_create_cse_keypair": ({**ME, "pkcs7": "AA"}, "Invalid pkcs7: expected BEGIN and END lines"),
    "email_disable_cse_keypair": ({**ME, "keyPairId": "kp_2"}, "Key pair is already disabled: kp_2"),
    "email_enable_cse_keypair": ({**ME, "keyPairId": "kp_9"}, "Key pair not found: kp_9"),
    "email_get_cse_keypair": ({**ME, "keyPairId": "kp_9"}, "Key pair not found: kp_9"),
    "email_list_cse_keypairs": ({**ME, "pageSize": 0}, "- pageSize: Input should be greater than or equal to 1"),
    "email_obliterate_cse_keypair": (
        {**ME, "keyPairId": "kp_2"},  # off for twelve days
        "Key pair must have been disabled for more than 30 days: kp_2",
    ),
    "email_create_delegate": (
        {**ME, "delegateEmail": "zed@mail.example"},
        "Delegate must be a user of the same organization: zed@mail.example",
    ),
    "email_delete_delegate": ({**ME, "delegateEmail": "bob@mail.example"}, "Delegate not found: bob@mail.example"),
    "email_get_delegate": ({**ME, "delegateEmail": "bob@mail.example"}, "Delegate not found: bob@mail.example"),
    "email_list_delegates": (BOB, DENIED),
    "create_filter": (
        {**ME, "criteria": CRITERIA, "action": {"addLabelIds": ["l-bob"]}},
        "Invalid label: l-bob",
    ),
    "delete_filter": ({**ME, "id": "filter_9"}, "Filter not found: filter_9"),
    "get_filter": ({**ME, "id": "filter_9"}, "Filter not found: filter_9"),
    "list_filters": (BOB, DENIED),
    "create_forwarding_address": (
        {**ME, "forwardingEmail": "copy@out.example"},
        "Forwarding address already exists: copy@out.example",
    ),
    "delete_forwarding_address": (
        {**ME, "forwardingEmail": "no@out.example"},
        "Forwarding address not found: no@out.example",
    ),
    "get_forwarding_address": (
        {**ME, "forwardingEmail": "no@out.example"},
        "Forwarding address not found: no@out.example",
    ),
    "list_forwarding_addresses": (BOB, DENIED),
    "create_send_as_alias": (
        {"sendAsEmail": "desk@mail.example"},
        "Send-as alias already exists: desk@mail.example",
    ),
    "delete_send_as_alias": (
        {**ME, "sendAsEmail": "ann@mail.example"},
        "The primary send-as address cannot be deleted",
    ),
    "get_send_as_alias": ({**ME, "sendAsEmail": "no@mail.example"}, "Send-as alias not found: no@mail.example"),
    "list_send_as_aliases": (BOB, DENIED),
    "patch_send_as_alias": ({**ME, "sendAsEmail": "no@mail.example"}, "Send-as alias not found: no@mail.example"),
    "update_send_as_alias": (DESK, "- displayName: is required"),
    "verify_send_as_alias": (DESK, "Verification status must be pending: desk@mail.example"),
    "delete_smime_config": ({**DESK, "id": "c-9"}, "S/MIME config not found: c-9"),
    "get_smime_config": (
        {**ME, "sendAsEmail": "ann@mail.example", "id": "c-1"},
        "S/MIME config not found: c-1",
    ),
    "insert_smime_config": (
        {**DESK, "issuerCn": "X", "expiration": "1"},
        "Either pem or pkcs12 is required",
    ),
    "list_smime_configs": ({**ME, "sendAsEmail": "no@mail.example"}, "Send-as alias not found: no@mail.example"),
    "set_default_smime_config": ({**DESK, "id": "c-9"}, "S/MIME config not found: c-9"),
    "delete_thread": ({**ME, "id": "t-bob"}, "Thread not found: t-bob"),
    "get_thread": ({**ME, "id": "t-none"}, "Thread not found: t-none"),
    "list_threads": ({**ME, "labelIds": ["Nowhere"]}, "Invalid label: Nowhere"),
    "modify_thread": (
        {**ME, "id": "t-disk", "addLabelIds": ["x"] * 101},
        "- addLabelIds: List should have at most 100",
    ),
    "trash_thread": ({**ME, "id": "t-none"}, "Thread not found: t-none"),
    "untrash_thread": ({**ME, "id": "t-none"}, "Thread not found: t-none"),
}
