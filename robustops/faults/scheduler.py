"""The scheduler: observed opportunities in, one `FaultPlan` out. Seeded; holds counts, no session and no policy.

It prefers the subtype with the fewest actual injections so far, then the one rarest in the case's own domain and tool
mode; the rest is drawn. Counting happens in `record`, when a fault did happen, never at planning.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from robustops.core.episode import FaultPlan
from robustops.core.task import Task
from robustops.faults.catalogue import CapRange, kind_of
from robustops.faults.mechanism import Draw


@dataclass(frozen=True, slots=True, kw_only=True)
class Opportunity:
    """One observed call and the subtypes that could hit it. `position` lets the caller find its checkpoint again."""

    position: int
    tool: str
    signature: str
    subtypes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stratum:
    """Where balance is kept apart."""

    domain: str
    tool_mode: str

    @classmethod
    def of(cls, task: Task) -> Stratum:
        return cls(domain=task.domain, tool_mode=task.tool_mode)


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    opportunity: Opportunity
    plan: FaultPlan


@dataclass(slots=True)
class Scheduler:
    """`caps` replaces the ranges of the catalogue, per subtype. `intensity` in [0, 1] settles caps and doses of all.

    Raises ValueError for an unknown subtype or an intensity outside its range.
    """

    subtypes: tuple[str, ...]
    seed: int
    caps: Mapping[str, CapRange] = field(default_factory=dict)
    intensity: float | None = None
    _counts: Counter[str] = field(default_factory=Counter)
    _strata: Counter[tuple[str, str, str]] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        for subtype in (*self.subtypes, *self.caps):
            kind_of(subtype)
        if self.intensity is not None and not 0 <= self.intensity <= 1:
            raise ValueError(f"fault intensity: got {self.intensity}, expected 0 to 1")

    def choose(self, opportunities: Sequence[Opportunity], *, case_key: str, stratum: Stratum) -> Choice | None:
        """One plan, or None without an eligible call. Equal seed, counts, key and opportunities: equal plan."""
        offers = {subtype: [offer for offer in opportunities if subtype in offer.subtypes] for subtype in self.subtypes}
        offered = [subtype for subtype, offer in offers.items() if offer]
        if not offered:
            return None
        rng = Random(hashlib.sha256(f"{self.seed}|{case_key}".encode()).digest())
        rng.shuffle(offered)
        subtype = min(offered, key=lambda name: (self._counts[name], self._strata[_place(name, stratum)]))
        chosen = rng.choice(offers[subtype])
        caps = self.caps.get(subtype, kind_of(subtype).caps)
        plan = FaultPlan(
            subtype=subtype,
            tool=chosen.tool,
            signature=chosen.signature,
            cap=Draw(rng=rng, intensity=self.intensity).amount(mild=caps.low, severe=caps.high),
            seed=rng.getrandbits(31),
            intensity=self.intensity,
        )
        return Choice(opportunity=chosen, plan=plan)

    def record(self, subtype: str, stratum: Stratum) -> None:
        """Count one actual injection."""
        self._counts[subtype] += 1
        self._strata[_place(subtype, stratum)] += 1

    def state(self) -> dict[str, Any]:
        """JSON-able; for a training checkpoint."""
        strata = [[*place, count] for place, count in sorted(self._strata.items())]
        return {"counts": dict(sorted(self._counts.items())), "strata": strata}

    def load_state(self, state: Mapping[str, Any]) -> None:
        self._counts = Counter(state["counts"])
        self._strata = Counter({(subtype, domain, mode): count for subtype, domain, mode, count in state["strata"]})


def _place(subtype: str, stratum: Stratum) -> tuple[str, str, str]:
    return subtype, stratum.domain, stratum.tool_mode
