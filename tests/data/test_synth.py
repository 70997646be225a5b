"""What the generator promises about its tasks, without playing them."""

from __future__ import annotations

import json
import re
from itertools import combinations
from random import Random
from typing import get_args

import pytest

from robustops.agent.plan import Value
from robustops.core.errors import SplitError, TaskError
from robustops.core.task import Part
from robustops.data.synth.generate import DOMAINS, GENERATED, SynthTask, draw, draw_all, generate
from robustops.data.synth.names import Names, part_of_name
from robustops.data.synth.world import World
from robustops.data.task_set import TaskSet

PARTS = get_args(Part)
NUM_TEMPLATES = sum(len(domain.templates) for domain in GENERATED.values())
SIZES: dict[Part, int] = {"train": 5 * NUM_TEMPLATES, "val": 2 * NUM_TEMPLATES, "test": 3 * NUM_TEMPLATES}
NAME_COLUMNS = {"name", "serial_number", "email_domain", "summary", "display_name", "topic"}
COMMON = {"General", "Team"}  # the first channel of every team, the alias of every mailbox
APP_TABLES = {"apps", "teams_apps", "teams_channel_tabs", "teams_chat_tabs"}
ID = re.compile(r"\b(?:(?:[A-Z]+_)?\d+|[0-9a-f-]{36})\b")


@pytest.fixture(scope="module")
def tasks() -> list[SynthTask]:
    return list(draw_all(domains=list(GENERATED), sizes=SIZES, seed=7))


def of(tasks: list[SynthTask], part: Part) -> list[SynthTask]:
    return [task for task in tasks if task.part == part]


def test_sizes_and_shares_are_as_asked(tasks):
    assert {part: len(of(tasks, part)) for part in PARTS} == SIZES
    assert {task.domain for task in of(tasks, "val")} == set(GENERATED)
    assert len({task.task_id for task in tasks}) == len(tasks)


def test_each_domain_has_at_least_six_templates_to_train_on_and_holds_one_out():
    for name, domain in GENERATED.items():
        assert [template.held_out for template in domain.templates].count(True) == 1
        assert len(domain.templates) - 1 >= (4 if name == "hybrid" else 6)


def test_held_out_templates_occur_in_test_only_and_every_other_in_all_parts(tasks):
    held_out = {t.name for d in GENERATED.values() for t in d.templates if t.held_out}
    every = {t.name for d in GENERATED.values() for t in d.templates}
    assert {task.template for task in of(tasks, "train")} == every - held_out
    assert {task.template for task in of(tasks, "val")} == every - held_out
    assert {task.template for task in of(tasks, "test")} == every
    assert all(task.held_out == (task.template in held_out) for task in tasks)


def test_no_test_request_and_no_template_with_its_arguments_occurs_in_training(tasks):
    def requests(part: Part) -> set[str]:
        return {task.content["user_prompt"] for task in of(tasks, part)}

    def identities(part: Part) -> set[tuple[object, ...]]:
        return {(task.template, *sorted(task.draft.slots.items())) for task in of(tasks, part)}

    for one, other in combinations(PARTS, 2):
        assert not requests(one) & requests(other)
        assert not identities(one) & identities(other)
    assert len(identities("test")) == SIZES["test"]


def world_names(world: World) -> set[str]:
    """Names of things as their own, and of people in full."""
    found = set()
    for table in world.tables.keys() - APP_TABLES:
        for row in world.tables[table]:
            # Labels that every mailbox has and fields that every drive has.
            if row.get("type") == "system" or (table == "labels" and "key" in row):
                continue
            found |= {str(row[column]) for column in NAME_COLUMNS & set(row) if row[column] is not None} - COMMON
            if "first_name" in row:
                found.add(f"{row['first_name']} {row['last_name']}")
    return found


@pytest.mark.parametrize("domain", DOMAINS)
def test_no_name_of_a_test_database_occurs_in_a_training_one(domain):
    names = {
        part: set().union(*(world_names(DOMAINS[domain].build(part, Random(f"{part}{k}"), 24)) for k in range(6)))
        for part in PARTS
    }
    assert all(len(found) > 50 for found in names.values())
    for one, other in combinations(PARTS, 2):
        assert not names[one] & names[other]


def test_a_quarter_of_the_request_patterns_occurs_in_test_only():
    for domain in GENERATED.values():
        for template in domain.templates:
            unseen = set(template.patterns_of("test")) - set(template.patterns_of("train"))
            assert template.patterns_of("train") == template.patterns_of("val")
            assert len(template.patterns_of("train")) >= 3
            assert len(unseen) / len(template.patterns) == 0.25


def test_requests_of_unseen_wording_do_occur_in_test(tasks):
    by_name = {t.name: t for d in GENERATED.values() for t in d.templates}
    num_unseen = 0
    for task in tasks:
        texts = [pattern.format(**task.draft.slots) for pattern in by_name[task.template].patterns]
        num_unseen += (place := texts.index(task.content["user_prompt"])) == 3
        assert place < 3 or task.part == "test"
    assert num_unseen >= 10


def test_a_small_set_is_the_beginning_of_a_large_one():
    small, large = (list(draw(DOMAINS["csm"], "test", size, seed=3)) for size in (14, 30))
    assert [task.sha256 for task in small] == [task.sha256 for task in large[:14]]
    assert [task.sha256 for task in draw(DOMAINS["csm"], "test", 14, seed=4)] != [task.sha256 for task in small]


def test_every_task_offers_four_to_eight_tools_its_plan_among_them_and_two_to_six_checks(tasks):
    for task in tasks:
        tools = task.content["selected_tools"]
        assert 4 <= len(tools) == len(set(tools)) <= 8
        assert set(task.plan.tools) <= set(tools)
        assert 2 <= len(task.content["verifiers"]) <= 6
        assert any(step.is_write for step in task.plan.steps)


def test_policies_are_short_and_everything_is_ascii(tasks):
    """150 tokens: words and punctuation marks, which is what a tokenizer trained on these texts makes of them."""
    for domain in GENERATED.values():
        assert len(re.findall(r"\w+|[^\w\s]", domain.policy)) <= 150
    for task in tasks:
        assert (json.dumps(task.content, ensure_ascii=False) + "".join(host.seed_sql for host in task.hosts)).isascii()


def test_a_plan_states_only_what_the_request_or_the_policy_states(tasks):
    for task in tasks:
        stated = f"{task.content['user_prompt']} {task.content['system_prompt']}"
        for leaf in (leaf for step in task.plan.steps for leaf in step.leaves() if isinstance(leaf, Value)):
            assert ("active" if leaf.value is True else str(leaf.value)) in stated, (task.task_id, leaf.value)


def test_no_request_names_an_id_of_the_database(tasks):
    """Ids must be copied from replies: the checks know some, the request none of those."""
    for task in tasks:
        in_checks = set(re.findall(r"_?id = '?([A-Z_]*\d+\b|[0-9a-f-]{36})", json.dumps(task.content["verifiers"])))
        mentioned = set(ID.findall(task.content["user_prompt"])) - {str(v) for v in task.draft.slots.values()}
        assert not in_checks & mentioned


def test_ids_have_gaps_and_differ_from_database_to_database():
    one, other = (DOMAINS["csm"].build("train", Random(k), 24) for k in "ab")
    ids = [row["account_id"] for row in one.rows("account")]
    assert all(1 <= number < 10_000 for number in ids)
    assert max(ids) - min(ids) > 4 * len(ids)
    assert ids != [row["account_id"] for row in other.rows("account")]


def test_names_run_out_with_a_clear_line():
    names = Names("test", Random(1))
    with pytest.raises(ValueError, match="no unused name left in part 'test'"):
        assert all(part_of_name(names.team()) == "test" for _ in range(1000))


def test_a_generated_set_loads_with_everything_in_its_place(tmp_path):
    num_tasks = generate(tmp_path, domains=["csm", "hr"], num_train=22, num_val=22, num_test=22, seed=1, num_rows=12)
    assert num_tasks == 66
    found = TaskSet.load(tmp_path)
    for task in found.tasks(found.split.entries):
        assert found.graphs[task.task_id].num_checks == len(task.checks)
        assert found.plans[task.task_id].steps
        assert task.template == found.split.entry(task.task_id).template
    assert len(found.split.select("test")) == 22
    # Thirteen csm and nine hr tasks a part, as many as templates; twelve share a database.
    assert len(list((tmp_path / "seeds").iterdir())) == 3 * (2 + 1)


def test_an_edited_task_and_an_edited_database_are_noticed(tmp_path):
    generate(tmp_path, domains=["csm"], num_train=1, num_val=1, num_test=1, seed=1, num_rows=12)
    found = TaskSet.load(tmp_path)
    for path in (tmp_path / "tasks" / "csm-val-00000.json", tmp_path / "seeds" / "csm-test-0000.sql"):
        path.write_text(path.read_text().replace("'active'", "'retired'", 1))
    found.task("csm-train-00000")
    for task_id in ("csm-val-00000", "csm-test-00000"):
        with pytest.raises(SplitError, match="edited or generated differently"):
            found.task(task_id)


def test_a_folder_without_a_task_set_and_an_unknown_domain_are_named(tmp_path):
    with pytest.raises(TaskError, match=r"no task set here \(split\.jsonl is missing\)"):
        TaskSet.load(tmp_path)
    with pytest.raises(ValueError, match="unknown domain 'cms'; synthetic tasks exist for csm, itsm, hr, "):
        generate(tmp_path, domains=["cms"], num_train=1, num_val=1, num_test=1, seed=1)
