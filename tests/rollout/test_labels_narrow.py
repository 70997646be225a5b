"""Labels narrow what a scout considers, and can make nothing eligible that no call bears out."""

from dataclasses import replace

import pytest
from desk_agent import DeskPolicy, careful
from desk_gym import desk_task
from desk_setup import desk_setup

from robustops.core.errors import ManifestError
from robustops.faults.labels import Labels
from robustops.faults.scheduler import Scheduler
from robustops.rollout.freeze import freeze
from robustops.rollout.observe import observe

TASK = desk_task()
SETUP = desk_setup(DeskPolicy(careful), seed=1)


async def planned(subtype: str, *pairs: tuple[str, str]) -> str | None:
    labels = Labels(sha256="", allowed={TASK.task_id: frozenset(pairs)})
    plans = await freeze(replace(SETUP, labels=labels), [TASK], Scheduler((subtype,), seed=1))
    plan = plans[f"{TASK.task_id}|oracle"]
    return plan.tool if plan is not None else None


async def test_only_labelled_tools_are_considered() -> None:
    assert await planned("throttled", ("create_case", "throttled")) == "create_case"
    assert await planned("throttled", ("find_account", "throttled")) == "find_account"
    assert await planned("throttled", ("list_cases", "throttled")) is None  # labelled, and never called


async def test_a_label_alone_makes_nothing_eligible() -> None:
    assert await planned("lost_ack", ("find_account", "lost_ack")) is None


async def test_a_kind_without_a_label_is_not_injected() -> None:
    assert await planned("throttled", ("create_case", "lost_ack")) is None


async def test_a_task_without_labels_is_a_mistake() -> None:
    with pytest.raises(ManifestError, match="no row for task 'desk/1'"):
        await freeze(replace(SETUP, labels=Labels(sha256="", allowed={})), [TASK], Scheduler(("throttled",), seed=1))


async def test_a_clean_pass_is_observed_by_its_shapes() -> None:
    seen = {tool.tool.name: tool.replies for tool in (await observe(SETUP, TASK)).tools}
    assert [shape.form for shape in seen["find_account"]] == ["object"]
    (created,) = seen["create_case"]
    assert (created.is_write, created.arguments) == (True, ("account_id", "title"))
    assert seen["update_case"] == ()
