"""A drive database small enough to know by heart. Ada calls; Ben and Cy share with her, or do not."""

from __future__ import annotations

from typing import Any

from robustops.gym.ids import Ids

CALLER = {"x-any-token": "token-ada"}
NOW = "2026-06-01 09:00:01"  # of the first write
SHOWN = "2026-06-01T09:00:01Z"
AT = "'2026-05-01 08:00:00'"
PDF, DOC, FOLDER = "application/pdf", "application/vnd.google-apps.document", "application/vnd.google-apps.folder"
_LETTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

SEED = f"""
INSERT INTO users (id, display_name, email, photo_url, auth_token, created_time, kind, permission_id, me) VALUES
('ben', 'Ben Costa', 'ben@nord.example', NULL, 'token-ben', {AT}, 'drive#user', 'perm_ben', FALSE),
('ada', 'Ada Berg', 'ada@nord.example', NULL, 'token-ada', {AT}, 'drive#user', 'perm_ada', TRUE),
('cy', 'Cy Doyle', 'cy@far.example', NULL, 'token-cy', {AT}, 'drive#user', 'perm_cy', FALSE);
INSERT INTO groups (id, name, email, created_time) VALUES ('g-1', 'Editors', 'editors@nord.example', {AT});
INSERT INTO group_memberships (id, group_id, user_id, role, created_time) VALUES
('gm-1', 'g-1', 'ada', 'member', {AT});
INSERT INTO drives (id, name, color_rgb, hidden, created_time, modified_time) VALUES
('d-1', 'Sales', '#112233', 0, {AT}, {AT}), ('d-2', 'Depot', NULL, 1, {AT}, {AT}),
('d-3', 'Closed', NULL, 0, {AT}, {AT}),
('d-4', 'Empty', NULL, 1, {AT}, {AT});
INSERT INTO drive_memberships (id, drive_id, type, user_id, group_id, domain, role, created_time) VALUES
('dm-1', 'd-1', 'user', 'ada', NULL, NULL, 'organizer', {AT}),
('dm-2', 'd-2', 'group', NULL, 'g-1', NULL, 'reader', {AT}),
('dm-3', 'd-3', 'user', 'ben', NULL, NULL, 'organizer', {AT}),
('dm-4', 'd-4', 'user', 'ada', NULL, NULL, 'organizer', {AT});
INSERT INTO files (id, drive_id, name, mime_type, size_bytes, parent_id, parent_ids, starred, trashed, trashed_time,
  created_by, modified_by, created_time, modified_time, properties, shared, version, description, quota_bytes_used,
  explicitly_trashed, owned_by_me) VALUES
('f-docs', NULL, 'Docs', '{FOLDER}', 0, NULL, '[]', 0, 0, NULL, 'ada', 'ada', {AT}, '2026-05-02 08:00:00', NULL, 0, 1,
  NULL, 0, 0, NULL),
('f-plan', NULL, 'Plan 10.pdf', '{PDF}', 100, 'f-docs', '["f-docs"]', 0, 0, NULL, 'ada', 'ada', {AT},
  '2026-05-03 08:00:00', '{{"team": "north"}}', 0, 3, 'The big plan', 100, 0, NULL),
('f-note', NULL, 'Notes', '{DOC}', 0, NULL, '[]', 1, 0, NULL, 'ada', 'ben', {AT}, '2026-05-04 08:00:00', NULL, 1,
  1, NULL, 7, 0, NULL),
('f-ben', NULL, 'Plan 9.pdf', '{PDF}', 50, NULL, '[]', 0, 0, NULL, 'ben', 'ben', {AT}, '2026-05-05 08:00:00', NULL, 1,
  1, NULL, 50, 0, NULL),
('f-secret', NULL, 'Plan secret', '{PDF}', 50, NULL, '[]', 0, 0, NULL, 'ben', 'ben', {AT}, {AT}, NULL, 0, 1, NULL, 50,
  0, NULL),
('f-bin', NULL, 'Old', '{FOLDER}', 0, NULL, '[]', 0, 1, '2026-05-06 08:00:00', 'ada', 'ada', {AT}, {AT}, NULL, 0, 1,
  NULL, 0, 1, NULL),
('f-inbin', NULL, 'Older.txt', 'text/plain', 5, 'f-bin', '["f-bin"]', 0, 0, NULL, 'ada', 'ada', {AT}, {AT}, NULL, 0,
  1, NULL, 5, 0, NULL),
('f-team', 'd-1', 'Team', '{FOLDER}', 0, NULL, '[]', 0, 0, NULL, 'ben', 'ben', {AT}, {AT}, NULL, 0, 1, NULL, 0, 0,
  NULL),
('f-sheet', 'd-1', 'Sheet', 'text/csv', 9, 'f-team', '["f-team"]', 0, 0, NULL, 'ben', 'ben', {AT},
  '2026-05-07 08:00:00', NULL, 0, 1, NULL, 9, 0, NULL);
INSERT INTO path_closure (ancestor_id, descendant_id, depth) VALUES
('f-plan', 'f-plan', 0), ('f-docs', 'f-plan', 1);
INSERT INTO permissions (id, file_id, drive_id, role, type, user_id, group_id, email_address, domain, created_time,
  updated_time, inherited) VALUES
('p-own', 'f-note', NULL, 'owner', 'user', 'ada', NULL, 'ada@nord.example', NULL, {AT}, {AT}, 0),
('p-ben', 'f-note', NULL, 'reader', 'user', 'ben', NULL, 'ben@nord.example', NULL, '2026-05-02 08:00:00', {AT}, 0),
('p-up', 'f-docs', NULL, 'commenter', 'user', 'cy', NULL, 'cy@far.example', NULL, {AT}, {AT}, 0),
('p-ada', 'f-ben', NULL, 'reader', 'user', 'ada', NULL, 'ada@nord.example', NULL, {AT}, {AT}, 0),
('p-bown', 'f-ben', NULL, 'owner', 'user', 'ben', NULL, 'ben@nord.example', NULL, {AT}, {AT}, 0);
INSERT INTO access_proposals (id, file_id, requester_email, recipient_email, proposed_roles, request_message, status,
  created_at) VALUES
('ap-1', 'f-note', 'cy@far.example', 'ada@nord.example', '["reader"]', 'Please', 'pending',
  '2026-05-01T08:00:00.000Z'),
('ap-2', 'f-note', 'ben@nord.example', 'ada@nord.example', '["writer"]', NULL, 'denied',
  '2026-05-02T08:00:00.000Z');
INSERT INTO comments (id, file_id, author_id, content, resolved, deleted, html_content, created_time,
  modified_time) VALUES
('c-1', 'f-note', 'ada', 'Mine', 0, 0, '<p>Mine</p>', {AT}, {AT}),
('c-2', 'f-note', 'ben', 'His', 0, 0, '<p>His</p>', '2026-05-02 08:00:00', '2026-05-09 08:00:00'),
('c-3', 'f-note', 'ben', 'Gone', 0, 1, '<p>Gone</p>', '2026-05-03 08:00:00', '2026-05-03 08:00:00'),
('c-4', 'f-ben', 'ben', 'Far', 0, 0, '<p>Far</p>', {AT}, {AT});
INSERT INTO replies (id, comment_id, author_id, content, deleted, html_content, created_time, modified_time) VALUES
('r-1', 'c-1', 'ada', 'Yes', 0, '<p>Yes</p>', {AT}, {AT}), ('r-2', 'c-1', 'ben', 'No', 0, '<p>No</p>', {AT}, {AT}),
('r-3', 'c-1', 'ben', 'Gone', 1, '<p>Gone</p>', {AT}, {AT}), ('r-4', 'c-4', 'ben', 'Hm', 0, '<p>Hm</p>', {AT}, {AT});
INSERT INTO revisions (id, file_id, revision_number, size_bytes, mime_type, published, created_time, modified_time,
  last_modifying_user_id, export_links) VALUES
('rev-1', 'f-plan', 1, 90, '{PDF}', 1, {AT}, {AT}, 'ben', '{{"text/plain": "https://x"}}'),
('rev-2', 'f-plan', 2, 100, '{PDF}', 0, {AT}, {AT}, 'ada', NULL),
('rev-3', 'f-note', 1, 10, '{DOC}', 0, {AT}, {AT}, 'ada', NULL);
INSERT INTO labels (id, key, name, type, options, required, created_time) VALUES
('l-1', 'level', 'Level', 'enum', '["internal", "public"]', 0, {AT}),
('l-2', 'pages', 'Pages', 'number', NULL, 0, {AT});
INSERT INTO file_labels (id, file_id, label_id, value_enum, value_number, created_time) VALUES
('fl-1', 'f-note', 'l-1', 'public', NULL, {AT}), ('fl-2', 'f-note', 'l-2', NULL, 12, {AT});
INSERT INTO changes (token, change_time, file_id, drive_id, change_type, removed) VALUES
('01A', {AT}, 'f-plan', NULL, 'file_created', 0), ('01B', {AT}, 'f-sheet', 'd-1', 'file_created', 0),
('01C', {AT}, 'f-lost', NULL, 'file_deleted', 1);
INSERT INTO change_tokens (scope, last_token) VALUES ('global', '01C'), ('drive:d-1', '01B');
INSERT INTO channels (id, resource_id, type, address, token, active, user_id, created_time) VALUES
('ch-1', 'res-1', 'web_hook', 'https://hook', 'secret', 1, 'ada', {AT});
INSERT INTO operations (id, name, operation_type, status, operation_metadata, response_data, created_at) VALUES
('op-000001', 'operations/op-000001', 'copy', 'running', '{{"fileId": "f-plan"}}', NULL, {AT}),
('op-000002', 'old-name', 'export', 'done', NULL, '{{"ok": 1}}', {AT});
INSERT INTO apps (id, name, installed, primary_mime_types, secondary_mime_types, primary_file_extensions,
  secondary_file_extensions) VALUES
('app-1', 'Viewer', 1, '["{PDF}"]', '[]', '["pdf"]', '["ps"]'),
('app-2', 'Drawer', 0, '["image/png"]', '[]', '["png"]', '[]');
"""


def ulid(draw: int) -> str:
    """The id that the first write of a session draws in this place, counted from 0: the time, then 16 letters."""
    ids = Ids("drive/1")
    for _ in range(draw + 1):
        drawn = ids.hex(20)
    return _base_32(1_780_304_401_000, 10) + _base_32(int(drawn, 16), 16)


def _base_32(number: int, length: int) -> str:
    return "".join(_LETTERS[(number >> (5 * place)) & 31] for place in reversed(range(length)))


def logged(
    draw: int, kind: str, *, file: str | None = None, drive: str | None = None, removed: int = 0
) -> dict[str, Any]:
    """The row that a write adds to the log under the id it draws then, and the tokens that go on."""
    token = ulid(draw)
    row = {"change_type": kind, "file_id": file, "drive_id": drive, "removed": removed, "change_time": NOW}
    scopes = ["global", "user:ada", *([f"drive:{drive}"] if drive else [])]
    return {"changes": {token: row}, "change_tokens": {scope: {"last_token": token} for scope in scopes}}
