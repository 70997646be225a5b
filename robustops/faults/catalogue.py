"""All kinds of faults, as data: family, mechanism, tags and cap range of each subtype, and which a policy name allows.

To add a subtype: one class in `mechanisms/`, one row here, and its wording in `replies.py` where it has any.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

from robustops.core.task import ToolSchema
from robustops.faults.mechanism import Family, Mechanism
from robustops.faults.mechanisms.false_ack import SilentNoop
from robustops.faults.mechanisms.ignored_filter import DroppedFilter
from robustops.faults.mechanisms.incomplete_read import PartialList, TruncatedReply
from robustops.faults.mechanisms.interface_drift import SchemaDrift, native_arguments
from robustops.faults.mechanisms.lasting_outage import PermanentOutage
from robustops.faults.mechanisms.not_executed import Rejected
from robustops.faults.mechanisms.reply_mixup import SwappedReply
from robustops.faults.mechanisms.stale_state import StaleRead
from robustops.faults.mechanisms.unknown_commit import LostAck, TimeoutNotCommitted

FaultPolicy = Literal["none", "train", "heldout", "all", "stress", "ood"]
Pack = Literal["main", "probe", "stress"]
Visibility = Literal["explicit", "implicit"]
Persistence = Literal["transient", "permanent"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CapRange:
    """How often one fault may repeat in an episode, both ends included."""

    low: int
    high: int

    def __post_init__(self) -> None:
        if not 1 <= self.low <= self.high:
            raise ValueError(f"cap range: expected 1 <= low <= high, got {self.low}..{self.high}")


def as_they_are(tool: ToolSchema, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    return arguments


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """`visibility`: whether the reply itself says that something is wrong.

    `translate`: what the tool itself takes of a call that the fault lets through.

    A transient fault hits repetitions of one call until its cap is used; a permanent one every call of that tool.
    `pack`: the probe and the stress pack are for evaluation alone; of the main pack, one family is held out.
    """

    family: Family
    mechanism: Mechanism
    caps: CapRange
    visibility: Visibility
    persistence: Persistence = "transient"
    pack: Pack = "main"
    translate: Callable[[ToolSchema, Mapping[str, Any]], Mapping[str, Any]] = as_they_are

    @property
    def is_permanent(self) -> bool:
        return self.persistence == "permanent"


ONCE, TWICE = CapRange(low=1, high=1), CapRange(low=1, high=2)
FOREVER = CapRange(low=1_000_000, high=1_000_000)  # more calls than any episode has

# A committed write whose acknowledgement is lost twice is the same lesson twice, hence ONCE.
_KINDS = (
    Kind(family="not_executed", mechanism=Rejected("throttled"), caps=TWICE, visibility="explicit"),
    Kind(family="not_executed", mechanism=Rejected("unavailable"), caps=TWICE, visibility="explicit"),
    Kind(family="incomplete_read", mechanism=PartialList(), caps=TWICE, visibility="explicit"),
    Kind(family="incomplete_read", mechanism=TruncatedReply(), caps=TWICE, visibility="explicit"),
    Kind(family="reply_mixup", mechanism=SwappedReply(), caps=TWICE, visibility="implicit"),
    Kind(family="unknown_commit", mechanism=LostAck(), caps=ONCE, visibility="explicit"),
    Kind(family="ignored_filter", mechanism=DroppedFilter(), caps=TWICE, visibility="implicit"),
    Kind(family="unknown_commit", mechanism=TimeoutNotCommitted(), caps=ONCE, visibility="explicit", pack="probe"),
    Kind(family="stale_state", mechanism=StaleRead(), caps=TWICE, visibility="implicit", pack="stress"),
    Kind(family="false_ack", mechanism=SilentNoop(), caps=ONCE, visibility="implicit", pack="stress"),
    Kind(
        family="lasting_outage",
        mechanism=PermanentOutage(),
        caps=FOREVER,
        visibility="explicit",
        persistence="permanent",
        pack="stress",
    ),
    Kind(
        family="interface_drift",
        mechanism=SchemaDrift(),
        translate=native_arguments,
        caps=FOREVER,
        visibility="explicit",
        persistence="permanent",
        pack="stress",
    ),
)
KINDS: Mapping[str, Kind] = MappingProxyType({kind.mechanism.subtype: kind for kind in _KINDS})

HELD_OUT: Family = "ignored_filter"
POLICIES: Mapping[FaultPolicy, tuple[str, ...]] = MappingProxyType(
    {
        "none": (),
        "train": tuple(name for name, kind in KINDS.items() if kind.pack == "main" and kind.family != HELD_OUT),
        "heldout": tuple(name for name, kind in KINDS.items() if kind.pack == "main" and kind.family == HELD_OUT),
        "all": tuple(name for name, kind in KINDS.items() if kind.pack == "main"),
        "stress": tuple(name for name, kind in KINDS.items() if kind.pack == "stress"),
        "ood": tuple(name for name, kind in KINDS.items() if kind.pack != "main" or kind.family == HELD_OUT),
    }
)
TRAINABLE = frozenset(POLICIES["train"])


def subtypes_of(policy: FaultPolicy) -> tuple[str, ...]:
    """Subtypes a policy name allows, in the order of the table."""
    if policy not in POLICIES:
        raise ValueError(f"unknown fault policy {policy!r}, expected one of {', '.join(POLICIES)}")
    return POLICIES[policy]


def kind_of(subtype: str) -> Kind:
    if subtype not in KINDS:
        raise ValueError(f"unknown fault subtype {subtype!r}, expected one of {', '.join(KINDS)}")
    return KINDS[subtype]


def tag_table() -> dict[str, dict[str, Any]]:
    """What run.json says of every subtype, for readers that may not import this room."""
    return {
        name: {
            "family": kind.family,
            "visibility": kind.visibility,
            "persistence": kind.persistence,
            "pack": kind.pack,
            "held_out": kind.family == HELD_OUT,
        }
        for name, kind in KINDS.items()
    }
