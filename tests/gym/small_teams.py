"""A teams database small enough to know by heart: two organisations, of which the caller's is Nord."""

from __future__ import annotations

from typing import Any

from robustops.gym.ids import Ids

CALLER = {"x-teams-access-token": "token-ada"}
NOW = "2026-06-01 09:00:01.000000"  # of the first write
SHOWN = "2026-06-01T09:00:01.000000Z"
SECONDS = "2026-06-01 09:00:01"
AT = "'2026-05-01 08:00:00'"
CONTEXT = "https://graph.microsoft.com/v1.0/$metadata#"
USERS = "https://graph.microsoft.com/v1.0/users"
APPS = "https://graph.microsoft.com/v1.0/appCatalogs/teamsApps"
MEMBERS = (
    '[{"@odata.type": "#microsoft.graph.aadUserConversationMember", "id": "m-ada", "roles": ["owner"], '
    '"displayName": "Ada Berg", "userId": "ada", "email": "ada@nord.example", "tenantId": "tenant-nord", '
    '"visibleHistoryStartDateTime": null}, {"@odata.type": "#microsoft.graph.aadUserConversationMember", '
    '"id": "m-ben", "roles": ["member"], "displayName": "Ben Costa", "userId": "ben", "email": "ben@nord.example", '
    '"tenantId": "tenant-nord", "visibleHistoryStartDateTime": null}]'
)
FROM_ADA = (
    '{"application": null, "device": null, '
    '"user": {"id": "ada", "displayName": "Ada Berg", "userIdentityType": "aadUser"}}'
)
FROM_BEN = FROM_ADA.replace("ada", "ben").replace("Ada Berg", "Ben Costa")
BODY = '{"contentType": "text", "content": "%s"}'

SEED = f"""
INSERT INTO teams_orgs (org_id, tenant_id, display_name, domain_name, created_at, updated_at, soft_deleted) VALUES
('nord-001', 'tenant-nord', 'Nord', 'nord.example', {AT}, {AT}, 0),
('far-002', 'tenant-far', 'Far', 'far.example', {AT}, {AT}, 0);
INSERT INTO teams_users (org_id, user_id, user_principal_name, display_name, job_title, mail, given_name, surname,
  account_enabled, skills, static_token, created_at, updated_at, soft_deleted) VALUES
('nord-001', 'ada', 'ada@nord.example', 'Ada Berg', 'Lead', 'ada@nord.example', 'Ada', 'Berg', 1, '["SQL"]',
  'token-ada', {AT}, {AT}, 0),
('nord-001', 'ben', 'ben@nord.example', 'Ben Costa', 'Clerk', NULL, 'Ben', 'Costa', 0, NULL, NULL, {AT}, {AT}, 0),
('nord-001', 'cy', 'cy@nord.example', 'Cy Doyle', 'Clerk', 'cy@nord.example', 'Cy', 'Doyle', 1, NULL, NULL,
  {AT}, {AT}, 0),
('far-002', 'zed', 'zed@far.example', 'Zed Ito', NULL, NULL, 'Zed', 'Ito', 1, NULL, NULL, {AT}, {AT}, 0);
INSERT INTO teams_apps (org_id, app_id, display_name, distribution_method, external_id) VALUES
('nord-001', 'app-notes', 'Notes', 'store', NULL), ('nord-001', 'app-board', 'Board', 'organization', 'ext-1'),
('far-002', 'app-notes', 'Notes', 'store', NULL);
INSERT INTO teams (org_id, team_id, group_id, display_name, description, visibility, specialization, internal_id,
  member_settings, members, is_archived, web_url, created_date_time, updated_date_time, soft_delete) VALUES
('nord-001', 'team-a', 'group-a', 'Alpha', 'First team', 'private', 'none', 'int-a',
  '{{"allowDeleteChannels": true, "allowAddRemoveApps": true}}', '{MEMBERS}', 0, 'https://t/a', {AT}, {AT}, 0),
('nord-001', 'team-b', 'group-b', 'Beta', NULL, 'public', 'none', 'int-b', NULL, '[]', 0, 'https://t/b', {AT}, {AT}, 0),
('far-002', 'team-z', 'group-z', 'Alpha', NULL, 'private', 'none', 'int-z', NULL, '[]', 0, NULL, {AT}, {AT}, 0);
INSERT INTO channels (org_id, channel_id, team_id, display_name, description, membership_type, email, is_archived,
  is_favorite_by_default, created_date_time, updated_date_time, soft_delete) VALUES
('nord-001', 'ch-general', 'team-a', 'General', 'All of us', 'standard', NULL, 0, 1, {AT}, {AT}, 0),
('nord-001', 'ch-lab', 'team-a', 'Test Lab', NULL, 'private', NULL, 0, 0, '2026-05-02 08:00:00', {AT}, 0),
('nord-001', 'ch-old', 'team-a', 'Old', NULL, 'standard', 'old@x', 0, 0, {AT}, {AT}, 1),
('nord-001', 'ch-b', 'team-b', 'Plans', NULL, 'standard', NULL, 0, 0, {AT}, {AT}, 0);
INSERT INTO channel_members (id, org_id, team_id, channel_id, user_id, display_name, email, roles, created_at) VALUES
(7, 'nord-001', 'team-a', 'ch-lab', 'ada', 'Ada Berg', 'ada@nord.example', 'owner', {AT});
INSERT INTO channel_messages (message_id, org_id, team_id, channel_id, reply_to_id, etag, created_datetime,
  last_modified_datetime, deleted_datetime, importance, from_json, body_json, reactions_json) VALUES
('msg-1', 'nord-001', 'team-a', 'ch-general', NULL, 'e1', '2026-05-03 08:00:00', '2026-05-03 08:00:00', NULL, 'normal',
  '{FROM_ADA}', '{BODY % "Hello"}', '[]'),
('msg-2', 'nord-001', 'team-a', 'ch-general', NULL, 'e2', '2026-05-04 08:00:00', '2026-05-04 08:00:00',
  '2026-05-05 08:00:00', 'high', '{FROM_BEN}', '{BODY % "Gone"}', NULL),
('msg-3', 'nord-001', 'team-a', 'ch-general', 'msg-1', 'e3', '2026-05-06 08:00:00', '2026-05-06 08:00:00', NULL,
  'normal', '{FROM_ADA}', '{BODY % "Answer"}', NULL);
INSERT INTO teams_channel_tabs (id, org_id, team_id, channel_id, display_name, app_id, configuration_json,
  sort_order_index, web_url, created_at, updated_at) VALUES
('tab-1', 'nord-001', 'team-a', 'ch-general', 'Minutes', 'app-notes', '{{"entityId": "n1"}}', '10000100', 'https://tab/1',
  {AT}, {AT}),
('tab-2', 'nord-001', 'team-a', 'ch-general', 'Tasks', 'app-board', NULL, '10000200', 'https://tab/2', {AT}, {AT});
INSERT INTO channel_files_folders (id, org_id, team_id, channel_id, name, size, parent_reference) VALUES
('folder-1', 'nord-001', 'team-a', 'ch-general', 'General', 2048, '{{"driveId": "drive-9"}}');
INSERT INTO teams_installed_apps (id, org_id, team_id, app_id, version, created_at) VALUES
('inst-1', 'nord-001', 'team-a', 'app-notes', '1.2', {AT}), ('inst-2', 'nord-001', 'team-a', 'app-board', '3.0', {AT});
INSERT INTO chats (chat_id, org_id, topic, chat_type, created_at, updated_at, soft_delete) VALUES
('ada_ben', 'nord-001', NULL, 'oneOnOne', {AT}, {AT}, 0),
('chat-g', 'nord-001', 'Lunch', 'group', {AT}, '2026-05-09 08:00:00', 0),
('chat-x', 'nord-001', 'Not mine', 'group', {AT}, {AT}, 0);
INSERT INTO chat_members (chat_id, org_id, user_id, roles, tenant_id, display_name, is_hidden, added_at) VALUES
('ada_ben', 'nord-001', 'ada', 'owner', 'tenant-nord', 'Ada Berg', 0, {AT}),
('ada_ben', 'nord-001', 'ben', 'owner', 'tenant-nord', 'Ben Costa', 0, {AT}),
('chat-g', 'nord-001', 'ada', 'owner', 'tenant-nord', 'Ada Berg', 1, {AT}),
('chat-g', 'nord-001', 'cy', 'guest', 'tenant-nord', 'Cy Doyle', 0, {AT}),
('chat-x', 'nord-001', 'cy', 'owner', 'tenant-nord', 'Cy Doyle', 0, {AT});
INSERT INTO chat_messages (message_id, chat_id, etag, created_datetime, last_modified_datetime, deleted_datetime,
  importance, from_json, body_json, reactions_json) VALUES
('1001', 'chat-g', '1001', '2026-05-03 08:00:00', '2026-05-08 08:00:00', NULL, 'normal', '{FROM_ADA}',
  '{BODY % "Noon?"}', '[{{"reactionType": "+", "createdDateTime": "x", "user": {{"user": {{"id": "ada"}}}}}}]'),
('1002', 'chat-g', '1002', '2026-05-04 08:00:00', '2026-05-04 08:00:00', '2026-05-05 08:00:00', 'normal',
  '{FROM_BEN}', '{BODY % "Yes"}', NULL);
INSERT INTO pinned_chat_messages (id, chat_id, message_id, pinned_at) VALUES ('pin-1', 'chat-g', '1002', {AT});
INSERT INTO teamwork_tags (id, org_id, team_id, display_name, description, tag_type, created_at) VALUES
('tag-1', 'nord-001', 'team-a', 'Leads', 'Who leads', 'standard', {AT}),
('tag-2', 'nord-001', 'team-a', 'Helpers', NULL, 'standard', {AT});
INSERT INTO teamwork_tag_members (id, tagId, teamId, userId, displayName) VALUES
('tm-1', 'tag-1', 'team-a', 'ada', 'Ada Berg');
INSERT INTO groups (org_id, group_id, display_name, description, mail_enabled, mail_nickname, security_enabled, owners,
  members, created_date_time, updated_date_time, soft_delete) VALUES
('nord-001', 'group-a', 'Alpha Group', 'Of the team', 1, 'alpha', 0, '["ada"]', '[]', {AT}, {AT}, 0),
('nord-001', 'group-s', 'Secure', NULL, 0, 'secure', 1, '[]', '[]', {AT}, {AT}, 0);
INSERT INTO calls (id, org_id, state, direction, created_at, updated_at, soft_delete) VALUES
('call-1', 'nord-001', 'established', 'outgoing', {AT}, {AT}, 0);
INSERT INTO call_records (id, org_id, version, type, modalities, start_date_time, end_date_time, organizer,
  participants_v2) VALUES
('rec-1', 'nord-001', 2, 'groupCall', '["audio"]', '2026-05-03T08:00:00Z', '2026-05-03T09:00:00Z', '{{"user": null}}',
  '[{{"id": "ben", "identity": {{"user": {{"id": "ben"}}}}}}]'),
('rec-2', 'nord-001', 2, 'peerToPeer', '["video"]', '2026-05-04T08:00:00Z', '2026-05-04T09:00:00Z', NULL, '[]');
INSERT INTO call_sessions (id, org_id, call_record_id, modalities, start_date_time, segments) VALUES
('ses-1', 'nord-001', 'rec-1', '["audio"]', '2026-05-03T08:00:00Z', '[{{"id": "seg-1"}}]');
INSERT INTO teams_presence_sessions (org_id, user_id, status_message, created_at, updated_at) VALUES
('nord-001', 'cy', 'Away', {AT}, {AT});
INSERT INTO virtual_event_webinars (id, org_id, status, display_name, description_content, description_content_type,
  start_date_time, start_time_zone, end_date_time, end_time_zone, audience, created_by_user_id,
  created_by_display_name, is_attendee_email_notification_enabled, created_at, updated_at) VALUES
('w@1', 'nord-001', 'draft', 'Kick-off', 'Start', 'text', '2026-07-01T10:00:00', 'UTC', '2026-07-01T11:00:00', 'UTC',
  'everyone', 'ada', 'Ada Berg', 1, {AT}, {AT}),
('w@2', 'nord-001', 'canceled', 'Lost', 'None', 'text', '2026-07-02T10:00:00', 'UTC', '2026-07-02T11:00:00', 'UTC',
  'organization', 'ada', 'Ada Berg', 0, {AT}, {AT}),
('w@3', 'nord-001', 'draft', 'Of Ben', 'His', 'html', '2026-07-03T10:00:00', 'UTC', '2026-07-03T11:00:00', 'UTC',
  'organization', 'ben', 'Ben Costa', 0, {AT}, {AT});
INSERT INTO virtual_event_webinar_coorganizers (webinar_id, org_id, user_id, added_at) VALUES
('w@1', 'nord-001', 'cy', {AT});
INSERT INTO virtual_event_townhalls (id, org_id, status, display_name, description_content, description_content_type,
  start_date_time, start_time_zone, end_date_time, end_time_zone, audience, is_invite_only, created_by_user_id,
  created_by_display_name, is_attendee_email_notification_enabled, created_at, updated_at) VALUES
('t@1', 'nord-001', 'draft', 'All hands', 'News', 'text', '2026-07-04T10:00:00', 'UTC', '2026-07-04T11:00:00', 'UTC',
  'organization', 1, 'ada', 'Ada Berg', 0, {AT}, {AT}),
('t@2', 'nord-001', 'draft', 'Of Ben', 'His', 'text', '2026-07-05T10:00:00', 'UTC', '2026-07-05T11:00:00', 'UTC',
  'organization', 0, 'ben', 'Ben Costa', 0, {AT}, {AT});
INSERT INTO virtual_event_townhall_invited_attendees (townhall_id, org_id, identity_id, added_at) VALUES
('t@1', 'nord-001', 'ben', {AT});
"""


def drawn(*kinds: str) -> list[str]:
    """The ids that the first write of a session draws: `uuid`, or the number of hexadecimal digits."""
    ids = Ids("teams/1")
    return [ids.uuid() if kind == "uuid" else ids.hex(int(kind)) for kind in kinds]


def bound(user: str) -> str:
    return f"{USERS}('{user}')"


def person(user_id: str, name: str) -> dict[str, Any]:
    user = {"id": user_id, "displayName": name, "userIdentityType": "aadUser"}
    return {"application": None, "device": None, "user": user}
