"""Deliberate defects, each with the test that must notice it. docs/algorithms.md names them by their keys."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch
import toy

from robustops.core.episode import Verdict
from robustops.data.sft import SftSample
from robustops.learn import advantage, credit, denominators, loss, sampler, slot, trajectory
from robustops.learn.case_source import CaseSource
from robustops.learn.trajectory import Trajectory
from robustops.rollout import score
from robustops.rollout.score import Evidence, Score

Patch = Callable[[pytest.MonkeyPatch, ModuleType], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutation:
    """`arguments`: for a parametrised test, one case of it."""

    test: str
    patch: Patch
    arguments: tuple[Any, ...] = ()


def setting(target: object, name: str, value: object) -> Patch:
    return lambda monkeypatch, test_module: monkeypatch.setattr(target, name, value, raising=False)


def in_test(name: str, make: Callable[[Any], object]) -> Patch:
    """Replace what the test module imported under `name` by a defective version of it."""
    return lambda monkeypatch, module: monkeypatch.setattr(module, name, make(getattr(module, name)))


def over_tokens(groups: Any, **settings: Any) -> advantage.Advantages:
    raw = advantage.raw_scores(groups, weights=settings["weights"], kind="component")
    combined_N = torch.from_numpy(raw.weight_K @ advantage.z_group(raw))
    tokens_T = torch.repeat_interleave(combined_N, torch.tensor([40, 10, 10, 10, 10, 10, 10, 10, 40, 40, 10, 10]))
    total_N = (combined_N - tokens_T.mean()) / (tokens_T.std() + 1e-6)
    return advantage.Advantages(total_N=total_N, quality_N=torch.zeros_like(total_N))


def never_constant(ratio_NK2: Any, start_G: Any) -> Any:
    return np.zeros((ratio_NK2.shape[1], len(start_G)), dtype=bool)


def local_weights(tokens: loss.LossTokens, weights: object, settings: loss.PolicyLoss) -> loss.LossPart:
    """Denominators of the micro-batch instead of the step's."""
    counts = torch.bincount(tokens.flow_T[tokens.is_trained_T], minlength=2)
    own = denominators.token_weights(denominators.FlowTokens(counts=tuple(counts.tolist())))
    return loss.policy_loss(tokens, own, settings)


def whole_turn(turn: Any, tags: Any, offset: int) -> credit.Span:
    return credit.Span(start=offset, stop=offset + len(turn.sampled_ids))


def newest_first(self: CaseSource, step: int, barred: Any) -> slot.Waiting | None:
    return self._queue.pop() if self._queue else None


def at_once(self: CaseSource, step: int, barred: Any) -> slot.Waiting | None:
    found = next((entry for entry in self._queue if entry.task_id not in barred), None)
    if found is not None:
        self._queue.remove(found)
    return found


def whatever_the_success(**parts: Any) -> Score:
    found = parts["evidence"]
    return Score(**{**parts, "quality": 1 - Fraction(len(found.bad), max(1, found.num_calls))})


NO_EVIDENCE = Evidence(num_calls=0, bad=(), repeated_turns=())
WON = Score(success=True, progress=Fraction(1), quality=Fraction(1), evidence=NO_EVIDENCE)
LOST = Score(success=False, progress=Fraction(0), quality=Fraction(0), evidence=NO_EVIDENCE)
fresh_case = CaseSource.fresh
SCORE, LEARN = "tests/rollout/test_score.py::", "tests/learn/"
MUTATIONS = {
    "no checks pass vacuously": Mutation(
        test=SCORE + "test_no_or_skipped_checks_are_unscorable_never_a_success",
        patch=setting(Verdict, "strict", property(lambda self: self.passed == self.scored)),
        arguments=(Verdict(checks=()),),
    ),
    "ungated progress": Mutation(
        test=SCORE + "test_progress_of_the_calendar_example_is_gated_by_the_graph",
        patch=in_test("score", lambda real: partial(real, progress="independent")),
        arguments=((False, True, True), 0),
    ),
    "quality of failures": Mutation(
        test=SCORE + "test_quality_is_the_share_of_sound_calls_of_a_success_only",
        patch=setting(score, "Score", whatever_the_success),
    ),
    "faulted calls are blamed": Mutation(
        test=SCORE + "test_call_that_an_injected_fault_made_fail_is_never_bad",
        patch=setting(score, "_is_caller_error", lambda turn: turn.shown is not None and turn.shown.is_error),
        arguments=("throttled",),
    ),
    "duplicate writes go unnoticed": Mutation(
        test=SCORE + "test_retry_of_a_write_whose_ack_was_lost_is_a_duplicate_write",
        patch=setting(score, "_duplicate_writes", lambda turns: frozenset()),
    ),
    "every repeated write is a duplicate": Mutation(
        test=SCORE + "test_retry_after_not_executed_is_never_bad",
        patch=setting(score, "_duplicate_writes", lambda turns: frozenset(range(1, len(turns)))),
    ),
    "repeats marked from the second": Mutation(
        test=SCORE + "test_same_read_of_the_same_state_is_marked_from_the_third_time",
        patch=setting(score, "REPEAT_FROM", 2),
    ),
    "population deviation": Mutation(
        test=LEARN + "test_advantage.py::test_standard_deviations_are_sample_deviations",
        patch=setting(advantage, "DDOF", 0),
    ),
    "constant decided on the float deviation": Mutation(
        test=LEARN + "test_advantage.py::test_constant_group_is_exactly_zero_before_whitening_despite_float_noise",
        patch=setting(advantage, "is_constant", never_constant),
        arguments=("component",),
    ),
    "whitening over tokens": Mutation(
        test=LEARN + "test_advantage.py::test_whitening_counts_trajectories_not_tokens",
        patch=in_test("normalise", lambda real: over_tokens),
    ),
    "aggregate instead of component": Mutation(
        test=LEARN + "test_advantage.py::test_worked_oracle",
        patch=in_test(
            "normalise", lambda real: lambda groups, weights, kind: real(groups, weights=weights, kind="aggregate")
        ),
        arguments=(
            "component",
            [1.9652, -0.5358, -0.5358, -0.8937, 0.3579, 0, 0, -0.3579, 1.2239, 1.1221, -1.173, -1.173],
        ),
    ),
    "bad calls capped at zero": Mutation(
        test=LEARN + "test_credit.py::test_bad_call_marks_its_block_and_leaves_the_narration_before_it",
        patch=setting(credit, "BAD_CAP", 0.0),
    ),
    "narration punished with its call": Mutation(
        test=LEARN + "test_credit.py::test_bad_call_marks_its_block_and_leaves_the_narration_before_it",
        patch=setting(credit, "call_span", whole_turn),
    ),
    "native stop not capped": Mutation(
        test=LEARN + "test_credit.py::test_native_stop_of_a_failed_trajectory_is_capped_at_zero_with_its_end_of_turn",
        patch=setting(credit, "STOP_CAP", 9.0),
    ),
    "forced stop capped": Mutation(
        test=LEARN + "test_credit.py::test_forced_stop_gets_no_cap",
        patch=in_test("spans", lambda real: lambda episode, *rest: real(replace(episode, stop_reason="stop"), *rest)),
        arguments=("length",),
    ),
    "temporal credit loses mass": Mutation(
        test=LEARN + "test_credit.py::test_positive_quality_moves_onto_the_tokens_after_the_last_bad_call",
        patch=in_test(
            "temporal_quality", lambda real: lambda quality, marked: real(quality, marked).clamp(max=quality)
        ),
    ),
    "symmetric clip": Mutation(
        test=LEARN + "test_loss.py::test_clip_bounds_are_a_fifth_below_and_28_percent_above",
        patch=in_test("PolicyLoss", lambda real: partial(real, clip_high=0.2)),
    ),
    "importance weight without a cap": Mutation(
        test=LEARN + "test_loss.py::test_importance_weight_is_capped_and_acts_on_the_policy_term_alone",
        patch=in_test("PolicyLoss", lambda real: partial(real, tis_cap=1e9)),
    ),
    "importance weight with a gradient": Mutation(
        test=LEARN + "test_loss.py::test_importance_weight_carries_no_gradient",
        patch=setting(torch.Tensor, "detach", lambda self: self),
    ),
    "flows add up to two": Mutation(
        test=LEARN + "test_loss.py::test_each_flow_weighs_half_whatever_its_number_of_tokens",
        patch=setting(denominators, "FLOW_SHARE", 1.0),
    ),
    "an empty flow halves the loss": Mutation(
        test=LEARN + "test_loss.py::test_empty_flow_gives_its_weight_to_the_other_with_a_warning",
        patch=setting(denominators, "all", lambda present: True),
    ),
    "untrained tokens in the denominator": Mutation(
        test=LEARN + "test_loss.py::test_denominators_count_trained_tokens_only_and_zero_advantages_too",
        patch=setting(Trajectory, "num_trained", Trajectory.num_tokens),
    ),
    "denominators per micro-batch": Mutation(
        test=LEARN + "test_loss.py::test_gradient_is_the_same_for_one_two_and_eight_micro_batches",
        patch=setting(toy, "policy_loss", local_weights),
        arguments=(4,),
    ),
    "observations trained": Mutation(
        test=LEARN + "test_loss.py::test_perturbing_the_logits_of_observations_changes_nothing",
        patch=setting(loss.LossTokens, "trained", lambda self: self),
    ),
    "inherited and appended tokens trained": Mutation(
        test=LEARN + "test_batch.py::test_only_sampled_ids_of_generated_turns_are_trained",
        patch=setting(trajectory, "mask_of", lambda turn: [True] * len(turn.context_ids + turn.sampled_ids)),
    ),
    "missing logprobs filled in": Mutation(
        test=LEARN + "test_batch.py::test_sampled_tokens_without_logprobs_are_refused_naming_the_episode",
        patch=setting(trajectory, "check_logprobs", lambda episode: None),
    ),
    "SFT divides by the intended batch": Mutation(
        test=LEARN + "test_supervision.py::test_loss_divides_by_the_trajectories_actually_in_the_step",
        patch=in_test(
            "supervised_loss", lambda real: lambda logp, w, num_trajectories: real(logp, w, num_trajectories=8)
        ),
    ),
    "last SFT batch dropped": Mutation(
        test=LEARN + "test_supervision.py::test_692_trajectories_are_87_steps_and_two_epochs_end_at_174",
        patch=in_test("steps_per_epoch", lambda real: lambda number, size: number // size),
    ),
    "SFT weighs every token alike": Mutation(
        test="tests/data/test_sft.py::test_every_decision_weighs_the_same_however_long_it_is",
        patch=setting(SftSample, "weights", property(lambda self: (1 / len(self.token_ids),) * len(self.token_ids))),
    ),
    "three survivors are a group": Mutation(
        test=LEARN + "test_sampler.py::test_group_is_accepted_for_exact_signal_among_its_full_number",
        patch=in_test("judge", lambda real: lambda scores, **rest: real(scores, **{**rest, "group_size": len(scores)})),
        arguments=([WON, LOST, LOST], "infrastructure"),
    ),
    "quality alone admits an all-success group": Mutation(
        test=LEARN + "test_sampler.py::test_rejected_place_gets_another_case_of_its_flow",
        patch=setting(sampler, "all", lambda successes: False),
    ),
    "waiting cases return at once": Mutation(
        test=LEARN
        + "test_sampler.py::test_zero_signal_returns_ten_steps_later_on_the_first_vacated_place_and_not_before",
        patch=setting(CaseSource, "returned", at_once),
    ),
    "newest waiting case first": Mutation(
        test=LEARN
        + "test_sampler.py::test_oldest_waiting_case_returns_first_and_a_second_zero_signal_restarts_its_wait",
        patch=setting(CaseSource, "returned", newest_first),
    ),
    "boundary forgotten": Mutation(
        test=LEARN
        + "test_sampler.py::test_fault_case_resumes_from_its_saved_boundary_and_clean_case_from_the_beginning",
        patch=setting(sampler, "Waiting", lambda **entry: slot.Waiting(**{**entry, "boundary": None})),
    ),
    "a case twice in one batch": Mutation(
        test=LEARN + "test_sampler.py::test_no_case_comes_twice_in_one_step_even_when_the_data_runs_out",
        patch=setting(CaseSource, "fresh", lambda self, barred: fresh_case(self, ())),
    ),
    "selection in finish order": Mutation(
        test=LEARN + "test_sampler.py::test_selection_is_in_dispatch_order_whatever_finishes_first",
        patch=setting(sampler, "sorted", lambda values, key=None: list(values)),
    ),
    "state without its boundaries": Mutation(
        test=LEARN + "test_sampler.py::test_state_keeps_an_open_step_and_its_boundaries_through_json",
        patch=setting(slot, "_boundary", lambda state: None),
    ),
}
