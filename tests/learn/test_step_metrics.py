"""What a step reports, worked out by hand on a few played groups."""

from __future__ import annotations

from fractions import Fraction

import pytest
from bandit import verdict

from robustops.core.episode import Episode, EpisodeGroup, FaultEvent, ToolCall, Turn
from robustops.core.task import Case
from robustops.learn.batch import CreditRules, training_batch
from robustops.learn.collection import Collected, Played
from robustops.learn.credit import CallTags
from robustops.learn.slot import Selected
from robustops.learn.step_metrics import collection_metrics, sampled_metrics, summary, trailing_mean, trained_metrics
from robustops.rollout.score import Evidence, RewardWeights, Score, score

WEIGHTS = RewardWeights()
TAGS = CallTags(open_id=258, close_id=259)
HIT = FaultEvent(
    subtype="lost_ack", call_index=0, native="", shown="", hash_before="a", hash_after="b", remaining_cap=0
)


def turn(context: int, sampled: int, *, generated: bool = True, call: bool = False) -> Turn:
    return Turn(
        context_ids=(1,) * context,
        sampled_ids=(2,) * sampled,
        logprobs=(-1.0,) * sampled,
        weight_version=0,
        text="",
        generated=generated,
        call=ToolCall(name="read", arguments={}) if call else None,
    )


def episode(passed: list[bool], turns: tuple[Turn, ...], *, flow: str = "clean", faults=()) -> Episode:
    return Episode(
        case=Case(task_id="t", condition=flow),
        turns=turns,
        boundary=verdict([False] * len(passed)),
        end=verdict(passed),
        stop_reason="stop",
        faults=faults,
    )


def group(name: str, outcomes: list[list[bool]], flow: str = "clean", faults=()) -> EpisodeGroup:
    turns = (turn(10, 3, generated=False, call=True), turn(5, 4, call=True), turn(2, 6))
    members = tuple(episode(passed, turns, flow=flow, faults=faults) for passed in outcomes)
    return EpisodeGroup(group_id=name, condition=flow, episodes=members)


def played(found: EpisodeGroup) -> Played:
    scores = [score(episode) for episode in found.episodes]
    return Played(group=found, scores=tuple(one for one in scores if one is not None))


MIXED = group("mixed", [[True, True], [False, False]])
FAILED = group("failed", [[False, False], [False, False]], "fault", faults=(HIT,))
HALF = group("half", [[True, False], [False, False]], "fault", faults=(HIT,))


def test_rewards_and_groups_are_over_all_that_was_played():
    found = sampled_metrics([played(MIXED), played(FAILED), played(HALF)], WEIGHTS)
    # one success of six: S = P = Q = 1, so R = 1.4; one half progress: R = 0.15
    assert found["reward/mean"] == pytest.approx((1.4 + 0.15) / 6)
    assert found["reward/success_share"] == pytest.approx(1 / 6)
    assert found["reward/progress_mean"] == pytest.approx(1.5 / 6)
    assert found["reward/quality_mean"] == pytest.approx(1 / 6)
    assert found["groups/all_failed_share"] == pytest.approx(2 / 3)
    assert found["groups/mixed_share"] == pytest.approx(1 / 3)
    assert found["groups/reward_std_mean"] == pytest.approx((1.4 + 0 + 0.15) / 2**0.5 / 3)
    assert found["fault/lost_ack_hits"] == 4


def test_lengths_leave_the_inherited_part_to_the_prefix():
    found = sampled_metrics([played(MIXED)], WEIGHTS)
    assert found["rollout/response_tokens_mean"] == 10
    assert found["rollout/prefix_tokens_mean"] == 10 + 3 + 5
    assert (found["rollout/turns_mean"], found["rollout/tool_calls_mean"]) == (2, 1)
    assert found["rollout/sampled_tokens"] == 20
    assert found["rollout/stop_stop_share"] == 1


def test_shares_of_calls_are_of_all_calls():
    marked = Score(
        success=False,
        progress=Fraction(0),
        quality=Fraction(0),
        evidence=Evidence(num_calls=4, bad=(), repeated_turns=(2,)),
    )
    found = sampled_metrics([Played(group=MIXED, scores=(marked, marked))], WEIGHTS)
    assert found["calls/repeated_share"] == 0.25
    assert found["calls/bad_share"] == 0


def collected(*groups: EpisodeGroup) -> Collected:
    selected = Selected(
        step=0,
        slots=(),
        is_skipped=False,
        missing={"clean": 1, "fault": 0},
        counts={"clean/accepted": 1, "fault/zero_signal": 2},
    )
    everything = tuple(map(played, groups))
    return Collected(groups=groups, kept={}, selected=selected, num_played=3, num_reused=1, played=everything)


def test_admission_and_caps_are_over_the_accepted_groups():
    only_progress = group("p", [[True, False], [False, False]], "fault")
    step = collected(MIXED, only_progress)
    rules = CreditRules(weights=WEIGHTS)
    found = trained_metrics(step, training_batch(step.groups, rules, TAGS), rules, TAGS)
    assert found["groups/admitted_by_progress_alone"] == 1
    assert found["groups/admitted_by_success_alone"] == found["groups/admitted_by_quality_alone"] == 0
    # three of the four fail, and all end in a native stop
    assert found["advantage/stop_cap_share"] == 0.75
    # +-sqrt(1/2) in the mixed group, zero in the other
    assert found["advantage/success_z_mean_abs"] == pytest.approx(0.5**0.5 / 2, rel=1e-5)
    assert found["advantage/progress_z_mean_abs"] == pytest.approx(0.5**0.5, rel=1e-5)
    # the reward differs in both groups, by 1.4 and by 0.15: sqrt(1/2) in each, whatever the distance
    assert found["advantage/reward_z_mean_abs"] == pytest.approx(0.5**0.5, rel=1e-4)


def test_decisions_are_counted_by_flow_and_reason():
    found = collection_metrics(collected(MIXED))
    assert found["rollout/fault/zero_signal_groups"] == 2
    assert found["rollout/clean_missing_groups"] == 1
    assert (found["rollout/groups_played"], found["rollout/groups_reused"], found["rollout/groups_trained"]) == (
        3,
        1,
        1,
    )


def test_a_step_is_one_line():
    step = collected(MIXED)
    metrics = collection_metrics(step) | sampled_metrics(step.played, WEIGHTS)
    metrics |= {"sync/probe_max_nats": 2e-6, "time/rollout_s": 8.4, "time/train_s": 1.2, "train/weight_version": 3}
    assert summary(metrics) == (
        "accepted 1 clean + 0 fault of 4 groups, reward 0.700, success 0.50, probe 2e-06, no update, "
        "rollout 8 s, training 1 s, weights 3"
    )
    learned = summary(metrics | {"train/loss_nats": 0.5, "train/grad_norm": 2.0})
    assert "loss 0.5000, gradient 2," in learned


def test_the_trailing_mean_is_over_ten_steps():
    assert trailing_mean([100.0, *map(float, range(10))]) == 4.5
