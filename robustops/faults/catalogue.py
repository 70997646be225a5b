"""All kinds of faults, as data: family, mechanism and cap range of each subtype, and which ones a policy name allows.

To add a subtype: one class in `mechanisms/`, one row here, and its wording in `replies.py` where it has any.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from robustops.faults.mechanism import Family, Mechanism
from robustops.faults.mechanisms.ignored_filter import DroppedFilter
from robustops.faults.mechanisms.incomplete_read import PartialList, TruncatedReply
from robustops.faults.mechanisms.not_executed import Rejected
from robustops.faults.mechanisms.reply_mixup import SwappedReply
from robustops.faults.mechanisms.unknown_commit import LostAck, TimeoutNotCommitted

FaultPolicy = Literal["none", "train", "heldout", "all"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CapRange:
    """How often one fault may repeat in an episode, both ends included."""

    low: int
    high: int

    def __post_init__(self) -> None:
        if not 1 <= self.low <= self.high:
            raise ValueError(f"cap range: expected 1 <= low <= high, got {self.low}..{self.high}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    family: Family
    mechanism: Mechanism
    caps: CapRange
    is_probe: bool = False  # evaluation only, in no policy


# A committed write whose acknowledgement is lost twice is the same lesson twice, hence 1..1.
_KINDS = (
    Kind(family="not_executed", mechanism=Rejected("throttled"), caps=CapRange(low=1, high=2)),
    Kind(family="not_executed", mechanism=Rejected("unavailable"), caps=CapRange(low=1, high=2)),
    Kind(family="incomplete_read", mechanism=PartialList(), caps=CapRange(low=1, high=2)),
    Kind(family="incomplete_read", mechanism=TruncatedReply(), caps=CapRange(low=1, high=2)),
    Kind(family="reply_mixup", mechanism=SwappedReply(), caps=CapRange(low=1, high=2)),
    Kind(family="unknown_commit", mechanism=LostAck(), caps=CapRange(low=1, high=1)),
    Kind(family="ignored_filter", mechanism=DroppedFilter(), caps=CapRange(low=1, high=2)),
    Kind(family="unknown_commit", mechanism=TimeoutNotCommitted(), caps=CapRange(low=1, high=1), is_probe=True),
)
KINDS: Mapping[str, Kind] = MappingProxyType({kind.mechanism.subtype: kind for kind in _KINDS})

_TRAIN: tuple[Family, ...] = ("not_executed", "incomplete_read", "reply_mixup", "unknown_commit")
_HELD_OUT: tuple[Family, ...] = ("ignored_filter",)
_FAMILIES: Mapping[FaultPolicy, tuple[Family, ...]] = MappingProxyType(
    {"none": (), "train": _TRAIN, "heldout": _HELD_OUT, "all": (*_TRAIN, *_HELD_OUT)}
)


def subtypes_of(policy: FaultPolicy) -> tuple[str, ...]:
    """Subtypes a policy name allows, in the order of the table."""
    if policy not in _FAMILIES:
        raise ValueError(f"unknown fault policy {policy!r}, expected one of {', '.join(_FAMILIES)}")
    return tuple(name for name, kind in KINDS.items() if not kind.is_probe and kind.family in _FAMILIES[policy])


def kind_of(subtype: str) -> Kind:
    if subtype not in KINDS:
        raise ValueError(f"unknown fault subtype {subtype!r}, expected one of {', '.join(KINDS)}")
    return KINDS[subtype]
