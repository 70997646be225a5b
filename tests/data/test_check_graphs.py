"""Check graphs: what a query is read as, which edges are found and left out, refusals, credit, and the templates."""

from __future__ import annotations

import json
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robustops.compose.graphs import declared_domain
from robustops.core.task import CheckGraph
from robustops.data.graphs.ask import ask_graph, question
from robustops.data.graphs.found import checked, compare, gives_full_credit_only_to_all
from robustops.data.graphs.rules import Edge, rule_edges
from robustops.data.graphs.source import GraphSource, IndexedCheck, TableInfo, source_of
from robustops.data.graphs.sql import Equal, Rows, read
from robustops.data.synth.generate import DOMAINS, draw_all, write_task_set
from robustops.data.task_set import TaskSet
from robustops.llm.completion import Reply

CALENDAR = {
    "calendars": TableInfo(key="calendar_id", columns=("calendar_id", "summary")),
    "acls": TableInfo(key="acl_id", columns=("acl_id", "calendar_id", "role"), references={"calendar_id": "calendars"}),
    "events": TableInfo(
        key="event_id", columns=("event_id", "calendar_id", "title"), references={"calendar_id": "calendars"}
    ),
}
THE_CALENDAR = "SELECT calendar_id FROM calendars WHERE summary = 'Launch'"


def source(
    *queries: str, tools=("create_calendar", "insert_acl", "create_event"), request="", **changes
) -> GraphSource:
    """Checks that each want one row."""
    checks = [
        IndexedCheck(index=n, name=f"c{n}", query=query, comparison="equals", expected=1)
        for n, query in enumerate(queries)
    ]
    given = {"policy": "", "request": request, "tools": tools, "checks": tuple(checks), "schema": CALENDAR}
    return GraphSource(task_id="t", **(given | changes))


def edges(*queries: str, **changes) -> list[tuple[int, int]]:
    return [(edge.parent, edge.child) for edge in rule_edges(source(*queries, **changes))]


CREATED = "SELECT COUNT(*) FROM calendars WHERE summary = 'Launch'"
GRANTED = f"SELECT COUNT(*) FROM acls WHERE role = 'writer' AND calendar_id IN ({THE_CALENDAR})"
SCHEDULED = (
    "SELECT COUNT(*) FROM events e JOIN calendars c ON e.calendar_id = c.calendar_id "
    "WHERE c.summary = 'Launch' AND e.title = 'Kick-off'"
)


def test_a_query_is_read_as_the_rows_it_asks_for_and_those_it_goes_through():
    found = read(GRANTED)
    assert found.main == Rows(table="acls", where=frozenset({Equal("role", "writer")}))
    assert found.through == (Rows(table="calendars", where=frozenset({Equal("summary", "Launch")}), via="calendar_id"),)
    assert found.num_unread == 0


def test_a_join_is_read_as_rows_gone_through():
    found = read(SCHEDULED)
    assert found.main == Rows(table="events", where=frozenset({Equal("title", "Kick-off")}))
    assert found.through == (Rows(table="calendars", where=frozenset({Equal("summary", "Launch")}), via="calendar_id"),)


@pytest.mark.parametrize(
    ("condition", "equals", "unread"),
    [
        ("a = 1 AND b = 'x AND y'", {("a", "1"), ("b", "x AND y")}, 0),
        ("(a = 1) AND ((b = 'it''s'))", {("a", "1"), ("b", "it's")}, 0),
        ("a = 1 OR b = 2", set(), 1),
        ("a = 1 AND (b = 2 OR b = 3)", {("a", "1")}, 1),
        ("a = 1 AND NOT (b = 2)", {("a", "1")}, 1),
        ("a > 1 AND b = 2", {("b", "2")}, 1),
        ("a BETWEEN 1 AND 3 AND b = 2", {("b", "2")}, 1),
        ("t.a = 1 AND lower(b) = 'x'", {("a", "1")}, 1),
        ("a IS NULL AND b = 2", {("b", "2")}, 1),
        ("a IN ('x')", {("a", "x")}, 0),
        ("a IN ('x', 'y')", set(), 1),
    ],
)
def test_only_plain_equalities_count_and_the_rest_is_counted_as_unread(condition, equals, unread):
    found = read(f"SELECT COUNT(*) FROM t WHERE {condition}")
    assert {(item.column, item.value) for item in found.main.where} == equals
    assert found.num_unread == unread


@pytest.mark.parametrize("query", ["", "PRAGMA x", "SELECT 1", "UPDATE t SET a = 1", "SELECT a FROM (SELECT b FROM t)"])
def test_what_is_no_select_from_a_table_is_not_read(query):
    assert read(query) is None


def test_the_calendar_example_has_its_two_edges_with_their_evidence():
    found = rule_edges(source(CREATED, GRANTED, SCHEDULED))
    assert [(edge.parent, edge.child, edge.rule) for edge in found] == [(0, 1, "lookup"), (0, 2, "lookup")]
    assert found[0].why == "goes through the row of calendars with summary = Launch"


def test_a_guard_has_no_edge():
    guard = IndexedCheck(index=0, name="g", query=CREATED, comparison="equals", expected=0)
    wanted = IndexedCheck(index=1, name="w", query=GRANTED, comparison="equals", expected=1)
    assert rule_edges(source(checks=(guard, wanted))) == []


def test_rows_that_no_tool_of_the_task_makes_are_no_prerequisite():
    assert edges(CREATED, GRANTED, tools=("get_calendar", "insert_acl")) == []


def test_another_row_of_the_same_table_is_no_prerequisite():
    assert edges(CREATED.replace("Launch", "Party"), GRANTED) == []


def test_a_shared_key_that_no_check_could_know_beforehand_is_left_out():
    """Random keys are known of old rows alone; a counted one is the next number."""
    random_key = "01VQ3HJFGBW9FJG9BQ8YMRQ6XN"
    assert edges(*(query.replace("CAL_7", random_key) for query in BY_KEY)) == []
    assert edges(*(query.replace("'CAL_7'", "1233") for query in BY_KEY)) == [(0, 1)]


def test_of_several_checks_of_one_row_only_the_one_that_asks_for_least_is_a_prerequisite():
    stricter = f"{CREATED} AND time_zone = 'UTC'"
    assert edges(stricter, GRANTED) == [(0, 1)], "alone, it is all that is known of the row"
    assert edges(stricter, CREATED, GRANTED) == [(1, 2)]


def test_of_several_checks_that_each_ask_for_something_else_none_is_known_to_be_a_prerequisite():
    assert edges(f"{CREATED} AND time_zone = 'UTC'", f"{CREATED} AND location = 'Oslo'", GRANTED) == []


def test_a_flag_that_many_rows_share_names_no_row():
    flagged = "SELECT COUNT(*) FROM calendars WHERE active = 1"
    through = "SELECT COUNT(*) FROM acls WHERE calendar_id IN (SELECT calendar_id FROM calendars WHERE active = 1)"
    assert edges(flagged, through) == []


def test_a_condition_that_cannot_be_read_makes_its_check_no_parent():
    assert edges(f"{CREATED} AND time_zone <> 'UTC'", GRANTED) == []


BY_KEY = (
    "SELECT COUNT(*) FROM calendars WHERE calendar_id = 'CAL_7'",
    "SELECT role FROM acls WHERE calendar_id = 'CAL_7'",
)


def test_a_shared_key_of_a_new_row_is_an_edge_along_the_foreign_key():
    (edge,) = rule_edges(source(*BY_KEY))
    assert (edge.parent, edge.child, edge.rule) == (0, 1, "foreign key")


@pytest.mark.parametrize(
    "changes",
    [
        {"request": "Share calendar CAL_7."},  # it was there before
        {"tools": ("create_calendar", "update_calendar")},  # it may have been there before
        {"schema": {}},  # nothing says that the column is a reference
    ],
)
def test_a_shared_key_of_a_row_that_may_be_old_is_left_out(changes):
    assert edges(*BY_KEY, **changes) == []


@pytest.mark.parametrize(
    ("pair", "name"),
    [((0, 5), "unknown check 5"), ((1, 1), "self-edge at check 1"), ((1, 0), "cycle through check 0")],
)
def test_an_impossible_graph_is_refused_by_name_and_the_task_has_none(pair, name):
    made = [Edge(parent=0, child=1, rule="model", why="w"), Edge(parent=pair[0], child=pair[1], rule="model", why="w")]
    found = checked("task-9", 3, made)
    assert name in found.refused
    assert found.graph.edges == ()
    assert found.row()["refused"] == found.refused


def test_no_edge_at_all_is_a_graph():
    found = checked("t", 2, [])
    assert (found.refused, found.row()["edges"], found.row()["num_checks"]) == ("", [], 2)


@st.composite
def graphs(draw) -> CheckGraph:
    number = draw(st.integers(1, 6))
    pairs = [(a, b) for b in range(number) for a in range(b)]
    return CheckGraph(num_checks=number, edges=tuple(draw(st.sets(st.sampled_from(pairs)))) if pairs else ())


@given(graphs(), st.data())
def test_full_credit_is_given_exactly_when_all_checks_pass(graph, data):
    passed = tuple(data.draw(st.lists(st.booleans(), min_size=graph.num_checks, max_size=graph.num_checks)))
    assert (graph.gated(passed) == graph.num_checks) == all(passed)
    assert gives_full_credit_only_to_all(graph)


def test_counting_passed_checks_without_gates_fails_the_calendar_example():
    """Granted and scheduled without a calendar is worth nothing: 0 of 3, where a plain count says 2 of 3."""
    found = checked("calendar", 3, rule_edges(source(CREATED, GRANTED, SCHEDULED))).graph
    plain = CheckGraph(num_checks=3)
    assert found.gated((False, True, True)) == 0
    assert found.gated((True, True, False)) == 2
    assert plain.gated((False, True, True)) == 2, "without edges nothing is gated"


@cache
def synthetic() -> tuple:
    return tuple(draw_all(domains=sorted(DOMAINS), sizes={"train": 60, "val": 0, "test": 60}, seed=9))


def test_the_rules_find_the_templates_edges_and_no_other(tmp_path):
    write_task_set(tmp_path, synthetic(), source="test")
    task_set = TaskSet.load(tmp_path)
    sources = [source_of(task, declared_domain) for task in task_set.tasks(task_set.split.entries)]
    found = [checked(item.task_id, len(item.checks), rule_edges(item)) for item in sources]
    agreement = compare(found, task_set.graphs)
    assert agreement.known > 0
    assert agreement.precision == 1.0, "an uncertain edge must be left out"
    assert agreement.recall > 0.9
    assert f"recall {agreement.recall:.1%}" in agreement.reading()
    assert "SELECT" in question(sources[0])
    assert "INSERT INTO" in next((tmp_path / "seeds").glob("*.sql")).read_text()
    assert not any("INSERT INTO" in question(item) for item in sources), "rows never enter"


class Answering:
    def __init__(self, text: str) -> None:
        self.text, self.asked = text, []

    async def complete(self, messages, **options):
        self.asked.append((messages, options))
        return Reply(text=self.text)


async def test_a_model_s_edges_are_taken_where_it_is_certain_and_says_why():
    said = [
        {"parent": 0, "child": 1, "certain": True, "why": "the grant is on the new calendar"},
        {"parent": 0, "child": 2, "certain": False, "why": "perhaps"},
        {"parent": 1, "child": 2, "certain": True, "why": ""},
    ]
    model = Answering(f"Here it is: {json.dumps({'edges': said})}")
    (edge,) = (await ask_graph(source(CREATED, GRANTED, SCHEDULED), model)).edges
    assert (edge.parent, edge.child, edge.rule) == (0, 1, "model")
    (messages, options) = model.asked[0]
    assert options["temperature"] == 0.0
    told = json.loads(messages[1]["content"])
    assert set(told) == {"policy", "request", "tools", "checks", "schema"}
    assert [check["query"] for check in told["checks"]] == [CREATED, GRANTED, SCHEDULED]


async def test_a_reply_without_a_graph_refuses_this_task_s_alone_and_says_why():
    found = await ask_graph(source(CREATED, GRANTED), Answering("no idea"))
    assert (found.refused, found.graph.edges, found.graph.num_checks) == ("the reply holds no edges: 'no idea'", (), 2)


@pytest.mark.parametrize(
    ("pairs", "edges", "refused"),
    [
        ([(0, 1), (0, 1)], ((0, 1),), ""),
        ([(True, 2), ("0", 1), (0.0, 1)], (), ""),  # no index is a truth value, a text or a fraction
        ([(0, 1), (1, 0)], (), "cycle"),
        ([(1, 1)], (), "self-edge at check 1"),
        ([(0, 7)], (), "unknown check 7"),
        ([(-1, 0)], (), "unknown check -1"),
    ],
)
async def test_what_a_model_answers_is_checked_as_edges_by_rule_are(pairs, edges, refused):
    said = [{"parent": parent, "child": child, "certain": True, "why": "said so"} for parent, child in pairs]
    found = await ask_graph(source(CREATED, GRANTED, SCHEDULED), Answering(json.dumps({"edges": said})))
    assert found.graph.edges == edges
    assert refused in found.refused
    assert bool(refused) == bool(found.refused)
