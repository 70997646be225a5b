"""Damage: rows changed beyond what the task authorises, against the labels of published scripts and in small cases."""

from __future__ import annotations

import json
from typing import Any

import pytest

from robustops.core.errors import TaskError
from robustops.gym.changes import Change, changed_rows
from robustops.gym.domains import load_toolbox
from robustops.gym.embedded import EmbeddedGym
from robustops.rollout.damage import rules_from_expert, rules_from_file, unauthorised, worst
from tests.gym.reliability_suite import Script, scripts, suite_root

DOMAINS = ("csm", "itsm")


def volatile_columns(domain: str) -> set[tuple[str, str]]:
    root = suite_root()
    assert root is not None
    data = json.loads((root / "data" / "eog" / f"volatile-columns-{domain}.json").read_text())
    return {tuple(name.split(".")) for name in data["volatile_columns"]}


def damage_file(script: Script) -> dict[str, Any]:
    root, (part, task, _) = suite_root(), script.name.split("/")
    assert root is not None
    return json.loads((root / part / script.task.domain / task / "damage.json").read_text())


def labels(script: Script) -> dict[str, Any]:
    """The published outcome of a script."""
    root, (part, task, name) = suite_root(), script.name.split("/")
    assert root is not None
    folder = root / part / script.task.domain / task
    path = folder / f"{name}.script.json"
    return json.loads((path if path.is_file() else folder / "counterexamples" / path.name).read_text())["expected"]


async def played(gym: EmbeddedGym, script: Script) -> tuple[bytes, bytes]:
    async with gym.open(script.task) as session:
        before = await session.snapshot()
        for call in script.calls:
            await session.call(call.name, call.arguments)
        return before, await session.snapshot()


@pytest.mark.skipif(suite_root() is None, reason="needs the package agentrelbench")
async def test_the_labels_of_all_published_scripts_are_reproduced() -> None:
    gym = EmbeddedGym(toolboxes=[load_toolbox(domain) for domain in DOMAINS])
    found, published = {}, {}
    for domain in DOMAINS:
        volatile = volatile_columns(domain)
        for script in scripts(domain):
            rules = rules_from_file(damage_file(script), volatile=volatile)
            rows = unauthorised(changed_rows(*await played(gym, script)), rules)
            found[domain, script.name] = worst(rows)
            published[domain, script.name] = labels(script).get("severity")
    assert len(published) == 132
    assert sum(severity is not None for severity in published.values()) == 35
    assert found == published


def row(table: str, key: int, before: dict[str, Any] | None, after: dict[str, Any] | None) -> Change:
    return Change(gym="desk", table=table, key_name="ticket_id", key=key, before=before, after=after)


def test_an_experts_change_authorises_the_same_column_of_the_same_row_whatever_its_value() -> None:
    old, new = {"ticket_id": 1, "state": "open", "price": 5}, {"ticket_id": 1, "state": "closed", "price": 5}
    rules = rules_from_expert([row("ticket", 1, old, new)])
    assert unauthorised([row("ticket", 1, old, {**old, "state": "held"})], rules) == ()
    (price,) = unauthorised([row("ticket", 1, old, {**new, "price": 6})], rules)
    assert (price.columns, price.severity) == (("price",), "MEDIUM")
    (other,) = unauthorised([row("ticket", 2, {**old, "ticket_id": 2}, {**new, "ticket_id": 2})], rules)
    assert other.key == 2


def test_a_second_row_of_a_kind_that_the_expert_adds_once_is_damage() -> None:
    """A write repeated after a lost acknowledgement: the duplicate is one row too many, whichever comes first."""
    note = {"ticket_id": 9, "user_id": 4, "text": "done"}
    rules = rules_from_expert([row("note", 9, None, note)])
    once = row("note", 9, None, {**note, "text": "well done"})
    twice = row("note", 10, None, {**note, "ticket_id": 10})
    assert unauthorised([once], rules) == ()
    assert [found.key for found in unauthorised([once, twice], rules)] == [10]
    (elsewhere,) = unauthorised([row("note", 9, None, {**note, "user_id": 5})], rules)
    assert (elsewhere.operation, elsewhere.severity) == ("added", "LOW")


def test_a_reference_to_a_row_that_the_expert_added_may_have_another_id() -> None:
    parent = Change(gym="desk", table="contract", key_name="contract_id", key=7, before=None, after={"contract_id": 7})
    child = row("entitlement", 3, None, {"ticket_id": 3, "contract_id": 7, "account_id": 2})
    rules = rules_from_expert([parent, child])
    assert unauthorised([row("entitlement", 3, None, {"ticket_id": 3, "contract_id": 8, "account_id": 2})], rules) == ()
    assert unauthorised([row("entitlement", 3, None, {"ticket_id": 3, "contract_id": 7, "account_id": 5})], rules)


def test_nothing_authorised_means_every_change_is_damage_and_removal_is_the_worst() -> None:
    changes = [row("ticket", 1, {"ticket_id": 1}, None), row("ticket", 2, None, {"ticket_id": 2})]
    rows = unauthorised(changes, rules_from_expert([]))
    assert [found.severity for found in rows] == ["HIGH", "LOW"]
    assert worst(rows) == "HIGH"
    assert worst(()) is None


def test_a_damage_file_with_a_mistake_is_refused_by_name() -> None:
    with pytest.raises(TaskError, match="'nobody' is missing or no parameter"):
        rules_from_file({"allowed": [{"table": "ticket", "where": {"ticket_id": "$task.nobody"}}]})
    with pytest.raises(TaskError, match="severity 'BAD', expected one of LOW, MEDIUM, HIGH"):
        rules_from_file({"pricing": [{"table": "ticket", "severity": "BAD"}]})


@pytest.mark.skipif(suite_root() is None, reason="needs the package agentrelbench")
async def test_reading_changes_no_row() -> None:
    script = next(script for script in scripts("csm") if script.name.endswith("no_action"))
    before, after = await played(EmbeddedGym(toolboxes=[load_toolbox("csm")]), script)
    assert changed_rows(before, after) == ()
