"""A real vLLM server: its own process, weights through a folder, and again after it was killed."""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from tiny_qwen3 import CALL_END, IM_END, decode, logprobs_of, tiny_model

from robustops.agent.policy import Prompt, Sample, Sampling
from robustops.agent.vllm_options import VllmOptions
from robustops.agent.vllm_process import VllmProcess
from robustops.agent.vllm_server import ServerOptions, ServerPolicy

pytestmark = [
    pytest.mark.vllm,
    pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("vllm") is None, reason="vllm is not installed"),
]
PROMPT = tuple(k * 37 % 250 for k in range(150))  # several blocks of the cache
OPTIONS = VllmOptions(dtype="float32", max_model_len=512, kv_cache_memory_bytes=32 * 2**20, max_num_seqs=8)


COMPILED = pytest.param(
    True,
    marks=[
        pytest.mark.skipif(os.environ.get("ROBUSTOPS_TEST_SIZE") != "full", reason="compiling takes 10 s and more"),
        pytest.mark.skipif(shutil.which("g++") is None, reason="no C++ compiler"),
    ],
    id="compiled",
)


@pytest.fixture(params=[pytest.param(False, id="eager"), COMPILED])
async def policy(request: pytest.FixtureRequest, tiny_folder: Path, tmp_path: Path) -> AsyncIterator[ServerPolicy]:
    engine = replace(OPTIONS, is_compiled=request.param)
    process = VllmProcess(tiny_folder, engine, name="m", log_file=tmp_path / "log")
    options = ServerOptions(urls=(process.url,), model="m", weights_folder=tmp_path / "weights", poll_s=0.5)
    policy = ServerPolicy(options, stop_ids=(IM_END, CALL_END), decode=decode, process=process)
    yield policy
    await policy.close()


async def act(policy: ServerPolicy) -> list[Sample]:
    """The same prompt twice: the second time its keys are cached."""
    prompt = Prompt(case_id="c", task_id="t", turn=0, token_ids=PROMPT, messages=(), tools=())
    return [await policy.act(prompt, Sampling(max_tokens=16, seed=seed)) for seed in (1, 2)]


def gap(seed: int, samples: list[Sample]) -> float:
    """The largest difference to a plain forward pass of the model of that seed."""
    model = tiny_model(seed)
    return max(
        abs(ours - theirs)
        for sample in samples
        for ours, theirs in zip(sample.logprobs, logprobs_of(model, PROMPT, sample.token_ids), strict=True)
    )


async def test_weights_arrive_with_their_tied_head_and_once_more_after_a_kill(policy, sized):
    assert gap(0, await act(policy)) < 1e-4
    for version, seed in ((1, 6), (3, 5)):
        await policy.load_weights(tiny_model(seed).named_parameters(), version)
        samples = await act(policy)
        assert {sample.weight_version for sample in samples} == {version}
        assert gap(seed, samples) < 1e-4
    assert gap(0, samples) > 1, "the test needs weights that differ"
    for _ in range(sized(2) - 1):  # at full size alone: a second start takes as long as the first one
        os.kill(policy._process.pid, signal.SIGKILL)
        assert gap(5, await act(policy)) < 1e-4
