"""One episode as one training sequence: recorded tokens in, ids, mask, logprobs and advantages out. Tokenises nothing.

Shapes: T all tokens of the sequence. Entry t belongs to token t, whose logits stand at position t - 1.
The mask is 1 on the sampled ids of generated turns alone: prompt, inherited prefix, observations and the rest of an
end-of-turn that was appended and not sampled carry no loss (docs/algorithms.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import torch
from torch import Tensor

from robustops.core.episode import Episode, Turn
from robustops.core.errors import PolicyError


@dataclass(frozen=True, slots=True, kw_only=True)
class Trajectory:
    """`flow` indexes denominators.FLOWS; logprobs and advantages are zero outside `is_trained_T`.

    Tensors stay out of its text: asyncio writes out the result of each task that it runs, whoever may read it.
    """

    case_id: str
    group_id: str
    flow: int
    token_ids_T: Tensor = field(repr=False)
    is_trained_T: Tensor = field(repr=False)
    logp_rollout_T: Tensor = field(repr=False)
    advantage_T: Tensor = field(repr=False)

    @property
    def num_tokens(self) -> int:
        return len(self.token_ids_T)

    @property
    def num_trained(self) -> int:
        return int(self.is_trained_T.sum())


def check_logprobs(episode: Episode) -> None:
    """Raises PolicyError, naming the episode, unless every token sampled in a generated turn has a finite logprob."""
    for number, turn in enumerate(episode.turns):
        if not turn.generated:
            continue
        where = f"{episode.case.case_id}, turn {number}"
        if not turn.sampled_ids:
            raise PolicyError(f"{where}: no sampled token ids; only token policies can be trained on")
        if len(turn.logprobs) != len(turn.sampled_ids):
            raise PolicyError(
                f"{where}: {len(turn.logprobs)} logprobs for {len(turn.sampled_ids)} sampled tokens; "
                "expected one each: does the engine return processed logprobs?"
            )
        if not all(map(math.isfinite, turn.logprobs)):
            raise PolicyError(f"{where}: a logprob is not finite; is the model broken, or sampling truncated?")


def mask_of(turn: Turn) -> list[bool]:
    """Which of a turn's context and sampled tokens carry loss."""
    return [False] * len(turn.context_ids) + [turn.generated] * len(turn.sampled_ids)


def trajectory(episode: Episode, *, group_id: str, flow: int, advantage_T: Tensor) -> Trajectory:
    """The sequence up to its last trained token; `advantage_T` runs over trained tokens only, as credit.py gives it.

    Raises PolicyError as `check_logprobs` does, ValueError for advantages of another length or nothing to train on.
    """
    check_logprobs(episode)
    turns = _to_last_generated(episode.turns)
    if not turns:
        raise ValueError(f"{episode.case.case_id}: no generated turn, nothing to train on")
    ids: list[int] = []
    mask: list[bool] = []
    logprobs: list[float] = []
    for turn in turns:
        ids += [*turn.context_ids, *turn.sampled_ids]
        mask += mask_of(turn)
        sampled = turn.logprobs if turn.generated else [0.0] * len(turn.sampled_ids)
        logprobs += [0.0] * len(turn.context_ids) + list(sampled)
    if mask[0]:
        raise ValueError(f"{episode.case.case_id}: the first token is a sample; a prompt must come before it")
    is_trained_T = torch.tensor(mask)
    if len(advantage_T) != sum(mask):
        raise ValueError(f"{episode.case.case_id}: {len(advantage_T)} advantages for {sum(mask)} trained tokens")
    spread_T = torch.zeros(len(ids))
    spread_T[is_trained_T] = advantage_T.float()
    return Trajectory(
        case_id=episode.case.case_id,
        group_id=group_id,
        flow=flow,
        token_ids_T=torch.tensor(ids),
        is_trained_T=is_trained_T,
        logp_rollout_T=torch.tensor(logprobs),
        advantage_T=spread_T,
    )


def _to_last_generated(turns: tuple[Turn, ...]) -> tuple[Turn, ...]:
    """Inherited turns after the last generated one do not exist; without a generated one nothing is left."""
    last = max((index for index, turn in enumerate(turns) if turn.generated), default=-1)
    return turns[: last + 1]
