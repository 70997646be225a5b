"""A calendar database small enough to know by heart. Ada acts; Ben has a calendar of his own; Cy has left."""

from __future__ import annotations

WRITTEN = "2026-06-01 09:00:01.000000"  # the time of a session's first write
TOUCHED = {"updated_at": WRITTEN}
STAMPS = {"created_at": WRITTEN, "updated_at": WRITTEN}
CONTEXT = {"x-access-token": "token-ada"}

SEED = """
INSERT INTO users (user_id, email, name, given_name, timezone, is_active, is_verified, static_token, created_at,
  updated_at) VALUES
('ada', 'ada@desk.example', 'Ada Stone', 'Ada', 'UTC', 1, 1, 'token-ada', '2025-01-01 08:00:00', '2025-01-01 08:00:00'),
('ben', 'ben@desk.example', 'Ben Reed', NULL, 'UTC', TRUE, FALSE, 'token-ben', '2025-01-02 08:00:00',
  '2025-01-02 08:00:00'),
('cy', 'cy@desk.example', 'Cy Moss', NULL, 'UTC', 0, 0, 'token-cy', '2025-01-03 08:00:00', '2025-01-03 08:00:00');
INSERT INTO calendars (calendar_id, user_id, summary, description, time_zone, is_primary, color_id, hidden, selected,
  deleted, conference_properties, created_at, updated_at) VALUES
('c-work', 'ada', 'Work', 'Office hours', 'UTC', 1, '2', 0, 1, 0,
  '{"allowedConferenceSolutionTypes": ["hangoutsMeet"]}', '2025-01-01 09:00:00', '2025-01-01 09:00:00'),
('c-side', 'ada', 'Side', NULL, 'Europe/Berlin', 0, NULL, 0, 1, 0, NULL, '2025-01-02 09:00:00', '2025-01-02 09:00:00'),
('c-hid', 'ada', 'Hidden', NULL, 'UTC', 0, NULL, 1, 0, 0, NULL, '2025-01-03 09:00:00', '2025-01-03 09:00:00'),
('c-gone', 'ada', 'Gone', NULL, 'UTC', 0, NULL, 0, 1, 1, NULL, '2025-01-04 09:00:00', '2025-01-04 09:00:00'),
('c-ben', 'ben', 'Ben', NULL, 'UTC', 0, NULL, 0, 1, 0, NULL, '2025-01-05 09:00:00', '2025-01-05 09:00:00');
INSERT INTO scopes (id, type, value) VALUES ('scope-ada', 'user', 'ada@desk.example'),
('s-ben', 'user', 'ben@desk.example');
INSERT INTO acls (id, calendar_id, user_id, scope_id, role, etag) VALUES
('r-own', 'c-work', 'ada', 'scope-ada', 'owner', 'etag-own'), ('r-ben', 'c-work', 'ada', 's-ben', 'reader', 'etag-ben'),
('r-none', 'c-work', 'ada', 's-ben', 'none', 'etag-none');
INSERT INTO colors (color_id, color_type, background, foreground, created_at, updated_at) VALUES
('1', 'CALENDAR', '#ac725e', '#1d1d1d', '2025-01-01 00:00:00', '2025-01-01 00:00:00'),
('2', 'CALENDAR', '#d06b64', '#1d1d1d', '2025-01-01 00:00:00', '2025-01-01 00:00:00'),
('10', 'CALENDAR', '#ac725e', '#1d1d1d', '2025-01-01 00:00:00', '2025-01-02 00:00:00'),
('1', 'EVENT', '#a4bdfc', '#1d1d1d', '2025-01-01 00:00:00', '2025-01-01 00:00:00');
INSERT INTO settings (id, value, etag, user_id) VALUES ('ada_timezone', 'Europe/London', NULL, 'ada'),
('ada_week', 'monday', 'e1', 'ada'), ('ben_timezone', 'UTC', NULL, 'ben');
INSERT INTO recurring_events (recurring_event_id, original_recurrence) VALUES
('series', '["RRULE:FREQ=DAILY;COUNT=2"]');
INSERT INTO events (event_id, calendar_id, user_id, organizer_id, organizer_email, organizer_display_name,
  organizer_self, recurring_event_id, summary, location, start_datetime, end_datetime, start_timezone, end_timezone,
  recurrence, status, visibility, eventType, sequence, iCalUID, source, originalStartTime_dateTime, created_at,
  updated_at) VALUES
('e-plan', 'c-work', 'ada', 'ada', 'ada@desk.example', 'Ada Stone', 1, NULL, 'Planning', 'Room 1',
  '2026-03-02 10:00:00.000000', '2026-03-02 11:00:00.000000', 'UTC', 'UTC', NULL, 'confirmed', 'default', 'default', 0,
  'plan@desk.example', '{"url": "https://desk.example/plan", "title": "Plan"}', NULL, '2025-02-01 08:00:00',
  '2025-02-01 08:00:00'),
('e-lunch', 'c-work', 'ada', NULL, NULL, NULL, 0, NULL, 'Lunch; with cake', NULL, '2026-03-02T12:00:00+00:00',
  '2026-03-02T13:00:00+00:00', 'UTC', 'UTC', NULL, 'confirmed', 'private', 'default', NULL, 'lunch@desk.example', NULL,
  NULL, '2025-02-02 08:00:00', '2025-02-02 08:00:00'),
('e-off', 'c-work', 'ada', 'ada', 'ada@desk.example', 'Ada Stone', 1, NULL, 'Cancelled talk', NULL,
  '2026-03-03 10:00:00.000000', '2026-03-03 11:00:00.000000', 'UTC', 'UTC', NULL, 'cancelled', 'default', 'default', 1,
  'off@desk.example', NULL, NULL, '2025-02-03 08:00:00', '2025-02-03 08:00:00'),
('e-focus', 'c-side', 'ada', 'ada', 'ada@desk.example', 'Ada Stone', 1, NULL, 'Focus', NULL,
  '2026-03-04 08:00:00.000000', '2026-03-04 12:00:00.000000', 'UTC', 'UTC', NULL, 'confirmed', 'default', 'focusTime',
  0, 'focus@desk.example', NULL, NULL, '2025-02-04 08:00:00', '2025-02-04 08:00:00'),
('e-one', 'c-side', 'ada', 'ada', 'ada@desk.example', 'Ada Stone', 1, 'series', 'Stand-up', NULL,
  '2026-03-05 09:00:00.000000', '2026-03-05 09:30:00.000000', 'UTC', 'UTC', '["RRULE:FREQ=DAILY;COUNT=2"]',
  'confirmed', 'default', 'default', 0, 'stand@desk.example', NULL, '2026-03-05 09:00:00.000000', '2025-02-05 08:00:00',
  '2025-02-05 08:00:00'),
('e-two', 'c-side', 'ada', 'ada', 'ada@desk.example', 'Ada Stone', 1, 'series', 'Stand-up', NULL,
  '2026-03-06 09:00:00.000000', '2026-03-06 09:30:00.000000', 'UTC', 'UTC', '["RRULE:FREQ=DAILY;COUNT=2"]',
  'confirmed', 'default', 'default', 0, 'stand@desk.example', NULL, '2026-03-06 09:00:00.000000', '2025-02-05 08:00:00',
  '2025-02-05 08:00:00');
INSERT INTO attendees (attendees_id, displayName, responseStatus, event_id, user_id) VALUES
('a-ada', 'Ada', 'accepted', 'e-plan', 'ada'), ('a-ben', NULL, 'needsAction', 'e-plan', 'ben');
INSERT INTO attachments (attachment_id, event_id, file_url) VALUES ('f-1', 'e-plan', 'https://desk.example/a/plan.pdf');
INSERT INTO reminders (id, event_id, method, minutes, use_default) VALUES ('m-1', 'e-plan', 'email', 30, 0);
INSERT INTO extended_properties (id, event_id, scope, properties) VALUES
('x-1', 'e-plan', 'private', '{"project": "north"}');
INSERT INTO watch_channels (id, resource_id, resource_uri, resource_type, calendar_id, user_id, webhook_address,
  created_at) VALUES ('w-old', 'events-c-work-0', '/calendars/c-work/events', 'event', 'c-work', 'ada',
  'https://desk.example/hook', '2025-03-01 08:00:00');
"""
