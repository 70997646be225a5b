"""What became of a slot, and a recovery boundary, as JSON values and back without loss. Loading runs no code.

Episodes and turns have the form of `trajectory`, so that there is one; database bytes are base64.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from robustops.core.episode import Checkpoint, EpisodeGroup, FaultEvent, FaultPlan, ToolCall
from robustops.core.errors import TableError
from robustops.rollout.groups import Outcome, Rejection
from robustops.rollout.trajectory import dump_episode, dump_turns, load_episode, load_turns


def dump_outcome(outcome: Outcome) -> dict[str, Any]:
    if isinstance(outcome, Rejection):
        return {"kind": "rejection", **asdict(outcome)}
    return {"kind": "group", **dump_group(outcome)}


def load_outcome(line: Mapping[str, Any]) -> Outcome:
    """Raises TableError for a line that is neither a group nor a rejection."""
    kind = line.get("kind")
    try:
        if kind == "rejection":
            return Rejection(**{name: value for name, value in line.items() if name != "kind"})
        if kind == "group":
            return load_group(line)
    except (KeyError, TypeError, ValueError) as error:
        raise TableError(f"not a {kind} ({error}); was it written by another version?") from error
    raise TableError(f"got kind {kind!r}, expected a group or a rejection; was it written by another version?")


def dump_group(group: EpisodeGroup) -> dict[str, Any]:
    return {
        "group_id": group.group_id,
        "condition": group.condition,
        "episodes": [dump_episode(episode) for episode in group.episodes],
        "boundary": None if group.boundary is None else dump_checkpoint(group.boundary),
        "is_resumed": group.is_resumed,
    }


def load_group(line: Mapping[str, Any]) -> EpisodeGroup:
    return EpisodeGroup(
        group_id=line["group_id"],
        condition=line["condition"],
        episodes=tuple(load_episode(episode) for episode in line["episodes"]),
        boundary=None if line["boundary"] is None else load_checkpoint(line["boundary"]),
        is_resumed=line["is_resumed"],
    )


def dump_checkpoint(checkpoint: Checkpoint) -> dict[str, Any]:
    return {
        "turns": dump_turns(checkpoint.turns),
        "database": base64.b64encode(checkpoint.database).decode(),
        "pending": None if checkpoint.pending is None else asdict(checkpoint.pending),
        "read_history": checkpoint.read_history,
        "state_hash": checkpoint.state_hash,
        "plan": None if checkpoint.plan is None else asdict(checkpoint.plan),
        "remaining_cap": checkpoint.remaining_cap,
        "faults": [asdict(event) for event in checkpoint.faults],
    }


def load_checkpoint(line: Mapping[str, Any]) -> Checkpoint:
    return Checkpoint(
        turns=load_turns(line["turns"]),
        database=base64.b64decode(line["database"]),
        pending=None if line["pending"] is None else ToolCall(**line["pending"]),
        read_history=tuple((signature, observed, state) for signature, observed, state in line["read_history"]),
        state_hash=line["state_hash"],
        plan=None if line["plan"] is None else FaultPlan(**line["plan"]),
        remaining_cap=line["remaining_cap"],
        faults=tuple(FaultEvent(**event) for event in line["faults"]),
    )
