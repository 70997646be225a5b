"""An exported model answers in vLLM as it does in transformers."""

from __future__ import annotations

import asyncio
import importlib.util

import pytest
import torch
from tiny_qwen3 import CALL_END, IM_END, decode, tiny_model, write_tiny_folder
from transformers import AutoModelForCausalLM

from robustops.agent.policy import Prompt, Sampling
from robustops.agent.vllm_options import VllmOptions
from robustops.learn.export import export_model

pytestmark = [
    pytest.mark.vllm,
    pytest.mark.skipif(importlib.util.find_spec("vllm") is None, reason="vllm is not installed"),
]


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
async def test_greedy_answers_of_an_export_are_equal_in_vllm_and_transformers(
    tmp_path, vllm_policy, vllm_policies, dtype
):
    source = write_tiny_folder(tmp_path / "source", seed=0)
    folder = export_model(tiny_model(11), tmp_path / "export", source=source, dtype=dtype)
    # fp32 compute in both, whatever the file's type: near-ties would tell nothing about the export
    options = VllmOptions(dtype="float32", max_model_len=256, kv_cache_memory_bytes=16 * 2**20, max_num_seqs=8)
    policy = vllm_policy(folder, stop_ids=(IM_END, CALL_END), decode=decode, options=options)
    vllm_policies[f"export {dtype}"] = policy  # an engine that is collected takes its process's groups with it
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    prompts = [tuple((case * 17 + k * 29) % 250 for k in range(24 + case)) for case in range(4)]
    samples = await asyncio.gather(
        *(
            policy.act(
                Prompt(case_id=str(i), task_id="t", turn=0, token_ids=ids, messages=(), tools=()),
                Sampling(temperature=0.0, max_tokens=10),
            )
            for i, ids in enumerate(prompts)
        )
    )
    for ids, sample in zip(prompts, samples, strict=True):
        greedy = list(ids)
        for token in sample.token_ids:
            with torch.no_grad():
                best = int(model(torch.tensor([greedy])).logits[0, -1].argmax())
            assert token == best
            greedy.append(token)
