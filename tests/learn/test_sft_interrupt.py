"""A Ctrl-C or SIGTERM in the middle of SFT: no finished step is repeated, and the run ends as one left alone."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
import sft_process
import torch
from rl_forks import run_main
from test_sft_module import demonstrations, one_thread, settings, weights_of  # noqa: F401
from tiny_qwen3 import tiny_model

from robustops.learn.checkpoint import load_latest
from robustops.learn.fit import fit
from robustops.learn.sft import SftModule

SIGNALS = pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["ctrl-c", "sigterm"])


def module_in(folder: Path, *, seed: int = 0) -> SftModule:
    """Six steps of one pass each, in one epoch: no state is due before the last."""
    chosen = settings(batch_size=2, schedule="cosine", warmup_steps=2)
    return SftModule(tiny_model(seed), demonstrations(12), demonstrations(2, seed=9), chosen, checkpoints=folder)


def interrupt(module: SftModule, *, in_step: int, number: int, times: int = 1) -> None:
    passes = []

    def count(*_: object) -> None:
        passes.append(None)
        for _ in range(times if len(passes) == in_step else 0):
            signal.raise_signal(number)

    module.net.register_forward_hook(count)


@SIGNALS
def test_the_step_it_comes_in_is_finished_and_saved_and_the_resumed_run_ends_bit_identical(tmp_path, number):
    whole = module_in(tmp_path / "whole")
    fit(whole)
    stopped = module_in(tmp_path / "parts")
    interrupt(stopped, in_step=4, number=number)
    with pytest.raises(KeyboardInterrupt):
        fit(stopped)
    saved = load_latest(tmp_path / "parts")
    assert saved is not None
    assert saved.step == stopped.saved_step == 4
    resumed = module_in(tmp_path / "parts", seed=1)  # the wrong weights, at first
    resumed.resume(saved.step, saved.state)
    fit(resumed)
    assert (resumed.best_loss, resumed.last_loss) == (whole.best_loss, whole.last_loss)
    found = weights_of(resumed)
    assert all(torch.equal(tensor, found[name]) for name, tensor in weights_of(whole).items())


@SIGNALS
def test_a_second_one_stops_at_once(tmp_path, number):
    stopped = module_in(tmp_path)
    interrupt(stopped, in_step=4, number=number, times=2)
    with pytest.raises(KeyboardInterrupt):
        fit(stopped)
    assert load_latest(tmp_path) is None
    assert stopped.saved_step == 0


def test_the_handlers_of_before_are_back_after_training(tmp_path):
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    for in_step in (4, 99):
        module = module_in(tmp_path / str(in_step))
        interrupt(module, in_step=in_step, number=signal.SIGTERM)
        try:
            fit(module)
        except KeyboardInterrupt:
            assert in_step == 4
        assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before


@pytest.mark.slow
def test_of_two_ranks_both_stop_where_one_is_told(tmp_path):
    """A cluster's SIGTERM may reach one process alone, and a state of weights that are spread takes both."""
    ended = run_main(sft_process.main, tmp_path / "both", "fsdp", False, 0, False, 2, num_ranks=2).result()
    assert ended == {"saved": 2}
    saved = load_latest(tmp_path / "both" / "checkpoints")
    assert saved is not None
    assert saved.step == 2
