"""Guidance: general words for a teacher's eyes alone, and nothing of it in what a student reads."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from robustops.agent.policy import Prompt, Sampling
from robustops.data.guidance import EXECUTION, RECOVERY, SEPARATOR, Guided, guided
from robustops.data.synth.generate import DOMAINS, generate
from robustops.data.task_set import TaskSet
from robustops.faults.catalogue import KINDS
from robustops.gym.domains import FOLDERS, load_domain

BOTH = f"{EXECUTION}{SEPARATOR}{RECOVERY}"
MESSAGES = ({"role": "system", "content": "The policy."}, {"role": "user", "content": "Do it."})


def test_only_the_end_of_the_system_message_differs():
    added = guided(MESSAGES, BOTH)
    assert added[1:] == MESSAGES[1:]
    assert added[0] == {"role": "system", "content": f"The policy.{SEPARATOR}{BOTH}"}


def test_a_conversation_without_a_system_message_takes_no_guidance():
    with pytest.raises(ValueError, match="starts with 'user'"):
        guided(MESSAGES[1:], EXECUTION)


class Recorder:
    def __init__(self) -> None:
        self.prompts: list[Prompt] = []

    async def act(self, prompt: Prompt, sampling: Sampling):
        self.prompts.append(prompt)

    async def close(self) -> None:
        return None


async def test_a_guided_policy_reads_other_messages_and_the_same_tokens():
    recorder = Recorder()
    prompt = Prompt(case_id="c", task_id="t", turn=0, token_ids=(1, 2, 3), messages=MESSAGES, tools=())
    await Guided(policy=recorder, text=EXECUTION).act(prompt, Sampling())
    (seen,) = recorder.prompts
    assert seen.messages == guided(MESSAGES, EXECUTION)
    assert (seen.token_ids, seen.tools, seen.turn) == (prompt.token_ids, prompt.tools, prompt.turn)


def difference(policy: str) -> str:
    """What a guided prompt says beyond the unguided one."""
    messages = ({"role": "system", "content": policy}, MESSAGES[1])
    return str(guided(messages, BOTH)[0]["content"]).removeprefix(policy)


def words_of_the_tasks(root: Path) -> set[str]:
    """Names of tools, tables, columns with an underscore, domains, and every literal of a check or a request."""
    generate(root, domains=sorted(DOMAINS), num_train=60, num_val=12, num_test=12, seed=3, num_rows=12)
    task_set, found = TaskSet.load(root), set()
    for task in task_set.tasks(task_set.split.entries):
        found |= {task.task_id, task.template, *task.tools}
        for check in task.checks:
            found |= {check.name, *re.findall(r"'([^']{3,})'|\b(\d{2,})\b", check.query)[0:0]}
            found |= {a or b for a, b in re.findall(r"'([^']{3,})'|\b(\d{2,})\b", check.query)}
    for name in FOLDERS:
        domain = load_domain(name)
        found |= {name, *(table for table in domain.tables if "_" in table), *(tool.name for tool in domain.catalogue)}
        found |= {column.name for table in domain.tables.values() for column in table.columns if "_" in column.name}
    return found


def test_guidance_names_no_task_tool_table_value_check_or_fault(tmp_path: Path):
    """Ordinary words that a check happens to hold as a value ("closed", "new") are not telling: they are listed."""
    text = difference("Be brief.").casefold()
    kinds = ({*KINDS} | {kind.family for kind in KINDS.values()}) - {"unavailable"}
    hidden = {
        word.casefold() for word in words_of_the_tasks(tmp_path / "set") | kinds | {"select", "verifier", "check"}
    }
    ordinary = {"check"}  # "check each record against your question"
    found = {word for word in hidden if re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text)}
    assert found <= ordinary


def test_guidance_is_short_and_holds_no_number_but_a_bound_on_retries():
    assert len(EXECUTION.split()) < 150
    assert len(RECOVERY.split()) < 150
    assert not re.findall(r"\d", BOTH)
    assert "at most three times" in RECOVERY


@pytest.mark.parametrize("topic", ["not executed", "read the record back", "incomplete", "something else", "refuses"])
def test_each_thing_a_reply_may_lack_has_its_rule(topic):
    assert topic in RECOVERY


def test_the_texts_are_plain_json():
    """They travel inside requests."""
    assert json.loads(json.dumps(BOTH)) == BOTH
