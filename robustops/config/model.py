"""Which model it is, what may be trained of it, and the endpoint behind which it may live."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from robustops.config.required import REQUIRED

SERVED_NAME = "policy"  # what vLLM servers call the model, unless told otherwise


@dataclass
class ApiConfig:
    """An OpenAI-compatible endpoint. The key is read from the environment variable `key_env`, never from a file."""

    base_url: str = ""
    model: str = ""
    key_env: str = ""
    usd_per_million_input: float = 0.0
    usd_per_million_output: float = 0.0
    concurrency: int = 8
    requests_per_minute: int | None = None  # None: no limit besides the concurrency


@dataclass
class LoraConfig:
    """Low-rank adapters instead of full-parameter training; exports are merged."""

    rank: int = 0  # 0: all parameters are trained
    alpha: int = 32  # the adapters' product is scaled by alpha / rank
    dropout: float = 0.0
    targets: list[str] = field(
        default_factory=lambda: ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
    )


@dataclass
class ModelConfig:
    name: str = REQUIRED
    stage: str = "base"  # base | sft | rl | teacher: the row's place in a report
    path: str = REQUIRED  # a Hugging Face model folder
    revision: str | None = None  # which revision `path` holds; changes nothing, run.json records it
    tokenizer_path: str | None = None  # where it is not the model's own: API models are counted with Base's
    attn: str = "sdpa"  # sdpa | flash_attention_2
    dtype: str = "bfloat16"  # compute type; master weights are always float32
    max_context_tokens: int = 32768
    reserve_tokens: int = 2048
    max_turns: int = 40
    tool_schema: str = "full"  # full | compact
    shape: dict[str, Any] = field(default_factory=dict)  # as in config.json; lets plan work without the weights
    lora: LoraConfig = field(default_factory=LoraConfig)
    api: ApiConfig = field(default_factory=ApiConfig)
