"""Engines for the agent and learn tests. Starting one takes seconds, so each kind starts once per session."""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from robustops.agent.engine_policy import EnginePolicy
from robustops.agent.vllm_options import VllmOptions


@pytest.fixture(scope="session")
def tiny_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny random Qwen3 with its tokenizer (see tiny_qwen3)."""
    from tiny_qwen3 import write_tiny_folder

    return write_tiny_folder(tmp_path_factory.mktemp("tiny") / "model")


@pytest.fixture(scope="session")
def vllm_policy() -> Callable[..., EnginePolicy]:
    """The function of that name, by its module's name: vllm takes seconds to import, and is not everywhere."""
    if importlib.util.find_spec("vllm") is None:
        pytest.skip("vllm is not installed")
    start: Callable[..., EnginePolicy] = importlib.import_module("robustops.agent.vllm").vllm_policy
    return start


@pytest.fixture(scope="session")
def vllm_policies(tiny_folder: Path, vllm_policy: Callable[..., EnginePolicy]) -> Iterator[dict[str, EnginePolicy]]:
    """Two in-process vLLM policies over the same folder: "continuous" and "deterministic"."""
    from tiny_qwen3 import CALL_END, IM_END, decode

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
