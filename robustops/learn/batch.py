"""One RL step's training data: accepted groups of episodes in, trajectories with token advantages out. Knows no model.

The only place where scores, normalisation and credit meet; every rule lives in its own file.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field

from robustops.core.episode import Episode, EpisodeGroup
from robustops.learn.advantage import LengthTerm, NormKind, normalise
from robustops.learn.credit import CallTags, QualityCredit, spans, token_advantages
from robustops.learn.denominators import FLOWS, FlowTokens, count_tokens
from robustops.learn.trajectory import Trajectory, trajectory
from robustops.rollout.score import ProgressKind, RewardWeights, Score, score

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class CreditRules:
    """`local_credit`: whether bad calls, repeated reads and failed stops have their caps. `length_weight`: of the
    length term, an ablation; 0 leaves it out."""

    weights: RewardWeights = field(default_factory=RewardWeights)
    progress: ProgressKind = "gated"
    norm: NormKind = "component"
    quality_credit: QualityCredit = "temporal"
    local_credit: bool = True
    length_weight: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingBatch:
    """Group by group, member by member; `scores` has every member, `trajectories` those with a trained token."""

    trajectories: tuple[Trajectory, ...]
    scores: tuple[Score, ...]
    tokens: FlowTokens  # of this process; see FlowTokens.over_ranks


def num_sampled(episode: Episode) -> int:
    """Tokens that this continuation sampled."""
    return sum(len(turn.sampled_ids) for turn in episode.generated)


def scored(group: EpisodeGroup, progress: ProgressKind) -> list[Score]:
    """Raises ValueError for an unscorable member: the sampler must have refused such a group."""
    found = []
    for episode in group.episodes:
        result = score(episode, progress=progress)
        if result is None:
            raise ValueError(f"{episode.case.case_id}: unscorable, yet in accepted group {group.group_id}")
        found.append(result)
    return found


def training_batch(groups: Sequence[EpisodeGroup], rules: CreditRules, tags: CallTags) -> TrainingBatch:
    """Score, normalise over all groups, give credit to tokens, line up sequences.

    Raises PolicyError for a sampled token without logprob, ValueError for unscorable or single members.
    """
    scores_G = [scored(group, rules.progress) for group in groups]
    length = None
    if rules.length_weight:
        tokens_G = [[num_sampled(episode) for episode in group.episodes] for group in groups]
        length = LengthTerm(weight=rules.length_weight, tokens_G=tokens_G)
    advantages = normalise(scores_G, weights=rules.weights, kind=rules.norm, length=length)
    totals, qualities = iter(advantages.total_N.tolist()), iter(advantages.quality_N.tolist())
    rows = []
    for group, scores in zip(groups, scores_G, strict=True):
        for episode, result in zip(group.episodes, scores, strict=True):
            total, quality = next(totals), next(qualities)
            if not episode.generated:
                log.warning("%s ended before its first answer: scored, nothing to train on", episode.case.case_id)
                continue
            advantage_T = token_advantages(
                spans(episode, result.evidence, tags),
                advantage=total,
                quality=quality,
                is_failed=not result.success,
                quality_credit=rules.quality_credit,
                has_caps=rules.local_credit,
            )
            flow = FLOWS.index(group.condition)
            rows.append(trajectory(episode, group_id=group.group_id, flow=flow, advantage_T=advantage_T))
    return TrainingBatch(
        trajectories=tuple(rows),
        scores=tuple(result for scores in scores_G for result in scores),
        tokens=count_tokens([row.num_trained for row in rows], [row.flow for row in rows]),
    )
