"""One successful call for each email tool that writes delegates, filters, addresses or certificates."""

from __future__ import annotations

from email_mail_writes import Write
from email_reads import DESK, ME
from email_seed import TOUCHED, WRITTEN
from tool_cases import New

DONE = "Operation completed successfully"
CRITERIA = {
    "from": "manager@mail.example",
    "to": "",
    "subject": "",
    "query": "",
    "negatedQuery": "",
    "hasAttachment": False,
    "excludeChats": True,
    "size": 0,
    "sizeComparison": "unspecified",
}
MINE = {"user_id": "user_001"}
OUT = "ann@out.example"

ADDRESS_WRITES: dict[str, Write] = {
    "email_create_delegate": (
        {**ME, "delegateEmail": "bob@mail.example"},
        {"delegateEmail": "bob@mail.example", "verificationStatus": "accepted"},
        {
            "delegates": {
                New("delegates"): {**MINE, "delegate_email": "bob@mail.example", "verification_status": "accepted"}
            }
        },
    ),
    "email_delete_delegate": ({**ME, "delegateEmail": "cleo@mail.example"}, DONE, {"delegates": {"g-1": None}}),
    "create_filter": (
        {**ME, "criteria": CRITERIA, "action": {"addLabelIds": ["l-old"], "removeLabelIds": ["INBOX"]}},
        {
            "id": New("filters"),
            "criteria": CRITERIA,
            "action": {"addLabelIds": ["l-old"], "removeLabelIds": ["INBOX"]},
        },
        {
            "filters": {
                New("filters"): {
                    **MINE,
                    "criteria_json": (
                        '{"from": "manager@mail.example", "to": "", "subject": "", "query": "", "negatedQuery": "", '
                        '"hasAttachment": false, "excludeChats": true, "size": 0, "sizeComparison": "unspecified"}'
                    ),
                    "action_json": '{"addLabelIds": ["l-old"], "removeLabelIds": ["INBOX"]}',
                    "created_by": "ann@mail.example",
                    "created_at": WRITTEN,
                }
            }
        },
    ),
    "delete_filter": ({**ME, "id": "filter_1"}, DONE, {"filters": {"filter_1": None}}),
    "create_forwarding_address": (
        {**ME, "forwardingEmail": "team@mail.example"},
        {"forwardingEmail": "team@mail.example", "verificationStatus": "accepted"},  # her own domain
        {
            "forwarding_addresses": {
                New("forwarding_addresses"): {
                    **MINE,
                    "forwarding_email": "team@mail.example",
                    "verification_status": "accepted",
                }
            }
        },
    ),
    "delete_forwarding_address": (
        {**ME, "forwardingEmail": "copy@out.example"},
        DONE,
        {"forwarding_addresses": {"a-1": None}, "auto_forwarding": {"af-1": {"enabled": 0, **TOUCHED}}},
    ),
    "create_send_as_alias": (
        {
            "sendAsEmail": "sales@out.example",
            "displayName": "Sales",
            "isDefault": True,
            "smtpMsa": {"host": "mx.example", "port": 25, "password": "secret", "securityMode": "none"},
        },
        {
            "sendAsEmail": "sales@out.example",
            "displayName": "Sales",
            "isPrimary": False,
            "isDefault": True,
            "treatAsAlias": True,
            "verificationStatus": "pending",
        },
        {
            "send_as_aliases": {
                "s-desk": {"is_default": 0, **TOUCHED},
                New("send_as_aliases"): {
                    **MINE,
                    "send_as_email": "sales@out.example",
                    "display_name": "Sales",
                    "is_primary": 0,
                    "is_default": 1,
                    "treat_as_alias": 1,
                    "verification_status": "pending",
                },
            }
        },
    ),
    "delete_send_as_alias": (
        {**ME, "sendAsEmail": "desk@mail.example"},
        DONE,
        {
            "send_as_aliases": {"s-desk": None, "s-ann": {"is_default": 1, **TOUCHED}},
            "smime_configs": {"c-1": None, "c-2": None},
        },
    ),
    "patch_send_as_alias": (
        {**ME, "sendAsEmail": OUT, "signature": "Ann", "verificationStatus": "accepted"},
        {"sendAsEmail": OUT, "signature": "Ann", "verificationStatus": "pending"},
        {"send_as_aliases": {"s-out": {"signature": "Ann", **TOUCHED}}},
    ),
    "update_send_as_alias": (
        {
            **ME,
            "sendAsEmail": "desk@mail.example",
            "displayName": "Front Desk",
            "replyToAddress": "ann@mail.example",
            "signature": "",
            "isDefault": False,
            "treatAsAlias": False,
            "smtpMsa": {"host": "mx.example", "port": 25, "securityMode": "ssl"},
            "verificationStatus": "accepted",
        },
        {
            **DESK,
            "displayName": "Front Desk",
            "replyToAddress": "ann@mail.example",
            "signature": "",
            "treatAsAlias": False,
        }
        | {"smtpMsa": {"host": "mx.example", "port": 25, "securityMode": "ssl"}},
        {
            "send_as_aliases": {
                "s-desk": {
                    "display_name": "Front Desk",
                    "reply_to_address": "ann@mail.example",
                    "signature": "",
                    "treat_as_alias": 0,
                    "smtp_msa": '{"host": "mx.example", "port": 25, "securityMode": "ssl"}',
                    **TOUCHED,
                }
            }
        },
    ),
    "verify_send_as_alias": (
        {**ME, "sendAsEmail": OUT},
        DONE,
        {"send_as_aliases": {"s-out": {"verification_status": "accepted", **TOUCHED}}},
    ),
    "delete_smime_config": (
        {**ME, "sendAsEmail": "desk@mail.example", "id": "c-2"},
        DONE,
        {"smime_configs": {"c-2": None}},
    ),
    "insert_smime_config": (
        {**ME, "sendAsEmail": OUT, "issuerCn": "East CA", "expiration": "1900000000000", "pkcs12": "AAAA"},
        {"id": New("smime_configs"), "issuerCn": "East CA", "isDefault": True, "expiration": "1900000000000"},
        {
            "smime_configs": {
                New("smime_configs"): {
                    **MINE,
                    "send_as_email": OUT,
                    "issuer_cn": "East CA",
                    "is_default": 1,
                    "pkcs12": "AAAA",
                }
            }
        },
    ),
    "set_default_smime_config": (
        {**ME, "sendAsEmail": "desk@mail.example", "id": "c-2"},
        DONE,
        {"smime_configs": {"c-1": {"is_default": 0, **TOUCHED}, "c-2": {"is_default": 1, **TOUCHED}}},
    ),
}
