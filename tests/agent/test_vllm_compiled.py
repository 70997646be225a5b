"""The CPU engine with engine.compiled and large cache blocks: alike in results, different in how it starts."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import shutil

import pytest
from tiny_qwen3 import CALL_END, IM_END, VOCAB, decode, logprobs_of, tiny_model

from robustops.agent.policy import Prompt, Sampling
from robustops.agent.vllm_options import (
    VllmOptions,
    command_line,
    engine_arguments,
    engine_environment,
    is_cpu_build,
)
from robustops.core.errors import ConfigError

needs_vllm = pytest.mark.skipif(importlib.util.find_spec("vllm") is None, reason="vllm is not installed")
CPU_ONLY = "the CPU build of vllm is not installed"


def sizes(**settings: object) -> VllmOptions:
    return VllmOptions(
        dtype="float32",
        max_model_len=512,
        kv_cache_memory_bytes=32 * 2**20,
        max_num_seqs=8,
        is_compiled=True,
        **settings,
    )


def test_the_cpu_compiles_on_request_alone_and_a_gpu_always():
    eager = [
        engine_arguments(VllmOptions(is_compiled=is_compiled), is_cpu=is_cpu)["enforce_eager"]
        for is_cpu in (True, False)
        for is_compiled in (False, True)
    ]
    assert eager == [True, False, False, False]
    assert "--no-enforce-eager" in list(command_line(engine_arguments(sizes(), is_cpu=True)))


def test_a_compiled_server_is_not_told_to_leave_torch_compile_out():
    assert engine_environment(is_cpu=True)["TORCHDYNAMO_DISABLE"] == "1"
    assert engine_environment(is_cpu=True, is_compiled=True)["TORCHDYNAMO_DISABLE"] == "0"


def test_cache_blocks_are_small_on_the_cpu_unless_asked_for():
    assert engine_arguments(VllmOptions(), is_cpu=True)["block_size"] == 32
    assert engine_arguments(VllmOptions(), is_cpu=False)["block_size"] is None
    assert engine_arguments(VllmOptions(block_tokens=128), is_cpu=True)["block_size"] == 128


@pytest.mark.vllm
@needs_vllm
def test_without_a_compiler_the_setting_is_named(tiny_folder, vllm_policy, monkeypatch):
    if not is_cpu_build():
        pytest.skip(CPU_ONLY)
    monkeypatch.setenv("CXX", "no-such-compiler")
    with pytest.raises(ConfigError, match=r"compiled=true: no C\+\+ compiler 'no-such-compiler'"):
        vllm_policy(tiny_folder, stop_ids=(IM_END,), decode=decode, options=sizes())


@pytest.mark.vllm
@needs_vllm
@pytest.mark.skipif(os.environ.get("ROBUSTOPS_TEST_SIZE") != "full", reason="compiling takes 10 s and more")
@pytest.mark.skipif(shutil.which("g++") is None, reason="no C++ compiler")
def test_a_compiled_engine_samples_from_new_weights_and_repeats_itself(tiny_folder, vllm_policy, monkeypatch):
    if not is_cpu_build():
        pytest.skip(CPU_ONLY)
    monkeypatch.setenv("TORCHDYNAMO_DISABLE", "1")  # what it says is put back afterwards
    prompts = [
        Prompt(
            case_id=f"case-{case}",
            task_id="t",
            turn=0,
            token_ids=tuple((case * 31 + k * 37) % (VOCAB - 10) for k in range(150 + 20 * case)),
            messages=(),
            tools=(),
        )
        for case in range(4)
    ]

    async def samples_of(policy):
        return await asyncio.gather(*(policy.act(p, Sampling(max_tokens=24)) for p in prompts))

    policy = vllm_policy(
        tiny_folder, stop_ids=(IM_END, CALL_END), decode=decode, options=sizes(block_tokens=128), deterministic=True
    )
    try:
        for seed in (3, 4):
            model = tiny_model(seed)
            new = ((name, tensor.detach()) for name, tensor in model.named_parameters())
            asyncio.run(policy.load_weights(new, seed))
            first = asyncio.run(samples_of(policy))
            for prompt, sample in zip(prompts, first, strict=True):
                expected = logprobs_of(model, prompt.token_ids, sample.token_ids)
                assert sample.logprobs == pytest.approx(expected, abs=1e-4)
        assert policy._engine.reset_prefix_cache()
        assert asyncio.run(samples_of(policy)) == first
    finally:
        asyncio.run(policy.close())
