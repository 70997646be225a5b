"""Replays a recorded run on its overlay and tells, call by call and check by check, where we differ from it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from recorded_teams import TOKEN, RecordedCall, RecordedRun, Seed, as_json, fill

from robustops.gym.clock import VirtualClock
from robustops.gym.comparison import extract_value
from robustops.gym.engine import Engine
from robustops.gym.seed import build_seed
from robustops.gym.toolbox import Toolbox

# What the server draws: hexadecimal ids with or without a prefix, UUIDs, pairs of them, milliseconds.
_DRAWN = re.compile(r"^(?:[a-z]+_)?(?:[0-9a-f]{32}|[0-9a-f]{16}|\d{13}|[0-9a-f-]{36}(?:@[0-9a-f-]{36})?)$")
_TIME = re.compile(r"^\d{4}-\d\d-\d\dT[\d:.]+(Z|\+00:00)?$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One recorded call and what differs in our reply, nothing where they agree."""

    run: str
    call: RecordedCall
    differences: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """One recorded check: the value of the real server, and ours."""

    run: str
    check: str
    theirs: Any
    ours: Any


@dataclass(slots=True)
class DrawnIds:
    """The ids that the recorded server drew, and ours in their place."""

    ours: dict[str, str] = field(default_factory=dict)

    def learn(self, theirs: Any, ours: Any) -> None:
        if isinstance(theirs, Mapping) and isinstance(ours, Mapping):
            for name in theirs.keys() & ours.keys():
                self.learn(theirs[name], ours[name])
        elif isinstance(theirs, list) and isinstance(ours, list):
            for one, other in zip(theirs, ours, strict=False):
                self.learn(one, other)
        elif theirs != ours and _is_drawn(theirs) and _is_drawn(ours):
            self.ours.setdefault(theirs, ours)

    def translated(self, text: str) -> str:
        for theirs, ours in self.ours.items():
            text = text.replace(theirs, ours)
        return text


def replay(toolbox: Toolbox, run: RecordedRun, others: Seed) -> tuple[list[Answer], list[Value]]:
    engine = Engine(toolbox, build_seed(toolbox.domain, ""), VirtualClock(), {"x-teams-access-token": TOKEN})
    fill(engine.database, toolbox.domain, run, others)
    ids = DrawnIds()
    answers = []
    for call in run.calls:
        result = engine.call(call.tool, json.loads(ids.translated(json.dumps(call.arguments))))
        ours, theirs = as_json(result.text), call.reply
        ids.learn(theirs, ours)
        found = [] if call.is_error == result.is_error else [f"is_error: theirs {call.is_error}"]
        found += differences(json.loads(ids.translated(json.dumps(theirs))), ours)
        answers.append(Answer(run=run.name, call=call, differences=tuple(found)))
    values = []
    for check in run.checks:
        ours = extract_value(engine.sql_runner.run(ids.translated(check.query)))
        values.append(Value(run=run.name, check=check.name, theirs=check.actual, ours=ours))
    engine.close()
    return answers, values


def differences(theirs: Any, ours: Any, path: str = "") -> Iterator[str]:
    """Field by field; times that a clock wrote are alike."""
    if isinstance(theirs, Mapping) and isinstance(ours, Mapping):
        for name in [*theirs, *(name for name in ours if name not in theirs)]:
            yield from differences(theirs.get(name, "<absent>"), ours.get(name, "<absent>"), f"{path}/{name}")
    elif isinstance(theirs, list) and isinstance(ours, list) and len(theirs) == len(ours):
        for place, (one, other) in enumerate(zip(theirs, ours, strict=True)):
            yield from differences(one, other, f"{path}[{place}]")
    elif theirs != ours and not (path.endswith("DateTime") and _is_time(theirs) and _is_time(ours)):
        yield f"{path}: theirs {theirs!r}, ours {ours!r}"


def _is_drawn(value: Any) -> bool:
    return isinstance(value, str) and _DRAWN.match(value) is not None


def _is_time(value: Any) -> bool:
    return isinstance(value, str) and _TIME.match(value) is not None
