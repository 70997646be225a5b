"""What happened: calls, replies, turns, faults, verdicts, episodes. Frozen data, no behaviour beyond counting."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from robustops.core.task import Case, Condition

StopReason = Literal[
    "stop",  # the model ended its turn without a call: a native stop
    "length",  # one answer used up its output budget
    "context",  # the next answer no longer fits the context
    "max_turns",
    "deadline",
    "infrastructure",  # the gym or the engine failed; says nothing about the policy
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """One reply. `text` is the tool's text block; `observation` is what the benchmark shows the model.

    `observation`: the whole JSON-RPC `result` object as JSON text; `{}` where the transport failed.
    """

    text: str
    observation: str
    is_error: bool = False
    executed: bool = True
    latency_s: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultPlan:
    """A decided fault: which subtype hits which call, and how often at most. Not what happened.

    `intensity`: in [0, 1], how bad each event is; None leaves it to the seed.
    """

    subtype: str
    tool: str
    signature: str  # call_signature(tool, arguments)
    cap: int
    seed: int
    intensity: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultEvent:
    """A fault that did happen."""

    subtype: str
    call_index: int
    native: str
    shown: str
    hash_before: str
    hash_after: str
    remaining_cap: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One decision of the policy and what came back.

    `context_ids`: tokens appended since the end of the previous turn's sample (for the first turn, the whole prompt);
    the prompt of turn k is the concatenation of all context and sampled ids before it, never re-tokenised.
    `generated`: False for a turn inherited from a checkpoint; such tokens carry no loss.
    `logprobs`: of the sampled ids at sampling time; empty where the policy gives none.
    """

    context_ids: tuple[int, ...]
    sampled_ids: tuple[int, ...]
    logprobs: tuple[float, ...]
    weight_version: int
    text: str
    call: ToolCall | None = None
    malformed: str | None = None  # why the tool-call block could not be used
    shown: ToolResult | None = None
    native: ToolResult | None = None
    fault: FaultEvent | None = None
    generated: bool = True
    hash_before: str = ""
    hash_after: str = ""
    policy_s: float = 0.0
    dropped_calls: int = 0
    cached_tokens: int = 0
    reasoning_tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """One check's outcome. `passed is None` means unscored, which is not failed."""

    index: int
    name: str
    passed: bool | None
    value: Any = None
    expected: Any = None
    comparison: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Outcome of all checks at one moment; `gated` is N_dep under the task's check graph."""

    checks: tuple[CheckResult, ...]
    gated: int = 0

    @property
    def total(self) -> int:
        return len(self.checks)

    @property
    def scored(self) -> int:
        return sum(check.passed is not None for check in self.checks)

    @property
    def passed(self) -> int:
        return sum(check.passed is True for check in self.checks)

    @property
    def strict(self) -> bool | None:
        """All checks, by index, passed; None when there is none or any is unscored."""
        if not self.checks or self.scored < self.total:
            return None
        return self.passed == self.total

    @property
    def parity(self) -> bool | None:
        """The benchmark's own rule: by name, the last of a duplicate name wins; unscored checks are skipped."""
        by_name = {check.name: check.passed for check in self.checks if check.passed is not None}
        return all(by_name.values()) if by_name else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """Everything needed to continue an episode; immutable, so that every continuation starts from its own copy.

    Before a call: `pending` is that call and the last of `turns` is the decision that made it, without a reply.
    After an injected fault (the recovery boundary): `pending` is None and every turn has its reply. The injector draws
    from (plan.seed, number of events), so `plan`, `remaining_cap` and `faults` are its whole state.
    """

    turns: tuple[Turn, ...]
    database: bytes  # Session.snapshot(), clock included
    pending: ToolCall | None = None
    read_history: tuple[tuple[str, str, str], ...] = ()  # (signature, observation hash, state hash)
    state_hash: str = ""
    plan: FaultPlan | None = None
    remaining_cap: int = 0
    faults: tuple[FaultEvent, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DamagedRow:
    """A row that was changed beyond what the task authorises. `columns`: of a modified row, those beyond it."""

    gym: str
    table: str
    operation: str  # added | removed | modified
    key: Any
    columns: tuple[str, ...]
    severity: str  # LOW | MEDIUM | HIGH


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """`damage`: None where nobody knows what the task authorises."""

    case: Case
    turns: tuple[Turn, ...]
    boundary: Verdict | None  # at the continuation boundary (clean: at the start)
    end: Verdict | None
    stop_reason: StopReason
    answer: str = ""
    error_kind: str = ""
    error: str = ""
    faults: tuple[FaultEvent, ...] = ()
    plan: FaultPlan | None = None
    wall_s: float = 0.0
    damage: tuple[DamagedRow, ...] | None = None

    @property
    def is_spoilt(self) -> bool:
        """The gym or the engine failed, so that it says nothing about the policy."""
        return self.stop_reason == "infrastructure"

    @property
    def generated(self) -> tuple[Turn, ...]:
        return tuple(turn for turn in self.turns if turn.generated)


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeGroup:
    """Continuations from one start: the same prompt (clean) or the same post-fault state (fault)."""

    group_id: str
    condition: Condition
    episodes: tuple[Episode, ...]
    boundary: Checkpoint | None = None  # fault groups: the shared post-fault start, kept for a later visit
    is_resumed: bool = False  # the boundary was saved at an earlier visit: no new fault was injected for this group
