"""One successful call for each email tool that writes settings, keys or the watch."""

from __future__ import annotations

from email_mail_writes import Write
from email_reads import ME, PAIR
from email_seed import STAMPS, TOUCHED, WRITTEN
from tool_cases import New

DONE = "Operation completed successfully"
MINE = {"user_id": "user_001"}

SETTING_WRITES: dict[str, Write] = {
    "stop_user_watch": (ME, DONE, {"watches": {"w-1": None}}),
    "watch_user_mailbox": (
        {**ME, "topicName": "projects/p/topics/new", "labelIds": ["INBOX"], "labelFilterBehavior": "exclude"},
        {"historyId": "h-2", "expiration": "1780909201000"},  # seven days after 2026-06-01 09:00:01
        {
            "watches": {
                "w-1": {
                    "topic_name": "projects/p/topics/new",
                    "label_ids": '["INBOX"]',
                    "label_filter_behavior": "exclude",
                    "expiration": "1780909201000",
                    **TOUCHED,
                }
            }
        },
    ),
    "update_auto_forwarding": (
        {**ME, "enabled": True, "emailAddress": "copy@out.example", "disposition": "markRead"},
        {"enabled": True, "emailAddress": "copy@out.example", "disposition": "markRead"},
        {"auto_forwarding": {"af-1": {"disposition": "markRead", **TOUCHED}}},
    ),
    "update_imap_settings": (
        {**ME, "enabled": False, "autoExpunge": True, "expungeBehavior": "trash", "maxFolderSize": "1000"},
        {"enabled": False, "autoExpunge": True, "expungeBehavior": "trash", "maxFolderSize": 1000},
        {
            "imap_settings": {
                New("imap_settings"): {
                    **MINE,
                    "enabled": 0,
                    "auto_expunge": 1,
                    "expunge_behavior": "trash",
                    "max_folder_size": 1000,
                    **STAMPS,
                }
            }
        },
    ),
    "update_language_settings": (
        {**ME, "displayLanguage": "en-GB"},
        {"displayLanguage": "en-GB"},
        {"language_settings": {New("language_settings"): {**MINE, "display_language": "en-GB", **STAMPS}}},
    ),
    "update_pop_settings": (
        {**ME, "accessWindow": "disabled", "disposition": "archive"},
        {"accessWindow": "disabled", "disposition": "archive"},
        {"pop_settings": {"p-1": {"access_window": "disabled", **TOUCHED}}},
    ),
    "update_vacation_settings": (
        {
            **ME,
            "enableAutoReply": True,
            "responseSubject": "Away",
            "responseBodyPlainText": "Back soon",
            "responseBodyHtml": "",
            "restrictToContacts": False,
            "restrictToDomain": True,
            "startTime": "2026-07-01T00:00:00",
            "endTime": "2026-07-15T00:00:00",
        },
        {"enableAutoReply": True, "responseBodyPlainText": "Back soon", "endTime": "2026-07-15T00:00:00"},
        {
            "vacation_settings": {
                "v-1": {
                    "enable_auto_reply": 1,
                    "response_body_plain_text": "Back soon",
                    "restrict_to_contacts": 0,
                    "restrict_to_domain": 1,
                    "start_time": "2026-07-01T00:00:00",
                    "end_time": "2026-07-15T00:00:00",
                    **TOUCHED,
                }
            }
        },
    ),
    "create_cse_identity": (
        {**ME, "emailAddress": "ann@mail.example", "signAndEncryptKeyPairs": {"signingKeyPairId": "kp_1"}},
        {
            "emailAddress": "ann@mail.example",
            "signAndEncryptKeyPairs": {"signingKeyPairId": "kp_1", "encryptionKeyPairId": None},
        },
        {
            "cse_identities": {
                New("cse_identities"): {
                    **MINE,
                    "email_address": "ann@mail.example",
                    "primary_key_pair_id": None,
                    "signing_key_pair_id": "kp_1",
                }
            }
        },
    ),
    "delete_cse_identity": (
        {**ME, "cseEmailAddress": "old@mail.example"},
        DONE,
        {"cse_identities": {"i-1": None}},
    ),
    "patch_cse_identity": (
        {**ME, "emailAddress": "old@mail.example", "signAndEncryptKeyPairs": {"encryptionKeyPairId": "kp_1"}},
        {"emailAddress": "old@mail.example"},
        {
            "cse_identities": {
                "i-1": {"primary_key_pair_id": None, "encryption_key_pair_id": "kp_1", **TOUCHED},
            }
        },
    ),
    "email_create_cse_keypair": (
        {**ME, "pkcs7": "-----BEGIN PKCS7-----\nAA\n-----END PKCS7-----"},
        {"subjectEmailAddresses": ["ann@mail.example"], "enablementState": "enabled", "disableTime": None},
        {
            "cse_keypairs": {
                New("cse_keypairs"): {
                    **MINE,
                    "pkcs7": "-----BEGIN PKCS7-----\nAA\n-----END PKCS7-----",
                    "subject_email_addresses": "ann@mail.example",
                    "enablement_state": "enabled",
                    "disable_time": None,
                }
            }
        },
    ),
    "email_disable_cse_keypair": (
        {**ME, "keyPairId": "kp_1"},
        {**PAIR, "enablementState": "disabled", "disableTime": WRITTEN},
        {"cse_keypairs": {"k-1": {"enablement_state": "disabled", "disable_time": WRITTEN, **TOUCHED}}},
    ),
    "email_enable_cse_keypair": (
        {**ME, "keyPairId": "kp_2"},
        {"keyPairId": "kp_2", "enablementState": "enabled", "disableTime": None},
        {"cse_keypairs": {"k-2": {"enablement_state": "enabled", "disable_time": None, **TOUCHED}}},
    ),
    "email_obliterate_cse_keypair": ({**ME, "keyPairId": "kp_3"}, DONE, {"cse_keypairs": {"k-3": None}}),
}
