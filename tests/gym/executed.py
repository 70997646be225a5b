"""Executes a domain's cases, each in a session of its own, and counts the tools that did what their case states."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path

from tool_cases import (
    Changes,
    DomainCases,
    Refused,
    Rows,
    Success,
    all_rows,
    content,
    difference,
    fits,
    new_keys,
    resolved,
)

from robustops.gym.domain import Domain
from robustops.gym.domains import load_domain, load_toolbox
from robustops.gym.embedded import EmbeddedGym
from robustops.gym.session import Session


@dataclass(slots=True, kw_only=True)
class Executed:
    """`succeeded`, `refused`: tools whose case held. `faults`: what did not hold, one line each."""

    domain: str
    num_tools: int
    succeeded: set[str] = field(default_factory=set)
    refused: set[str] = field(default_factory=set)
    faults: list[str] = field(default_factory=list)

    @property
    def line(self) -> str:
        ways = {"success": self.succeeded, "error": self.refused}
        return f"{self.domain}: " + ", ".join(f"{way} {len(tools)} of {self.num_tools}" for way, tools in ways.items())


async def execute(cases: DomainCases, folder: Path, *, only: Collection[str] = ()) -> Executed:
    """`only`: some tools instead of all of them."""
    domain = load_domain(cases.domain)
    found = Executed(domain=cases.domain, num_tools=len(domain.tools))
    gym, task = EmbeddedGym(toolboxes=(load_toolbox(cases.domain),)), cases.task(folder)
    for name in only or domain.tools:
        for way, held, stated in (
            ("success", found.succeeded, cases.successes),
            ("error", found.refused, cases.refusals),
        ):
            if name not in stated:
                found.faults.append(f"{name}, {way}: no case")
                continue
            case = stated[name]
            context = case.context if isinstance(case, Refused) else None
            async with gym.open(task if context is None else cases.task(folder, context)) as session:
                fault = await _fault(session, domain, name, case)
            if fault:
                found.faults.append(f"{name}, {way}: {fault}")
            else:
                held.add(name)
    return found


async def _fault(session: Session, domain: Domain, name: str, case: Success | Refused) -> str:
    """What is not as stated, or nothing."""
    before, digest = await all_rows(session, domain), await session.state_hash()
    result = await session.call(name, case.arguments)
    changes = difference(before, await all_rows(session, domain))
    if (await session.state_hash() == digest) is bool(changes):
        return f"the hash and the rows disagree on a change: {changes}"
    is_refusal = isinstance(case, Refused) and domain.failures != "unflagged"  # such a server forgets the flag
    is_mishap = isinstance(case, Success) and case.is_error
    if not result.executed or result.is_error is not (is_refusal or is_mishap):
        return f"is_error {result.is_error}: {result.text[:300]}"
    if isinstance(case, Refused):
        if case.text not in result.text or not (result.is_error or case.text):
            return f"refused with {result.text[:300]}"
        return f"refused, yet changed {changes}" if changes else ""
    keys = new_keys(before, changes)
    if not _same_changes(before, resolved(case.changes, keys), changes):
        return f"changed {changes}, stated {case.changes}"
    if case.reply is not None and not fits(resolved(case.reply, keys), content(result)):
        return f"replied {result.text[:600]}, stated {case.reply}"
    if case.reply is None and not case.changes:
        return "the case states neither reply nor change"
    return ""


def _same_changes(before: Rows, stated: Changes, changes: Changes) -> bool:
    """New rows may be stated in part; every other change must be stated whole."""
    if stated.keys() != changes.keys():
        return False
    for table, rows in stated.items():
        if rows.keys() != changes[table].keys():
            return False
        for key, row in rows.items():
            is_new = key not in before[table]
            if row != changes[table][key] and not (is_new and fits(row, changes[table][key])):
                return False
    return True
