"""Plans with nested fields, texts, deletions and lists of bare ids, followed by the scripted expert."""

from __future__ import annotations

import json

import pytest
from scripted_desk import TIMEOUT, call, play

from robustops.agent.plan import Fields, Items, Pick, Plan, ReadBack, Ref, Step, Text, Value
from robustops.agent.scripts import FAILED

EVENTS = {
    "summary": "Ada Berg",
    "items": [
        {"id": "e1", "summary": "Sync", "start": {"dateTime": "2026-06-09T10:00:00"}},
        {"id": "e2", "summary": "Sync", "start": {"dateTime": "2026-06-08T10:00:00"}},
    ],
}
FIRST_EVENT = Step(
    bind="event",
    tool="list_events",
    arguments={"q": Value(value="Sync")},
    pick=Pick(order_by="start.dateTime", largest=False),
)


def test_nested_fields_are_picked_by_and_sent_inside_objects_and_lists():
    start = Fields(items={"dateTime": Ref(step="event", field="start.dateTime"), "timeZone": Value(value="UTC")})
    arguments = {"eventId": Ref(step="event", field="id"), "start": start, "rooms": Items(items=(Value(value="A"),))}
    back = ReadBack(tool="get_event", arguments={"eventId": Ref(step="event", field="id")}, where={"start": start})
    plan = Plan(task_id="t", steps=(FIRST_EVENT, Step(bind="d", tool="patch", arguments=arguments, read_back=back)))
    asked = call("patch", eventId="e2", start={"dateTime": "2026-06-08T10:00:00", "timeZone": "UTC"}, rooms=["A"])
    stored = {"id": "e2", "start": {"dateTime": "2026-06-08T10:00:00", "date": None, "timeZone": "UTC"}}
    said = play([json.dumps(EVENTS), TIMEOUT, json.dumps(stored)], plan=plan)
    assert said == [call("list_events", q="Sync"), asked, call("get_event", eventId="e2"), "Done."]


def test_the_pieces_of_a_text_are_put_together_with_what_replies_say():
    asked = Text(parts=(Value(value="'"), Ref(step="event", field="id"), Value(value="' in parents")))
    plan = Plan(task_id="t", steps=(FIRST_EVENT, Step(bind="files", tool="list_files", arguments={"q": asked})))
    said = play([json.dumps(EVENTS), '{"files": [{"id": "f1"}]}'], plan=plan)
    assert said == [call("list_events", q="Sync"), call("list_files", q="'e2' in parents"), "Done."]


@pytest.mark.parametrize(
    ("left", "num_deletions"),
    [('{"items": []}', 1), ("Event not found: e2", 1), (json.dumps(EVENTS), 2)],
)
def test_a_deletion_of_unknown_outcome_is_repeated_only_where_the_row_is_still_there(left, num_deletions):
    key = {"id": Ref(step="event", field="id")}
    back = ReadBack(tool="look", arguments={}, where=key, is_absent=True)
    plan = Plan(task_id="t", steps=(FIRST_EVENT, Step(bind="d", tool="delete", arguments=key, read_back=back)))
    replies = [json.dumps(EVENTS), TIMEOUT, left, *(["Operation completed successfully"] * (num_deletions - 1))]
    said = play(replies, plan=plan)
    assert said.count(call("delete", id="e2")) == num_deletions
    assert said[-1] == "Done."


def test_a_list_of_bare_ids_is_read_again_where_its_first_row_turns_out_to_be_another():
    listed = Step(bind="listed", tool="list_messages", arguments={"q": Value(value="Sync")})
    title = Pick(where={"subject": Value(value="Sync")})
    read = Step(bind="m", tool="get_message", arguments={"id": Ref(step="listed", field="id")}, pick=title)
    plan = Plan(task_id="t", steps=(listed, read))
    broader, right = '{"messages": [{"id": "a"}, {"id": "b"}]}', '{"messages": [{"id": "b"}]}'
    one, two = '{"id": "a", "subject": "Talk"}', '{"id": "b", "subject": "Sync"}'
    said = play([broader, one, right, two], plan=plan)
    look = call("list_messages", q="Sync")
    assert said == [look, call("get_message", id="a"), look, call("get_message", id="b"), "Done."]
    assert play([broader, one] * 20, plan=plan)[-1] == FAILED
