"""What a script reads in a reply: its kind, its rows, their fields, and whether it is about what was asked."""

from __future__ import annotations

import pytest

from robustops.agent.shown_reply import answers, field_of, is_same, read_reply

THROTTLED = '{"error": "rate limited: the call was not executed", "executed": false, "retry_after_s": 1}'
TIMEOUT = '{"error": "timeout: no acknowledgement received; the outcome is unknown"}'


@pytest.mark.parametrize(
    ("text", "kind", "num_rows"),
    [
        ('[{"a": 1}, {"a": 2}]', "data", 2),
        ('{"a": 1}', "data", 1),
        ("{}", "data", 0),
        ("null", "data", 0),
        ('{"users": [{"a": 1}], "total_count": 1}', "data", 1),
        ('{"incomplete": true, "returned": 1, "users": [{"a": 1}], "total_count": 3}', "incomplete", 1),
        ('{"incomplete": true, "returned": 1, "items": [{"a": 1}]}', "incomplete", 1),
        ('[{"a": 1}, {"a"', "incomplete", 0),
        (THROTTLED, "not_executed", 0),
        ('{"error": "service unavailable: the call was not executed", "executed": false}', "not_executed", 0),
        (TIMEOUT, "unknown", 0),
        ("API Error [x]: Invalid case_id", "error", 0),
        ('{"error": "no such tool"}', "error", 0),
        ("Operation completed successfully", "data", 0),
        ("Event not found: 7", "error", 0),
        ('{"short_description": "timeout, not executed", "case_id": 4}', "data", 1),
    ],
)
def test_replies_are_told_apart_by_their_keys(text, kind, num_rows):
    reply = read_reply(text)
    assert (reply.kind, len(reply.rows)) == (kind, num_rows)


def test_a_list_field_need_only_hold_what_was_asked_and_an_object_too():
    assert is_same(["INBOX"], ["inbox", "UNREAD"])
    assert is_same([{"email": "a@b.example"}], [{"email": "A@b.example", "optional": False}])
    assert not is_same(["TRASH"], ["INBOX"])
    assert not is_same({"type": "user"}, None)
    assert not is_same(["INBOX"], "INBOX")


def test_fields_are_found_by_path_and_by_their_whole_name_first():
    row = {"parents": ["f1", "f2"], "start": {"date": "x"}, "a.b": 1, "a": {"b": 2}}
    paths = ("parents.1", "parents.2", "start.date", "start.date.year", "a.b", "none")
    assert [field_of(row, path) for path in paths] == ["f2", None, "x", None, 1, None]


@pytest.mark.parametrize(
    ("tool", "arguments", "fits"),
    [
        ("get_event", {"calendarId": "c", "eventId": "e1"}, True),
        ("get_event", {"calendarId": "c", "eventId": "e2"}, False),
        ("get_team_member", {"teamId": "t"}, True),
        ("get_primary_channel", {"teamId": "t"}, True),
    ],
)
def test_the_id_of_a_reply_is_that_of_the_object_the_tool_reads(tool, arguments, fits):
    assert answers({"id": "e1"}, tool, arguments, is_list=False) is fits
