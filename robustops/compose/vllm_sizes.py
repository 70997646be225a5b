"""A model and the settings of its engine, ours or a server's, in; the sizes of vLLM out."""

from __future__ import annotations

from robustops.agent.vllm_options import VllmOptions
from robustops.config.tree import EngineConfig, ModelConfig, ServeConfig

MIB = 2**20


def vllm_sizes(model: ModelConfig, engine: EngineConfig | ServeConfig) -> VllmOptions:
    return VllmOptions(
        dtype=model.dtype,
        max_model_len=model.max_context_tokens,
        max_num_seqs=engine.concurrency,
        kv_cache_memory_bytes=None if engine.kv_cache_mib is None else engine.kv_cache_mib * MIB,
        gpu_memory_utilization=engine.gpu_memory_utilization,
        is_compiled=engine.compiled,
        block_tokens=engine.block_tokens,
    )
