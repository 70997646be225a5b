"""Which faults suit which tools: by rule from shapes, or from a model whose answers are checked and asked again."""

import json
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

import pytest
from desk_gym import DeskSession, desk_task

from robustops.core.episode import ToolResult
from robustops.core.errors import PolicyError
from robustops.core.task import ToolSchema
from robustops.faults.catalogue import KINDS
from robustops.faults.labels import Candidate
from robustops.faults.mechanism import Attempt
from robustops.faults.selector.evidence import TaskEvidence, ToolEvidence, as_json, shape_of
from robustops.faults.selector.llm import LlmSelector, prompt
from robustops.faults.selector.rules import select_by_rules
from robustops.llm.backoff import Backoff
from robustops.llm.http import Endpoint, HttpCompletion
from robustops.llm.spend import Price
from tests.llm.fake_endpoint import FakeEndpoint, chat_reply, served

ROWS = json.dumps([{"case_id": number, "title": "x" * 30} for number in range(3)])
ONE = json.dumps({"account_id": 1, "name": "Acme"})


def evidence(*calls: tuple[str, dict[str, Any], str, bool]) -> TaskEvidence:
    """`calls`: tool, arguments, reply text, whether the databases changed."""
    tools = []
    for tool in DeskSession().tools:
        replies = [
            shape_of(
                Attempt(
                    tool=tool,
                    arguments=arguments,
                    hash_before="1",
                    native=ToolResult(text=text, observation="{}", is_error=text.startswith("API Error")),
                    hash_after="2" if changed else "1",
                )
            )
            for name, arguments, text, changed in calls
            if name == tool.name
        ]
        tools.append(ToolEvidence(tool=tool, replies=tuple(replies)))
    return TaskEvidence(task=desk_task(), tools=tuple(tools))


def chosen(found: Sequence[Candidate], tool: str) -> set[str]:
    return {candidate.subtype for candidate in found if candidate.tool == tool}


ANY = {"throttled", "unavailable", "permanent_outage", "schema_drift"}


def test_rules_go_by_the_shapes_that_were_seen() -> None:
    found = select_by_rules(
        evidence(
            ("find_account", {"name": "Acme"}, ONE, False),
            ("list_cases", {"account_id": 1}, ROWS, False),
            ("create_case", {"account_id": 1, "title": "x"}, ONE, True),
        )
    )
    assert chosen(found, "find_account") == ANY | {"swapped_reply", "stale_read"}
    assert chosen(found, "list_cases") == ANY | {"partial_list", "truncated_reply", "dropped_filter", "stale_read"}
    assert chosen(found, "create_case") == ANY | {"lost_ack", "timeout_not_committed", "silent_noop"}
    assert chosen(found, "update_case") == ANY  # not called: nothing is known of its replies
    assert all(candidate.reason for candidate in found)
    assert len({(candidate.tool, candidate.subtype) for candidate in found}) == len(found)


@pytest.mark.parametrize(
    ("call", "left_out"),
    [
        (("list_cases", {"account_id": 1}, '[{"case_id": 1}]', False), {"partial_list", "truncated_reply"}),
        (("list_cases", {}, ROWS, False), {"dropped_filter"}),
        (("find_account", {"name": "No"}, "{}", False), {"swapped_reply", "truncated_reply"}),
        (("create_case", {"title": "x"}, "API Error [create_case]: no", False), {"lost_ack", "silent_noop"}),
    ],
)
def test_rules_leave_out_what_a_mechanism_would_refuse(call: Any, left_out: set[str]) -> None:
    assert chosen(select_by_rules(evidence(call)), call[0]) & left_out == set()


def test_a_schema_that_promises_a_list_is_a_ground_without_a_reply() -> None:
    properties = {"name": {"type": "string"}, "limit": {"type": "integer"}}
    tool = ToolSchema(
        name="list_it",
        description="",
        gym="g",
        output_schema={"type": "array"},
        input_schema={"properties": properties},
    )
    found = select_by_rules(TaskEvidence(task=desk_task(), tools=(ToolEvidence(tool=tool, replies=()),)))
    assert chosen(found, "list_it") == ANY | {"partial_list", "truncated_reply", "dropped_filter"}


def test_what_a_model_is_told_holds_shapes_and_no_values_of_checks_or_rows() -> None:
    told = json.dumps(as_json(evidence(("find_account", {"name": "Acme"}, ONE.replace("Acme", "SECRET"), False))))
    assert "SECRET" not in told
    assert "SELECT" not in told
    assert "one case" in told  # a check is told by its name
    assert '"server": "desk-server"' in told


def answer(*pairs: tuple[str, str]) -> str:
    return json.dumps({"candidates": [{"tool": tool, "subtype": subtype, "reason": "r"} for tool, subtype in pairs]})


def selector_at(endpoint: FakeEndpoint, **options: Any) -> LlmSelector:
    price = Price(prompt=2.0, completion=8.0)
    completion = HttpCompletion(
        Endpoint(url=endpoint.url, model="m", backoff=Backoff(max_tries=1), price=price), sleep=_no_wait
    )
    return LlmSelector(completion=completion, **options)


async def _no_wait(seconds: float) -> None:
    pass


GOOD = answer(("create_case", "lost_ack"), ("list_cases", "partial_list"))


async def test_a_good_answer_is_taken_as_it_is() -> None:
    usage = {"prompt_tokens": 1000, "completion_tokens": 100}
    async with served(chat_reply(GOOD, usage=usage)) as endpoint:
        selector = selector_at(endpoint)
        found = await selector(evidence())
        spend = selector.completion.spend
        await selector.completion.close()
    assert [(one.tool, one.subtype, one.reason) for one in found] == [
        ("create_case", "lost_ack", "r"),
        ("list_cases", "partial_list", "r"),
    ]
    (body,) = endpoint.bodies
    assert body["temperature"] == 0.0
    assert [message["role"] for message in body["messages"]] == ["system", "user"]
    assert "Open a case for Acme" in body["messages"][1]["content"]
    assert (spend.prompt_tokens, spend.completion_tokens) == (1000, 100)
    assert spend.cost_usd == pytest.approx(1000 * 2e-6 + 100 * 8e-6)


@pytest.mark.parametrize(
    ("bad", "complaint"),
    [
        ("Sure! Here you go.", "Invalid JSON"),
        (f"```json\n{GOOD}\n```", "Invalid JSON"),
        ('{"candidates": [{"tool": "create_case", "subtype": "lost_ack"}]}', "candidates.0.reason: Field required"),
        ('{"candidates": [], "notes": "none"}', "notes: Extra inputs"),
        ('{"candidates": [{"tool": "create_case", "subtype": "lost_ack", "reason": ""}]}', "at least 1 character"),
        (answer(("delete_everything", "lost_ack")), "no tool 'delete_everything'; the tools are find_account"),
        (answer(("create_case", "lost_acks")), "no kind 'lost_acks'; the kinds are throttled"),
        (answer(("create_case", "lost_ack"), ("create_case", "lost_ack")), "proposed twice"),
    ],
)
async def test_a_bad_answer_is_sent_back_with_the_reason(bad: str, complaint: str) -> None:
    async with served(chat_reply(bad), chat_reply(GOOD)) as endpoint:
        selector = selector_at(endpoint)
        assert len(await selector(evidence())) == 2
        await selector.completion.close()
    first, second = endpoint.bodies
    assert second["messages"][:2] == first["messages"]
    assert second["messages"][2] == {"role": "assistant", "content": bad}
    assert complaint in second["messages"][3]["content"]


async def test_an_answer_that_was_cut_off_is_asked_for_again() -> None:
    async with served(chat_reply(GOOD[:40], finish="length"), chat_reply(GOOD)) as endpoint:
        selector = selector_at(endpoint, max_tokens=77)
        assert len(await selector(evidence())) == 2
        await selector.completion.close()
    assert "cut off after 77 tokens" in endpoint.bodies[1]["messages"][3]["content"]


async def test_a_model_that_never_answers_well_is_given_up_by_the_task() -> None:
    async with served(chat_reply("no")) as endpoint:
        selector = selector_at(endpoint, max_tries=3)
        with pytest.raises(PolicyError, match=r"task 'desk/1': no usable answer in 3 tries; the last: .*Invalid JSON"):
            await selector(evidence())
        await selector.completion.close()
    assert len(endpoint.bodies) == 3


def test_the_prompt_explains_every_kind_and_no_other() -> None:
    listed = [line.split(":")[0].removeprefix("- ") for line in prompt("system.md").splitlines() if line[:2] == "- "]
    assert listed == list(KINDS)


def test_the_prompts_are_package_files() -> None:
    folder = files("robustops.faults.selector") / "prompts"
    assert {entry.name for entry in folder.iterdir() if entry.name.endswith(".md")} == {
        "system.md",
        "user.md",
        "refused.md",
    }
