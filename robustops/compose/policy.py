"""From `model` and `engine` to a policy. An engine's library is imported only when that engine is asked for."""

from __future__ import annotations

import importlib
import importlib.util
import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from robustops.agent.api import ApiPolicy
from robustops.agent.codec import Codec
from robustops.agent.plan import Plan
from robustops.agent.policy import Policy
from robustops.agent.scripted import ScriptedExpert
from robustops.agent.vllm_options import VllmOptions
from robustops.compose.completion import build_completion
from robustops.compose.vllm_sizes import vllm_sizes
from robustops.config import RunConfig
from robustops.config.preflight import model_folder

log = logging.getLogger(__name__)


def build_policy(config: RunConfig, codec: Codec, plans: Mapping[str, Plan]) -> Policy:
    """Raises ConfigError for a missing model folder or endpoint, PolicyError for an engine that does not start."""
    kind = config.engine.kind
    if kind == "scripted":
        return ScriptedExpert(plans, codec)
    if kind == "api":
        return ApiPolicy(build_completion(config), codec)
    policy: Policy = build_engine(config, codec)
    return policy


def build_engine(config: RunConfig, codec: Codec, *, can_sleep: bool = False) -> Any:
    """A local engine whose weights can be replaced: vLLM, or transformers where vLLM has no build."""
    folder = model_folder(config.model)
    if config.engine.kind == "hf" or importlib.util.find_spec("vllm") is None:
        if config.engine.kind != "hf":
            log.warning("vllm is not installed here: rollouts use the transformers engine, which is slower")
        engine = importlib.import_module("robustops.agent.hf")
        options = engine.HfOptions(
            max_model_len=config.model.max_context_tokens,
            max_num_seqs=config.engine.concurrency,
            device=None if config.hardware.gpus else "cpu",
            seed=config.seed,
        )
        return engine.hf_policy(
            folder,
            stop_ids=codec.stop_ids,
            decode=codec.decode,
            dtype=config.model.dtype,
            options=options,
            deterministic=config.engine.deterministic,
        )
    engine = importlib.import_module("robustops.agent.vllm")
    return engine.vllm_policy(
        folder,
        stop_ids=codec.stop_ids,
        decode=codec.decode,
        options=vllm_options(config, can_sleep=can_sleep),
        deterministic=config.engine.deterministic,
    )


def vllm_options(config: RunConfig, *, can_sleep: bool) -> VllmOptions:
    """Of an engine in this process and of a server alike. Only a GPU's memory is given back."""
    return replace(
        vllm_sizes(config.model, config.engine),
        is_prefix_cached=not config.engine.deterministic,  # the last bits depend on what happens to be cached
        can_sleep=can_sleep and config.hardware.gpus > 0,
        seed=config.seed,
    )
