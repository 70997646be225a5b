"""Each ablation's experiment file changes what one step trains on, in the direction that its name says."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
import torch
from hydra import compose
from sampling import NO_SIGNAL, ids, run_step
from test_batch import ANSWER, TAGS, call_turn
from torch import Tensor

from robustops.compose.rl import build_module, build_sampler, credit_rules
from robustops.config import RunConfig, typed
from robustops.core.episode import CheckResult, Episode, EpisodeGroup, Turn, Verdict
from robustops.core.task import Case
from robustops.learn.batch import training_batch

pytestmark = pytest.mark.usefixtures("hydra_knows_the_tree")

TINY = Path(__file__).resolve().parents[2] / "robustops" / "assets" / "models" / "tiny-base"


def configured(experiment: str, *overrides: str) -> RunConfig:
    config = typed(compose("train", overrides=[f"+experiment={experiment}", *overrides, "run.dir=somewhere"]))
    assert isinstance(config, RunConfig)
    return config


def episode(passed: tuple[bool, bool], gated: int, *turns: Turn) -> Episode:
    def verdict(passed: tuple[bool, bool], gated: int) -> Verdict:
        checks = tuple(CheckResult(index=i, name="n", passed=ok) for i, ok in enumerate(passed))
        return Verdict(checks=checks, gated=gated)

    return Episode(
        case=Case(task_id="t"),
        turns=turns,
        boundary=verdict((False, False), 0),
        end=verdict(passed, gated),
        stop_reason="stop",
    )


def advantages(experiment: str) -> dict[str, list[Tensor]]:
    """Of trained tokens. In "order" one check each passes, the second member's without its prerequisite, and the first
    answers at more length; in "bad call" the success contains one."""
    config = configured(experiment)
    order = (episode((True, False), 1, call_turn(), ANSWER), episode((False, True), 0, ANSWER))
    bad_call = (
        episode((True, True), 2, call_turn(is_error=True), ANSWER),
        episode((False, False), 0, call_turn(), ANSWER),
    )
    groups = [
        EpisodeGroup(group_id=name, condition="clean", episodes=episodes)
        for name, episodes in (("order", order), ("bad call", bad_call))
    ]
    rows = training_batch(groups, credit_rules(config, config.algorithm), TAGS).trajectories
    found: dict[str, list[Tensor]] = {}
    for row in rows:
        found.setdefault(row.group_id, []).append(row.advantage_T[row.is_trained_T])
    return found


def test_gated_progress_alone_tells_the_right_order_from_the_wrong_one():
    right, wrong = advantages("rl120")["order"]
    assert right.max() > 0.1
    assert wrong.max() < -0.1
    for experiment in ("rl120_progress_independent", "rl120_progress_none"):
        right, wrong = advantages(experiment)["order"]
        assert right.max() == pytest.approx(0, abs=1e-6), "without a signal, and the stop of a failure is capped at 0"
        assert wrong.max() == pytest.approx(0, abs=1e-6)


def test_a_weight_on_length_takes_from_the_longer_answer():
    (long, short), (long_then, short_then) = advantages("rl120")["order"], advantages("rl120_length")["order"]
    assert long_then.max() - short_then.max() < long.max() - short.max() - 0.01


def test_without_local_credit_a_bad_call_is_praised_with_its_success():
    won = advantages("rl120")["bad call"][0]
    assert won[1:4].tolist() == [-0.5] * 3
    assert won[0] > 0
    won = advantages("rl120_no_local_credit")["bad call"][0]
    assert won.min() == won.max() > 0


@pytest.mark.parametrize(
    ("experiment", "expected"),
    [
        ("rl120", {"clean": 16, "fault": 16}),
        ("rl120_clean_only", {"clean": 32}),
        ("rl120_fault_only", {"fault": 32}),
    ],
)
def test_the_share_of_faults_is_that_of_the_starts_of_a_step(experiment, expected):
    config = configured(experiment)
    sampler = build_sampler(config, config.algorithm, [f"task {number}" for number in range(40)])
    assert Counter(slot.flow for slot in sampler.plan(0)) == expected


@pytest.mark.parametrize(("experiment", "returns"), [("rl120", True), ("rl120_no_return", False)])
def test_a_case_without_signal_returns_on_a_vacated_place_of_the_tenth_step_or_in_the_next_pass(experiment, returns):
    """Of thirty cases at most two are drawn a step, so the next pass is not reached."""
    small = ("algorithm.clean_groups=0", "algorithm.fault_groups=1", "algorithm.max_attempts=2")
    config = configured(experiment, *small)
    names = [f"f{number}" for number in range(30)]
    sampler = build_sampler(config, config.algorithm, names)
    no_signal = dict.fromkeys(names, NO_SIGNAL)
    first = ids(run_step(sampler, 0, no_signal)[0], "fault")[0]
    assert first not in [name for step in range(1, 10) for name in ids(run_step(sampler, step)[0], "fault")]
    assert (first in ids(run_step(sampler, 10, no_signal)[0], "fault")) == returns


def test_the_temperature_of_rollouts_is_that_of_the_distribution_trained():
    """log_softmax(logits / 0.7), by the model's own forward pass over all logits."""
    config = configured("rl120_temperature", "model=tiny", "hardware=cpu", "algorithm.kl_coef=0")
    module = build_module(config, config.algorithm, TINY)
    row = training_batch(
        [
            EpisodeGroup(
                group_id="g",
                condition="clean",
                episodes=(episode((True, True), 2, ANSWER), episode((False, False), 0, ANSWER)),
            )
        ],
        credit_rules(config, config.algorithm),
        TAGS,
    ).trajectories[0]
    (found_K,) = module.policy_gradient().logprobs(module.net, [row])
    with torch.no_grad():
        table = (module.model(row.token_ids_T[None]).logits[0] / 0.7).log_softmax(-1)
    expected = [table[t - 1, row.token_ids_T[t]] for t in range(len(row.token_ids_T)) if row.is_trained_T[t]]
    torch.testing.assert_close(found_K, torch.stack(expected), atol=1e-4, rtol=1e-4)
