"""The RL loop: what happens in which order, and that it learns."""

from __future__ import annotations

import importlib.util
import os
import signal

import pytest
import torch
from bandit import ANSWER_TOKENS, PAD, PROBE_PROMPT, BanditCollector, MirrorPolicy
from tiny_qwen3 import tiny_model

from robustops.core.errors import ConfigError, SyncError, TableError
from robustops.learn.batch import CreditRules
from robustops.learn.callbacks import RlSettings, RolloutCallback
from robustops.learn.checkpoint import load_latest, save_state
from robustops.learn.credit import CallTags
from robustops.learn.grpo import GrpoModule, GrpoSettings, StepBatch
from robustops.learn.loss import PolicyLoss
from robustops.learn.rl_run import run_grpo
from robustops.learn.sampler import Sampler, SamplerSettings
from robustops.learn.step_buffer import StepBuffer
from robustops.learn.sync import Probe
from robustops.rollout.groups import Rejection
from robustops.rollout.score import RewardWeights

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning")


STATE = ["kept", "model", "num_updates", "optimiser", "recent_rewards", "sampler", "scheduler"]


class Killed(Exception):
    pass


class Scheduler:
    """Counts what it was asked to hold, as the fault scheduler does."""

    def __init__(self) -> None:
        self.held = {"throttled": 0}

    def state(self):
        return dict(self.held)

    def load_state(self, state):
        self.held = dict(state)


class Bench:
    """A tiny RL run with its parts at hand."""

    def __init__(self, folder, steps, *, policy=None, collector=None, groups=2, lr=1e-3, played_as="", **sampler):
        self.folder, self.steps = folder, steps
        self.policy = policy or MirrorPolicy()
        self.collector = collector or BanditCollector(self.policy)
        self.collector.policy = self.policy
        self.scheduler, self.notes, self.recorded = Scheduler(), [], []
        weights = RewardWeights()
        settings = SamplerSettings(clean_groups=groups, fault_groups=groups, seed=5, **sampler)
        task_ids = {flow: [f"{flow}-{i}" for i in range(40)] for flow in ("clean", "fault")}
        self.sampler = Sampler(task_ids, settings, weights=weights)
        self.callback = RolloutCallback(
            policy=self.policy,
            sampler=self.sampler,
            collector=self.collector,
            rules=CreditRules(weights=weights),
            tags=CallTags(open_id=258, close_id=259),
            probe=Probe(prompts=(PROBE_PROMPT,), max_diff_nats=1e-4, max_tokens=4),
            folder=folder,
            settings=RlSettings(steps=steps, played_as=played_as),
            scheduler=self.scheduler,
            record=lambda slot, outcome: self.recorded.append(slot.slot_id),
            report=lambda done, total, note: self.notes.append((done, total, note)),
        )
        grpo = GrpoSettings(lr=lr, pad_id=PAD, loss=PolicyLoss(kl_coef=0.0))
        self.module = GrpoModule(tiny_model(0, spread=0.02).train(), None, grpo)

    def run(self) -> None:
        run_grpo(self.module, self.callback, folder=self.folder, steps=self.steps)


def test_each_step_rolls_out_under_the_weights_of_the_update_before(tmp_path):
    bench = Bench(tmp_path, 3)
    bench.run()
    assert bench.policy.loaded == [0, 1, 2]
    assert bench.module.num_updates == 3
    assert [metrics["sync/weight_version"] for metrics in bench.callback.history] == [0, 1, 2]
    assert all(metrics["sync/probe_max_nats"] < 1e-4 for metrics in bench.callback.history)
    assert all(metrics["policy/mismatch_max_nats"] < 1e-4 for metrics in bench.callback.history)
    # the engine's copy is the trainer's weights before its last update, and not those after it
    assert not torch.equal(bench.policy.model.lm_head.weight, bench.module.model.lm_head.weight)


def test_a_summary_line_says_what_was_accepted_and_earned(tmp_path):
    bench = Bench(tmp_path, 1)
    bench.run()
    [(done, total, note)] = bench.notes
    assert (done, total) == (1, 1)
    assert note.startswith("accepted 2 clean + 2 fault of ")
    assert "reward 0." in note
    assert note.endswith("weights 1")


def test_every_played_slot_is_recorded_once(tmp_path):
    bench = Bench(tmp_path, 2)
    bench.run()
    assert bench.recorded == bench.collector.played
    assert len(set(bench.recorded)) == len(bench.recorded)


def test_a_run_in_two_parts_equals_one_in_one(tmp_path):
    whole = Bench(tmp_path / "whole", 4)
    whole.run()
    first = Bench(tmp_path / "parts", 2)
    first.scheduler.held = {"throttled": 7}
    first.run()
    second = Bench(tmp_path / "parts", 4)
    second.run()
    assert second.scheduler.held == {"throttled": 7}
    assert [step for step, _, _ in second.notes] == [3, 4]
    assert first.collector.played + second.collector.played == whole.collector.played
    for a, b in zip(whole.module.model.parameters(), second.module.model.parameters(), strict=True):
        assert torch.equal(a, b)


def test_a_run_goes_on_with_the_rate_that_it_is_given_and_the_moments_that_it_had(tmp_path):
    """What the line about a diverged run advises."""
    Bench(tmp_path, 1).run()
    second = Bench(tmp_path, 2, lr=1e-5)
    second.run()
    [optimiser] = second.module.trainer.optimizers
    assert [group["lr"] for group in optimiser.param_groups] == [1e-5]
    assert {float(entry["step"]) for entry in optimiser.state.values()} == {2.0}


def test_a_finished_run_is_not_trained_further(tmp_path):
    Bench(tmp_path, 2).run()
    again = Bench(tmp_path, 2)
    again.run()
    assert again.policy.loaded == []
    assert again.module.num_updates == 2


def test_fewer_steps_than_are_done_are_refused(tmp_path):
    Bench(tmp_path, 2).run()
    with pytest.raises(ConfigError, match=r"algorithm\.steps: got 1, and 2 are done in .*; expected at least 2"):
        Bench(tmp_path, 1).run()


def test_groups_that_were_played_by_other_settings_are_played_again(tmp_path):
    first = Bench(tmp_path, 1, played_as="temperature 1")

    def stop(slot):
        if len(first.collector.played) == 3:
            raise Killed

    first.collector.on_group = stop
    with pytest.raises(Killed):
        first.run()
    again = Bench(tmp_path, 1, played_as="temperature 2")
    again.run()
    assert again.collector.counted == []
    assert again.collector.played[:3] == first.collector.played


def test_a_damaged_newest_state_costs_one_step_and_its_groups_are_reused(tmp_path):
    whole = Bench(tmp_path, 3)
    whole.run()
    newest = tmp_path / "step-000003.pt"
    newest.write_bytes(newest.read_bytes()[:1000])
    again = Bench(tmp_path, 3)
    again.run()
    assert again.collector.played == []
    assert again.collector.counted == [slot for slot in whole.collector.played if slot.startswith("2/")]
    for a, b in zip(whole.module.model.parameters(), again.module.model.parameters(), strict=True):
        assert torch.equal(a, b)


def test_tokens_of_an_earlier_process_do_not_count_as_sampled_in_this_one_s_seconds(tmp_path):
    whole = Bench(tmp_path, 1)
    whole.run()
    [row] = whole.callback.history
    num_tokens = len(whole.collector.played) * 4 * ANSWER_TOKENS
    assert row["rollout/tokens_per_s"] == pytest.approx(num_tokens / row["time/rollout_s"])
    (tmp_path / "step-000001.pt").unlink()
    again = Bench(tmp_path, 1)
    again.run()
    assert again.callback.history[0]["rollout/sampled_tokens"] == row["rollout/sampled_tokens"] == num_tokens
    assert again.callback.history[0]["rollout/tokens_per_s"] == 0


def test_without_a_reference_no_distance_to_it_is_shown(tmp_path):
    bench = Bench(tmp_path, 1)
    bench.run()
    assert "policy/kl_nats" not in bench.callback.history[0]
    assert "policy/mismatch_max_nats" in bench.callback.history[0]


def test_sigterm_ends_a_rollout_at_its_next_turns_as_ctrl_c_does_and_nothing_is_sampled_twice(tmp_path):
    whole = Bench(tmp_path / "whole", 2)
    whole.run()
    at = len(whole.policy.asked) // 2 + 1
    first = Bench(tmp_path / "stopped", 2)
    first.policy.on_sample = lambda: os.kill(os.getpid(), signal.SIGTERM) if len(first.policy.asked) == at else None
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(KeyboardInterrupt):
        first.run()
    assert at <= len(first.policy.asked) < at + first.collector.group_size, "only turns that had begun may end"
    assert signal.getsignal(signal.SIGTERM) is before
    rest = Bench(tmp_path / "stopped", 2)
    rest.run()
    assert sorted(first.policy.asked + rest.policy.asked) == sorted(whole.policy.asked)
    for a, b in zip(whole.module.model.parameters(), rest.module.model.parameters(), strict=True):
        assert torch.equal(a, b)


def test_an_underfull_step_is_skipped_and_its_groups_train_in_the_next(tmp_path):
    class Starved(BanditCollector):
        async def outcome(self, slot, step):
            if step > 0 or slot.flow == "clean":
                return await super().outcome(slot, step)
            return Rejection(task_id=slot.task_id, flow="fault", reason="no_opportunity")

    bench = Bench(tmp_path, 1, collector=Starved(MirrorPolicy()), on_underfill="skip", max_attempts=2)
    bench.run()
    assert bench.module.num_updates == 0
    assert "no update" in bench.notes[0][2]
    assert sorted(load_latest(tmp_path).state) == STATE

    rest = Bench(tmp_path, 2, collector=Starved(MirrorPolicy()), on_underfill="skip", max_attempts=2)
    rest.run()
    assert rest.module.num_updates == 1
    assert rest.callback.history[0]["rollout/groups_trained"] == 4
    assert {slot.split("/")[1] for slot in rest.collector.played[:2]} == {"fault"}, "clean places were filled already"


def test_an_engine_that_keeps_old_weights_stops_the_run(tmp_path):
    bench = Bench(tmp_path, 3)
    load = bench.policy.load_weights

    async def once(named_tensors, version):
        if version == 0:
            await load(named_tensors, version)
        bench.policy.weight_version = version

    bench.policy.load_weights = once
    with pytest.raises(SyncError, match="weights 1: engine and trainer differ"):
        bench.run()


def test_the_buffer_refuses_a_batch_before_its_rollouts_and_a_second_put():
    buffer = StepBuffer()
    with pytest.raises(ValueError, match="before the rollouts"):
        buffer[0]
    buffer.put(StepBatch(step=0, batch=None))
    with pytest.raises(ValueError, match="step 0 was never trained on"):
        buffer.put(StepBatch(step=1, batch=None))


@pytest.mark.vllm
@pytest.mark.skipif(importlib.util.find_spec("vllm") is None, reason="vllm is not installed")
@pytest.mark.parametrize("kind", ["continuous", "deterministic"])
def test_vllm_rolls_out_inside_the_trainer_s_process(tmp_path, vllm_policies, kind):
    bench = Bench(tmp_path, 3, policy=vllm_policies[kind], lr=1e-2)
    bench.run()
    assert bench.module.num_updates == 3
    assert bench.policy.weight_version == 2
    for metrics in bench.callback.history:
        assert metrics["sync/probe_max_nats"] < 1e-4
        assert metrics["policy/mismatch_max_nats"] < 1e-4, "rollouts were sampled from other weights"


@pytest.mark.slow
def test_reward_rises_on_a_world_that_pays_for_low_tokens(tmp_path):
    bench = Bench(tmp_path, 16, groups=4, lr=1e-2)
    bench.run()
    rewards = [metrics["reward/mean"] for metrics in bench.callback.history]
    # 128 of 262 tokens pass: at random 12% of episodes pass all three checks, R = 0.12 + 0.3 * 0.49 + 0.012
    assert sum(rewards[:2]) / 2 < 0.45
    assert sum(rewards[-3:]) / 3 > 0.75


def test_a_folder_that_another_algorithm_trained_in_is_refused(tmp_path):
    save_state(tmp_path, 2, {"model": {}, "best_weights": {}})
    with pytest.raises(TableError, match="step 2 is of another algorithm"):
        Bench(tmp_path, steps=3).run()
