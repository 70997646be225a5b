"""What one RL step looked like: groups with their scores in, named numbers and a one-line summary out. Pure.

`area/name_unit`. Shares lie between 0 and 1; means are over what the name says. A number that nothing in the step can
give (no success, no group) is left out, never zero.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import compress

import numpy as np

from robustops.core.episode import Episode
from robustops.learn.advantage import raw_scores, z_group
from robustops.learn.batch import CreditRules, TrainingBatch, num_sampled
from robustops.learn.collection import Collected, Played
from robustops.learn.credit import CallTags, spans
from robustops.learn.denominators import FLOWS
from robustops.rollout.score import RewardWeights, Score

TRAILING_STEPS = 10
COMPONENTS = ("success", "progress", "quality")


def collection_metrics(collected: Collected) -> dict[str, float]:
    """What became of the slots: decisions by flow and reason, places left empty."""
    found = {
        "rollout/groups_played": float(collected.num_played),
        "rollout/groups_reused": float(collected.num_reused),
        "rollout/groups_trained": float(len(collected.groups)),
    }
    found |= {f"rollout/{name}_groups": float(count) for name, count in collected.selected.counts.items()}
    return found | {f"rollout/{flow}_missing_groups": float(n) for flow, n in collected.selected.missing.items()}


def sampled_metrics(played: Sequence[Played], weights: RewardWeights) -> dict[str, float]:
    """Over everything played in the step, whatever became of it: rewards, groups, faults, calls, lengths."""
    scored = [group for group in played if group.scores]
    members = [score for group in scored for score in group.scores]
    episodes = [episode for group in played for episode in group.group.episodes]
    rewards = [[float(score.reward(weights)) for score in group.scores] for group in scored]
    found = _means("reward/mean", (reward for group in rewards for reward in group))
    for name, read in _READ.items():
        found |= _means(f"reward/{name}_share" if name == "success" else f"reward/{name}_mean", map(read, members))
    outcomes = [[score.success for score in group.scores] for group in scored]
    found |= _means("groups/all_failed_share", (not any(outcome) for outcome in outcomes))
    found |= _means("groups/mixed_share", (any(outcome) and not all(outcome) for outcome in outcomes))
    found |= _means("groups/reward_std_mean", (statistics.stdev(group) for group in rewards if len(group) > 1))
    hits = Counter(event.subtype for episode in episodes for event in episode.faults)
    found |= {f"fault/{subtype}_hits": float(number) for subtype, number in sorted(hits.items())}
    calls = sum(score.evidence.num_calls for score in members)
    if calls:
        found["calls/bad_share"] = sum(len(score.evidence.bad) for score in members) / calls
        found["calls/repeated_share"] = sum(len(score.evidence.repeated_turns) for score in members) / calls
    return found | _lengths(episodes)


_READ: dict[str, Callable[[Score], float]] = {
    "success": lambda score: float(score.success),
    "progress": lambda score: float(score.progress),
    "quality": lambda score: float(score.quality),
}


def _lengths(episodes: Sequence[Episode]) -> dict[str, float]:
    """Of played episodes: an inherited part is prefix and neither response nor turn."""
    found: dict[str, float] = {}
    found |= _means("rollout/response_tokens_mean", (num_sampled(episode) for episode in episodes))
    found |= _means("rollout/prefix_tokens_mean", (_num_prefix(episode) for episode in episodes))
    found |= _means("rollout/turns_mean", (len(episode.generated) for episode in episodes))
    found |= _means("rollout/tool_calls_mean", (sum(t.call is not None for t in e.generated) for e in episodes))
    found["rollout/sampled_tokens"] = float(sum(num_sampled(episode) for episode in episodes))
    stops = Counter(episode.stop_reason for episode in episodes)
    return found | {f"rollout/stop_{reason}_share": n / len(episodes) for reason, n in sorted(stops.items())}


def _num_prefix(episode: Episode) -> int:
    """Tokens before the first that this continuation sampled."""
    total = 0
    for turn in episode.turns:
        total += len(turn.context_ids)
        if turn.generated:
            break
        total += len(turn.sampled_ids)
    return total


def trained_metrics(collected: Collected, batch: TrainingBatch, rules: CreditRules, tags: CallTags) -> dict[str, float]:
    """Over the accepted groups: what admitted them, how far apart their members stand, which caps were set."""
    groups = _by_group(collected, batch)
    raw = raw_scores(groups, weights=rules.weights, kind="component")
    z_KN = np.abs(z_group(raw))
    found = {f"advantage/{name}_z_mean_abs": float(z_N.mean()) for name, z_N in zip(COMPONENTS, z_KN, strict=True)}
    reward_N = z_group(raw_scores(groups, weights=rules.weights, kind="aggregate"))[0]
    found["advantage/reward_z_mean_abs"] = float(np.abs(reward_N).mean())
    means = [float(row.advantage_T[row.is_trained_T].mean()) for row in batch.trajectories]
    found["advantage/std"] = statistics.pstdev(means)
    found["advantage/max_abs"] = max(float(row.advantage_T.abs().max()) for row in batch.trajectories)
    differs_GK = ~raw.is_constant_KG.T & (raw.weight_K > 0)
    admitted = Counter(tuple(compress(COMPONENTS, differs_K)) for differs_K in differs_GK)
    found |= {f"groups/admitted_by_{name}_alone": float(admitted[(name,)]) for name in COMPONENTS}
    members = [
        (episode, score)
        for group, scores in zip(collected.groups, groups, strict=True)
        for episode, score in zip(group.episodes, scores, strict=True)
    ]
    capped = [
        not score.success and spans(episode, score.evidence, tags).native_stop is not None for episode, score in members
    ]
    found |= _means("advantage/stop_cap_share", (rules.local_credit and is_capped for is_capped in capped))
    return found


def _by_group(collected: Collected, batch: TrainingBatch) -> list[Sequence[Score]]:
    groups: list[Sequence[Score]] = []
    start = 0
    for group in collected.groups:
        groups.append(batch.scores[start : start + len(group.episodes)])
        start += len(group.episodes)
    return groups


def trailing_mean(recent: Sequence[float]) -> float:
    return statistics.fmean(recent[-TRAILING_STEPS:])


def summary(metrics: Mapping[str, float]) -> str:
    """A step in one line: what was accepted and earned, what was learned, and how long it took."""
    accepted = " + ".join(f"{metrics.get(f'rollout/{flow}/accepted_groups', 0):.0f} {flow}" for flow in FLOWS)
    played = metrics["rollout/groups_played"] + metrics["rollout/groups_reused"]
    learned = "no update"
    if "train/loss_nats" in metrics:
        learned = f"loss {metrics['train/loss_nats']:.4f}, gradient {metrics['train/grad_norm']:.3g}"
    return (
        f"accepted {accepted} of {played:.0f} groups, reward {_shown(metrics, 'reward/mean', 3)}, "
        f"success {_shown(metrics, 'reward/success_share', 2)}, probe {metrics['sync/probe_max_nats']:.1g}, "
        f"{learned}, rollout {metrics['time/rollout_s']:.0f} s, training {metrics['time/train_s']:.0f} s, "
        f"weights {metrics['train/weight_version']:.0f}"
    )


def _shown(metrics: Mapping[str, float], name: str, digits: int) -> str:
    return f"{metrics[name]:.{digits}f}" if name in metrics else "-"


def _means(name: str, values: Iterable[float]) -> dict[str, float]:
    found = list(values)
    return {name: statistics.fmean(found)} if found else {}
