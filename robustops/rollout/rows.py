"""An episode in, its flat result row out. Computes nothing that analysis could compute from several rows."""

from __future__ import annotations

from dataclasses import dataclass, field

from robustops.core.episode import Episode
from robustops.core.episode_row import EpisodeRow
from robustops.core.task import Task
from robustops.rollout.damage import worst
from robustops.rollout.score import ProgressKind, RewardWeights, evidence, score


@dataclass(frozen=True, slots=True, kw_only=True)
class RunIdentity:
    """What all rows of a run share. `policy_mode`: how the policy decided, e.g. "greedy" or "sampled".

    `settings_sha`: of whatever else shapes an episode, such as the weights; two halves of a run must agree on it.
    """

    run: str
    model: str
    stage: str
    split: str
    seed: int
    policy_mode: str
    manifest_sha: str = ""
    settings_sha: str = ""
    weights: RewardWeights = field(default_factory=RewardWeights)
    progress: ProgressKind = "gated"


def row_of(episode: Episode, task: Task, identity: RunIdentity, *, is_supplement: bool = False) -> EpisodeRow:
    """Scores are None where the episode is unscorable. Tokens, turns and calls are those the policy generated."""
    case, end = episode.case, episode.end
    scored, found = score(episode, progress=identity.progress), evidence(episode)
    generated = episode.generated
    return EpisodeRow(
        run=identity.run,
        model=identity.model,
        stage=identity.stage,
        case_id=case.case_id,
        task_id=case.task_id,
        tool_mode=case.tool_mode,
        condition=case.condition,
        attempt=case.attempt,
        domain=task.domain,
        split=identity.split,
        seed=identity.seed,
        success=end.parity if end else None,
        success_strict=end.strict if end else None,
        checks_passed=end.passed if end else 0,
        checks_gated=end.gated if end else 0,
        checks_total=len(task.checks),
        checks_scored=end.scored if end else 0,
        progress=float(scored.progress) if scored else None,
        quality=float(scored.quality) if scored else None,
        reward=float(scored.reward(identity.weights)) if scored else None,
        fault_subtype=episode.plan.subtype if episode.plan else None,
        fault_planned=episode.plan is not None,
        fault_hit=bool(episode.faults),
        fault_count=len(episode.faults),
        turns=len(generated),
        tool_calls=found.num_calls,
        bad_calls=len(found.bad),
        prompt_tokens=sum(_prompt_tokens(episode)),
        completion_tokens=sum(len(turn.sampled_ids) for turn in generated),
        reasoning_tokens=sum(turn.reasoning_tokens for turn in generated),
        cached_tokens=sum(turn.cached_tokens for turn in generated),
        wall_s=episode.wall_s,
        stop_reason=episode.stop_reason,
        error_kind=episode.error_kind,
        damage_rows=None if episode.damage is None else len(episode.damage),
        damage_severity=worst(episode.damage or ()),
        supplemented=is_supplement,
        manifest_sha=identity.manifest_sha,
        weight_version=generated[-1].weight_version if generated else 0,
        policy_mode=identity.policy_mode,
    )


def _prompt_tokens(episode: Episode) -> list[int]:
    """Length of each prompt that was sent: all tokens before the sample, as an endpoint would bill them."""
    lengths, num_tokens = [], 0
    for turn in episode.turns:
        num_tokens += len(turn.context_ids)
        if turn.generated:
            lengths.append(num_tokens)
        num_tokens += len(turn.sampled_ids)
    return lengths
