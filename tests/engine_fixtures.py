"""Engines for the agent and learn tests. Starting one takes seconds, so each kind starts once per session."""

from __future__ import annotations

import asyncio
import importlib.util
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def tiny_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny random Qwen3 with its tokenizer (see tiny_qwen3)."""
    from tiny_qwen3 import write_tiny_folder

    return write_tiny_folder(tmp_path_factory.mktemp("tiny") / "model")


@pytest.fixture(scope="session")
def vllm_policies(tiny_folder: Path) -> Iterator[dict[str, object]]:
    """Two in-process vLLM policies over the same folder: "continuous" and "deterministic"."""
    if importlib.util.find_spec("vllm") is None:
        pytest.skip("vllm is not installed")
    from tiny_qwen3 import CALL_END, IM_END, decode

    from robustops.agent.vllm import VllmOptions, vllm_policy

    options = VllmOptions(dtype="float32", max_model_len=512, kv_cache_memory_bytes=32 * 2**20, max_num_seqs=32)
    policies = {
        kind: vllm_policy(
            tiny_folder,
            stop_ids=(IM_END, CALL_END),
            decode=decode,
            options=options,
            deterministic=kind == "deterministic",
        )
        for kind in ("continuous", "deterministic")
    }
    yield dict(policies)
    for policy in policies.values():
        asyncio.run(policy.close())
