"""A mail database small enough to know by heart. Ann acts; Bob is a colleague with a mailbox of his own."""

from __future__ import annotations

import base64
from typing import Any

WRITTEN = "2026-06-01T09:00:01.000000"  # the time of a session's first write
WRITTEN_MS = "1780304401000"
TOUCHED: dict[str, Any] = {"updated_at": WRITTEN, "updated_by": "user_001"}
STAMPS = {"created_at": WRITTEN, "updated_at": WRITTEN, "created_by": "user_001", "updated_by": "user_001"}
CONTEXT = {"x-email-user-token": "token-ann"}
FILE = base64.urlsafe_b64encode(b"Disk report").decode()

_AUDIT = "'2025-09-01T08:00:00.000000', '2025-09-01T08:00:00.000000', 'system', 'system'"
_COUNTS = "created_at, updated_at, created_by, updated_by"


def _rows(table: str, columns: str, *rows: str) -> str:
    values = ",\n".join(f"({row}, {_AUDIT})" for row in rows)
    return f'INSERT INTO "{table}" ({columns}, {_COUNTS}) VALUES\n{values};\n'


_LABELS = "id, user_id, name, type, messages_total, messages_unread, threads_total, threads_unread"
_MESSAGES = (
    "id, user_id, thread_id, history_id, internal_date, snippet, size_estimate, subject, sender, recipients, cc, body"
)
_PAIRS = "id, user_id, key_pair_id, pkcs7, pem, subject_email_addresses, enablement_state, disable_time"
SEED = "".join(
    (
        "PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\n",
        _rows(
            "users",
            "id, token, primary_email, name, messages_total, threads_total, history_id_current",
            "'user_001', 'token-ann', 'ann@mail.example', 'Ann Hale', 4, 3, 'h-2'",
            "'user_002', 'token-bob', 'bob@mail.example', 'Bob Lind', 1, 1, 'h-9'",
        ),
        _rows(
            "labels",
            _LABELS,
            "'INBOX', 'user_001', 'INBOX', 'system', 1, 1, 1, 1",
            "'SENT', 'user_001', 'SENT', 'system', 1, 0, 1, 0",
            "'DRAFT', 'user_001', 'DRAFT', 'system', 1, 0, 1, 0",
            "'TRASH', 'user_001', 'TRASH', 'system', 1, 0, 1, 0",
            "'UNREAD', 'user_001', 'UNREAD', 'system', 1, 1, 1, 1",
            "'l-ops', 'user_001', 'Ops/Night', 'user', 1, 1, 1, 1",
            "'l-old', 'user_001', 'Old', 'user', 0, 0, 0, 0",
            "'i-bob', 'user_002', 'INBOX', 'system', 1, 0, 1, 0",
            "'l-bob', 'user_002', 'Ops/Night', 'user', 0, 0, 0, 0",
        ),
        _rows(
            "threads",
            "id, user_id, snippet, history_id",
            "'t-disk', 'user_001', 'The disk is full.', 'h-1'",
            "'t-old', 'user_001', 'Buy now', NULL",
            "'t-plan', 'user_001', 'Plan; part two', NULL",
            "'t-bob', 'user_002', 'Hello Bob', NULL",
        ),
        _rows(
            "messages",
            _MESSAGES,
            "'m-disk', 'user_001', 't-disk', 'h-1', '1756800000000', 'The disk is full.', 700, 'Disk full', "
            "'Bob Lind <bob@mail.example>', 'ann@mail.example', 'ops@mail.example', 'The disk is full.'",
            "'m-reply', 'user_001', 't-disk', 'h-2', '1756886400000', 'I will look.', 300, 'Re: Disk full', "
            "'ann@mail.example', 'bob@mail.example', NULL, 'I will look.'",
            "'m-spam', 'user_001', 't-old', NULL, '1754000000000', 'Buy now', 90, 'Offer', 'shop@out.example', "
            "'ann@mail.example', NULL, 'Buy now'",
            "'m-plan', 'user_001', 't-plan', NULL, '1757000000000', 'Plan; part two', 120, 'Plan', "
            "'ann@mail.example', 'bob@mail.example', NULL, 'Plan; part two'",
            "'m-bob', 'user_002', 't-bob', NULL, '1757000000000', 'Hello Bob', 50, 'Hello', 'ann@mail.example', "
            "'bob@mail.example', NULL, 'Hello Bob'",
        ),
        "INSERT INTO message_labels (message_id, label_id) VALUES ('m-disk', 'INBOX'), ('m-disk', 'UNREAD'), "
        "('m-disk', 'l-ops'), ('m-reply', 'SENT'), ('m-spam', 'TRASH'), ('m-plan', 'DRAFT'), ('m-bob', 'i-bob');\n",
        _rows(
            "attachments",
            "id, message_id, filename, mime_type, size, data",
            f"'f-1', 'm-disk', 'disk.txt', 'text/plain', 11, '{FILE}'",
        ),
        _rows("drafts", "id, user_id, message_id", "'d-plan', 'user_001', 'm-plan'"),
        "INSERT INTO history (id, user_id, message_id, thread_id, type, label_ids, created_at) VALUES "
        "('h-1', 'user_001', 'm-disk', 't-disk', 'messageAdded', '[\"INBOX\", \"UNREAD\"]', '2025-09-02T08:00:00'), "
        "('h-2', 'user_001', 'm-reply', 't-disk', 'messageAdded', '[\"SENT\"]', '2025-09-03T08:00:00');\n",
        _rows(
            "vacation_settings",
            "id, user_id, enable_auto_reply, response_subject, restrict_to_contacts, start_time",
            "'v-1', 'user_001', False, 'Away', True, '2025-12-01T00:00:00'",
        ),
        _rows("pop_settings", "id, user_id, access_window, disposition", "'p-1', 'user_001', 'allMail', 'archive'"),
        "INSERT INTO filters (id, user_id, criteria_json, action_json, created_by, created_at, updated_at) VALUES "
        '(\'filter_1\', \'user_001\', \'{"from": "bob@mail.example", "size": 0}\', \'{"addLabelIds": ["l-ops"]}\', '
        "'ann@mail.example', '2025-09-01T08:00:00', '2025-09-01T08:00:00');\n",
        _rows(
            "send_as_aliases",
            "id, user_id, send_as_email, display_name, is_primary, is_default, treat_as_alias, verification_status",
            "'s-ann', 'user_001', 'ann@mail.example', 'Ann', 1, 0, 0, 'accepted'",
            "'s-desk', 'user_001', 'desk@mail.example', 'Desk', 0, 1, 1, 'accepted'",
            "'s-out', 'user_001', 'ann@out.example', NULL, 0, 0, 1, 'pending'",
        ),
        _rows(
            "smime_configs",
            "id, user_id, send_as_email, issuer_cn, is_default, expiration, pem",
            "'c-1', 'user_001', 'desk@mail.example', 'North CA', 1, '1800000000000', 'PEM1'",
            "'c-2', 'user_001', 'desk@mail.example', 'South CA', 0, '1800000000000', NULL",
        ),
        _rows(
            "forwarding_addresses",
            "id, user_id, forwarding_email, verification_status",
            "'a-1', 'user_001', 'copy@out.example', 'accepted'",
            "'a-2', 'user_001', 'new@out.example', 'pending'",
        ),
        _rows(
            "auto_forwarding",
            "id, user_id, enabled, email_address, disposition",
            "'af-1', 'user_001', 1, 'copy@out.example', 'archive'",
        ),
        _rows("delegates", "id, user_id, delegate_email", "'g-1', 'user_001', 'cleo@mail.example'"),
        _rows(
            "cse_keypairs",
            _PAIRS,
            "'k-1', 'user_001', 'kp_1', 'P7', 'PEM', 'ann@mail.example, desk@mail.example', 'enabled', NULL",
            "'k-2', 'user_001', 'kp_2', NULL, NULL, 'ann@mail.example', 'disabled', '2026-05-20T08:00:00'",
            "'k-3', 'user_001', 'kp_3', 'P7', NULL, 'ann@mail.example', 'disabled', '2026-04-01T08:00:00'",
        ),
        _rows(
            "cse_identities",
            "id, user_id, email_address, primary_key_pair_id",
            "'i-1', 'user_001', 'old@mail.example', 'kp_1'",
        ),
        _rows(
            "watches",
            "id, user_id, topic_name, label_ids, expiration",
            "'w-1', 'user_001', 'projects/p/topics/t', '[]', '1'",
        ),
        "COMMIT;\n",
    )
)
