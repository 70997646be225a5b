"""Episodes to tensors: masks, alignment, refusals, micro-batches."""

from __future__ import annotations

import logging
import random
from collections import Counter
from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from toy import random_trajectories

from robustops.core.episode import CheckResult, Episode, EpisodeGroup, StopReason, ToolCall, ToolResult, Turn, Verdict
from robustops.core.errors import PolicyError
from robustops.core.task import Case, Condition
from robustops.learn.batch import CreditRules, TrainingBatch, training_batch
from robustops.learn.credit import CallTags
from robustops.learn.micro_batch import micro_batch, micro_batches, minibatches, split_by_tokens
from robustops.learn.trajectory import trajectory

TAGS = CallTags(open_id=90, close_id=91)


def call_turn(*, generated: bool = True, is_error: bool = False) -> Turn:
    """Five context tokens, then narration, a call block: four sampled tokens."""
    reply = ToolResult(text="{}", observation="{}", is_error=is_error)
    return Turn(
        context_ids=(1, 2, 3, 4, 5),
        sampled_ids=(10, 90, 11, 91),
        logprobs=(-0.1, -0.2, -0.3, -0.4) if generated else (),
        weight_version=3,
        text="",
        call=ToolCall(name="f", arguments={}),
        native=reply,
        shown=reply,
        generated=generated,
    )


ANSWER = Turn(context_ids=(6, 7), sampled_ids=(20, 92), logprobs=(-0.5, -0.6), weight_version=3, text="done")


def verdict(*passed: bool | None) -> Verdict:
    checks = tuple(CheckResult(index=i, name="n", passed=ok) for i, ok in enumerate(passed))
    return Verdict(checks=checks, gated=sum(ok is True for ok in passed))


def episode(
    *turns: Turn, success: bool | None = True, condition: Condition = "clean", stop_reason: StopReason = "stop"
) -> Episode:
    return Episode(
        case=Case(task_id="t", condition=condition),
        turns=turns,
        boundary=verdict(False),
        end=verdict(success),
        stop_reason=stop_reason,
    )


def ones(number: int) -> torch.Tensor:
    return torch.arange(1.0, number + 1)


def test_only_sampled_ids_of_generated_turns_are_trained() -> None:
    played = episode(call_turn(generated=False), call_turn(), ANSWER)
    row = trajectory(played, group_id="g", flow=1, advantage_T=ones(6))
    assert row.token_ids_T.tolist() == [1, 2, 3, 4, 5, 10, 90, 11, 91] * 2 + [6, 7, 20, 92]
    assert row.is_trained_T.tolist() == [False] * 14 + [True] * 4 + [False] * 2 + [True] * 2
    assert row.logp_rollout_T.tolist() == pytest.approx([0.0] * 14 + [-0.1, -0.2, -0.3, -0.4, 0, 0, -0.5, -0.6])
    assert row.advantage_T.tolist() == [0.0] * 14 + [1, 2, 3, 4, 0, 0, 5, 6]


def test_sampled_tokens_without_logprobs_are_refused_naming_the_episode() -> None:
    short = replace(ANSWER, logprobs=(-0.5,))
    with pytest.raises(PolicyError, match=r"t\|oracle\|clean\|0, turn 1: 1 logprobs for 2 sampled tokens"):
        trajectory(episode(call_turn(), short), group_id="g", flow=0, advantage_T=ones(6))


@pytest.mark.parametrize("logprob", [float("nan"), float("-inf")])
def test_logprobs_that_are_not_finite_are_refused(logprob: float) -> None:
    broken = replace(ANSWER, logprobs=(-0.5, logprob))
    with pytest.raises(PolicyError, match="not finite"):
        trajectory(episode(broken), group_id="g", flow=0, advantage_T=ones(2))


def test_turns_without_token_ids_are_refused() -> None:
    with pytest.raises(PolicyError, match="no sampled token ids"):
        trajectory(episode(replace(ANSWER, sampled_ids=(), logprobs=())), group_id="g", flow=0, advantage_T=ones(0))


def test_advantages_of_another_length_are_refused() -> None:
    with pytest.raises(ValueError, match="3 advantages for 2 trained tokens"):
        trajectory(episode(ANSWER), group_id="g", flow=0, advantage_T=ones(3))


def test_sequence_that_starts_with_a_sample_is_refused() -> None:
    with pytest.raises(ValueError, match="a prompt must come before it"):
        trajectory(episode(replace(ANSWER, context_ids=())), group_id="g", flow=0, advantage_T=ones(2))


def two_groups(rules: CreditRules | None = None) -> TrainingBatch:
    """Clean: one success of two. Fault: all fail, one of them with a bad call; the inherited prefix is shared."""
    clean = (episode(call_turn(), ANSWER), episode(call_turn(), ANSWER, success=False))
    prefix = call_turn(generated=False)
    fault = (
        episode(prefix, call_turn(is_error=True), ANSWER, condition="fault"),
        episode(prefix, call_turn(), ANSWER, success=False, condition="fault"),
    )
    groups = [
        EpisodeGroup(group_id="a", condition="clean", episodes=clean),
        EpisodeGroup(group_id="b", condition="fault", episodes=fault),
    ]
    return training_batch(groups, rules or CreditRules(), TAGS)


def test_batch_lines_up_groups_flows_and_token_advantages() -> None:
    """Worked by hand: in each pair S, P (and Q of the clean pair) have Z = +-1/sqrt 2; the fault success has Q = 0.

    Combined scores are +-1.4/sqrt 2 = +-.98995 and +-1.3/sqrt 2 = +-.91924; their mean is 0, their deviation 1.10303.
    """
    batch = two_groups()
    assert [(row.group_id, row.flow, row.num_trained) for row in batch.trajectories] == [
        ("a", 0, 6),
        ("a", 0, 6),
        ("b", 1, 6),
        ("b", 1, 6),
    ]
    assert batch.tokens.counts == (12, 12)
    values = [row.advantage_T[row.is_trained_T].tolist() for row in batch.trajectories]
    assert values[0] == pytest.approx([0.8975] * 6, abs=1e-4)
    assert values[1] == pytest.approx([-0.8975] * 6, abs=1e-4)
    assert values[2] == pytest.approx([0.8334] + [-0.5] * 3 + [0.8334] * 2, abs=1e-4)
    assert values[3] == pytest.approx([-0.8334] * 6, abs=1e-4)


def test_a_trajectorys_text_names_its_case_and_writes_no_tensor_out() -> None:
    (row,) = random_trajectories(1)
    assert row.case_id in repr(row)
    assert "tensor" not in repr(row)


def test_without_local_credit_every_token_has_its_trajectorys_advantage() -> None:
    row = two_groups(CreditRules(local_credit=False)).trajectories[2]
    assert row.advantage_T[row.is_trained_T].tolist() == pytest.approx([0.8334] * 6, abs=1e-4)


def test_unscorable_member_is_refused_naming_it() -> None:
    group = EpisodeGroup(group_id="g", condition="clean", episodes=(episode(ANSWER, success=None), episode(ANSWER)))
    with pytest.raises(ValueError, match=r"t\|oracle\|clean\|0: unscorable, yet in accepted group g"):
        training_batch([group], CreditRules(), TAGS)


def test_member_that_ended_before_its_first_answer_is_scored_but_not_trained_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    silent = episode(call_turn(generated=False), success=False, stop_reason="deadline")
    group = EpisodeGroup(group_id="g", condition="clean", episodes=(silent, episode(ANSWER)))
    with caplog.at_level(logging.WARNING):
        batch = training_batch([group], CreditRules(), TAGS)
    assert (len(batch.scores), len(batch.trajectories)) == (2, 1)
    assert batch.trajectories[0].advantage_T[batch.trajectories[0].is_trained_T].min() > 0
    assert "before its first answer" in caplog.text


@given(st.lists(st.integers(1, 60), max_size=30), st.integers(1, 120))
def test_split_covers_every_row_once_within_the_budget(lengths: list[int], max_tokens: int) -> None:
    parts = split_by_tokens(lengths, max_tokens)
    assert Counter(index for part in parts for index in part) == Counter(range(len(lengths)))
    for part in parts:
        longest = max(lengths[index] for index in part)
        assert longest * len(part) <= max_tokens or len(part) == 1


def test_split_puts_similar_lengths_together() -> None:
    assert split_by_tokens([10, 2, 9, 3], 20) == [[0, 2], [3, 1]]


def test_budget_below_one_token_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        split_by_tokens([3], 0)


def test_micro_batches_pad_at_the_end_with_nothing_to_train_on() -> None:
    rows = random_trajectories(6)
    parts = micro_batches(rows, max_tokens=24, pad_id=7)
    assert sorted(index for part in parts for index in part.indices) == list(range(6))
    for part in parts:
        for place, index in enumerate(part.indices):
            row = rows[index]
            real, padding = slice(0, row.num_tokens), slice(row.num_tokens, None)
            assert torch.equal(part.token_ids_NT[place, real], row.token_ids_T)
            assert torch.equal(part.is_trained_NT[place, real], row.is_trained_T)
            assert torch.equal(part.logp_rollout_NT[place, real], row.logp_rollout_T)
            assert torch.equal(part.advantage_NT[place, real], row.advantage_T)
            assert (part.token_ids_NT[place, padding] == 7).all()
            assert not part.is_trained_NT[place, padding].any()
            assert part.flow_NT[place].unique().tolist() == [row.flow]


def test_minibatches_share_each_flow_evenly_and_hold_every_trajectory_once() -> None:
    rows = random_trajectories(16, flows=(0, 0, 1))
    parts = minibatches(rows, 3, random.Random(0))
    assert sorted(row.case_id for part in parts for row in part) == sorted(row.case_id for row in rows)
    for flow in (0, 1):
        sizes = [sum(row.flow == flow for row in part) for part in parts]
        assert max(sizes) - min(sizes) <= 1


def test_one_row_is_a_micro_batch_of_its_own_length() -> None:
    rows = random_trajectories(3)
    assert micro_batch(rows, [1], pad_id=0).token_ids_NT.shape == (1, rows[1].num_tokens)
