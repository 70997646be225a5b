"""What a real evaluation writes passes the check: the two sides of the files agree on every key."""

from __future__ import annotations

from pathlib import Path

from analysis.check import check_run
from robustops.core.episode import CheckResult, Episode, FaultEvent, FaultPlan, ToolCall, ToolResult, Turn, Verdict
from robustops.core.episode_row import write_episodes
from robustops.core.json_lines import append_line
from robustops.core.task import Case, Check, Task
from robustops.rollout.rows import RunIdentity, row_of
from robustops.rollout.trajectory import dump_episode

TASK = Task(
    task_id="csm/1",
    domain="csm",
    policy="",
    request="",
    tools=("find_account",),
    servers=(),
    checks=(
        Check(index=0, kind="database_state", name="state", gym=None, query="SELECT 1", expected="closed"),
        Check(index=1, kind="database_state", name="count", gym=None, query="SELECT 2", expected=2),
    ),
)


def verdict(state: str, count: int) -> Verdict:
    checks = (
        CheckResult(
            index=0, name="state", passed=state == "closed", value=state, expected="closed", comparison="equals"
        ),
        CheckResult(index=1, name="count", passed=count == 2, value=count, expected=2, comparison="equals"),
    )
    return Verdict(checks=checks, gated=sum(check.passed is True for check in checks))


def turn(
    context: int, sampled: int, *, call: bool = True, malformed: str | None = None, generated: bool = True
) -> Turn:
    reply = ToolResult(text="{}", observation='{"content": []}')
    return Turn(
        context_ids=tuple(range(context)),
        sampled_ids=tuple(range(sampled)),
        logprobs=(0.0,) * sampled,
        weight_version=3,
        text="",
        call=ToolCall(name="find_account", arguments={"name": "Acme"}) if call else None,
        malformed=malformed,
        shown=reply if call else None,
        native=reply if call else None,
        generated=generated,
    )


def test_episodes_that_the_rollout_writes_are_confirmed(tmp_path: Path) -> None:
    fault = FaultEvent(
        subtype="throttled", call_index=0, native="{}", shown="", hash_before="", hash_after="", remaining_cap=0
    )
    plan = FaultPlan(subtype="throttled", tool="find_account", signature="s", cap=1, seed=0)
    clean = Episode(
        case=Case(task_id="csm/1"),
        turns=(turn(50, 6), turn(9, 7, call=False, malformed="not JSON"), turn(4, 2, call=False)),
        boundary=verdict("open", 2),
        end=verdict("closed", 2),
        stop_reason="stop",
    )
    recovered = Episode(
        case=Case(task_id="csm/1", condition="fault"),
        turns=(turn(50, 6, generated=False), turn(9, 5), turn(4, 8, call=False, malformed="cut")),
        boundary=verdict("open", 2),
        end=verdict("open", 1),
        stop_reason="length",
        faults=(fault,),
        plan=plan,
    )
    broken = Episode(
        case=Case(task_id="csm/1", attempt=1),
        turns=(),
        boundary=None,
        end=None,
        stop_reason="infrastructure",
        error_kind="GymTimeout",
    )
    identity = RunIdentity(run="r", model="tiny", stage="sft", split="test", seed=0, policy_mode="greedy")
    episodes = (clean, recovered, broken)
    write_episodes(tmp_path / "episodes.parquet", [row_of(episode, TASK, identity) for episode in episodes])
    for episode in episodes:
        append_line(tmp_path / "trajectories.jsonl", dump_episode(episode))
    checked = check_run(tmp_path)
    assert (checked.num_episodes, checked.num_values, checked.num_judged) == (3, 8, 0)
