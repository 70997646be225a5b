"""A session, a task's checks and what the agent did in, a `Verdict` out. Reads only: verifying twice changes nothing.

Parity with the benchmark and the strict verdict are both properties of the one `Verdict` returned here. A check that
cannot be scored is "unscored", with a reason, and never a pass.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from robustops.core.episode import CheckResult, ToolCall, Verdict
from robustops.core.errors import TaskError
from robustops.core.task import Check, CheckGraph, Task
from robustops.gym.comparison import compare, extract_value
from robustops.gym.judge import Judge, grade
from robustops.gym.session import Session

logger = logging.getLogger(__name__)

DEFAULT_MINIMUM_SCORE = 7
DEFAULT_MINIMUM_CALLS = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class _Evidence:
    session: Session
    calls: Sequence[ToolCall]
    answer: str
    judge: Judge | None


async def verify(
    session: Session,
    task: Task,
    *,
    graph: CheckGraph | None,
    calls: Sequence[ToolCall],
    answer: str,
    judge: Judge | None,
) -> Verdict:
    """Run every check of the task against the session's databases.

    `graph`: prerequisites between checks; None means none. An unscored check counts as not passed in `gated`.
    Raises GymError when a server does not answer: then there is no verdict, rather than a failed one.
    """
    if graph is not None and graph.num_checks != len(task.checks):
        raise ValueError(f"task {task.task_id}: {len(task.checks)} checks, but its graph has {graph.num_checks}")
    evidence = _Evidence(session=session, calls=calls, answer=answer, judge=judge)
    known_gyms = frozenset(server.name for server in task.servers)
    # Gathered with exceptions as values: no check may still be reading when the caller closes the session.
    outcomes = await asyncio.gather(
        *(_run(evidence, check, known_gyms) for check in task.checks), return_exceptions=True
    )
    results = tuple(_or_raise(outcome) for outcome in outcomes)
    if all(result.passed is None for result in results):
        reasons = sorted({result.reason for result in results}) or ["the task has none"]
        logger.warning("task %s: no check could be scored: %s", task.task_id, "; ".join(reasons))
    edges = graph or CheckGraph(num_checks=len(results))
    return Verdict(checks=results, gated=edges.gated(tuple(result.passed is True for result in results)))


def _or_raise(outcome: CheckResult | BaseException) -> CheckResult:
    if isinstance(outcome, BaseException):
        raise outcome
    return outcome


async def _run(evidence: _Evidence, check: Check, known_gyms: frozenset[str]) -> CheckResult:
    if check.gym and check.gym not in known_gyms:
        return _unscored(check, f"gym {check.gym!r} is not among the task's servers")
    match check.kind:
        case "database_state":
            return await _database_state(evidence, check)
        case "tool_execution":
            return _tool_execution(evidence, check)
        case "response_check":
            return await _response_check(evidence, check)
    return _result(check, passed=False, reason=f"unsupported verifier type {check.kind!r}")


async def _database_state(evidence: _Evidence, check: Check) -> CheckResult:
    if not check.query:
        return _result(check, passed=False, reason="no SQL query")
    reply = await evidence.session.query(check.query, check.gym)
    if (message := sql_error(reply)) is not None:
        return _result(check, passed=False, reason=f"SQL error: {message}")
    value = extract_value(reply)
    outcome = compare(value, check.expected, check.comparison)
    return _result(check, passed=outcome.passed, value=value, reason=outcome.details)


def _tool_execution(evidence: _Evidence, check: Check) -> CheckResult:
    wanted = list(check.config.get("selected_tools") or ())
    minimum = _minimum(check, "minimum_tool_calls", DEFAULT_MINIMUM_CALLS)
    called = [call.name for call in evidence.calls]
    missing = [name for name in wanted if name not in called]
    reason = f"{len(called)} calls, at least {minimum} wanted; never called: {', '.join(missing) or 'none'}"
    return _result(check, passed=not missing and len(called) >= minimum, value=called, reason=reason)


async def _response_check(evidence: _Evidence, check: Check) -> CheckResult:
    query = check.config.get("sql_query") or check.query
    criterion = check.config.get("comparison_prompt")
    if not query or not criterion:
        return _result(check, passed=False, reason="no sql_query or no comparison_prompt")
    reply = await evidence.session.query(query, check.gym)
    if (message := sql_error(reply)) is not None:
        return _result(check, passed=False, reason=f"SQL error: {message}")
    if evidence.judge is None:
        return _unscored(check, "no judge is configured")
    rows = extract_value(reply)
    judgement = await grade(evidence.judge, criterion=str(criterion), rows=rows, answer=evidence.answer)
    if judgement.score is None:
        return _unscored(check, judgement.reason)
    minimum = _minimum(check, "minimum_comparison_value", DEFAULT_MINIMUM_SCORE)
    return _result(check, passed=judgement.score >= minimum, value=judgement.score, reason=judgement.reason)


def sql_error(reply: Any) -> str | None:
    """The message of a sql-runner's refusal (its HTTP 400 body), or None for an answer."""
    if not isinstance(reply, Mapping) or any(key in reply for key in ("data", "rows")):
        return None
    if "detail" in reply:
        return str(reply["detail"])
    if reply.get("success") is False:
        return str(reply.get("error") or reply.get("message") or "the query was refused")
    return None


def _minimum(check: Check, key: str, default: float) -> float:
    value = check.config.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TaskError(f"check {check.index} ({check.name}): {key}: got {value!r}, expected a number")
    return value


def _unscored(check: Check, reason: str) -> CheckResult:
    return _result(check, passed=None, reason=reason)


def _result(check: Check, *, passed: bool | None, value: Any = None, reason: str = "") -> CheckResult:
    return CheckResult(
        index=check.index,
        name=check.name,
        passed=passed,
        value=value,
        expected=check.expected,
        comparison=check.comparison,
        reason=reason,
    )
