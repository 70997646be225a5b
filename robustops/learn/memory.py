"""How much memory training takes: the shape of a model and of a step in, bytes out; and what was really taken.

The formula counts tensors, of a decoder as Qwen3 is built: gated feed-forward, normalised queries and keys, rotary
positions, grouped heads. Symbols: P parameters, L layers, h hidden, i feed-forward, a = heads x head size, k = key
heads x head size, V vocabulary, T tokens of a micro-batch, b bytes of the compute type.

    weights, gradients, Adam    4 P + 4 P + 8 P, divided by the ranks that share them
    kept for backward, a layer  T (4 (2 h + 2 heads + key heads + 2) + b (2 h + k + 6 a + 4 i)); with checkpoints b T h
    a member of R tokens        2 a b (P + R) in each layer, after a prefix of P that others share: the keys and values
                                that it sees; and a mask, b R (P + R), which layers and members alike share
    head                        two chunks of the wanted tokens' logits in float32, or one and the weight's gradient
"""

from __future__ import annotations

import resource
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch

from robustops.learn.head import CHUNK_TOKENS
from robustops.learn.shared_prefix import Layout

FLOAT32 = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelShape:
    """`num_heads` of queries, `num_kv_heads` of keys and values."""

    num_layers: int
    hidden: int
    feed_forward: int
    num_heads: int
    num_kv_heads: int
    head_size: int
    vocabulary: int
    is_tied: bool

    @classmethod
    def of_config(cls, config: Mapping[str, Any]) -> ModelShape:
        """From the values of a model's config.json. Raises KeyError for one that is missing."""
        heads = config["num_attention_heads"]
        return cls(
            num_layers=config["num_hidden_layers"],
            hidden=config["hidden_size"],
            feed_forward=config["intermediate_size"],
            num_heads=heads,
            num_kv_heads=config["num_key_value_heads"],
            head_size=config.get("head_dim") or config["hidden_size"] // heads,
            vocabulary=config["vocab_size"],
            is_tied=config["tie_word_embeddings"],
        )

    @property
    def attention(self) -> int:
        return self.num_heads * self.head_size

    @property
    def keys(self) -> int:
        return self.num_kv_heads * self.head_size

    @property
    def layer_parameters(self) -> int:
        projections = (
            2 * self.hidden * self.attention + 2 * self.hidden * self.keys + 3 * self.hidden * self.feed_forward
        )
        return projections + 2 * self.hidden + 2 * self.head_size

    @property
    def embedding_parameters(self) -> int:
        """The head's included."""
        return self.vocabulary * self.hidden * (1 if self.is_tied else 2)

    @property
    def parameters(self) -> int:
        return self.num_layers * self.layer_parameters + self.embedding_parameters + self.hidden

    def kv_bytes(self, bytes_each: int) -> int:
        """Of one token in an engine's cache."""
        return 2 * self.num_layers * self.keys * bytes_each


def layer_bytes(shape: ModelShape, compute_bytes: int) -> int:
    """What one layer keeps of one token for backward.

    In float32: the residual stream twice, factors of the norms and of attention. In the compute type: what norms,
    matrix products and attention take and give, keys and values once per query head.
    """
    repeated = shape.attention if shape.num_kv_heads != shape.num_heads else shape.keys
    full = 2 * shape.hidden + 2 * shape.num_heads + shape.num_kv_heads + 2
    compute = 2 * shape.hidden + 4 * shape.attention + shape.keys + 2 * repeated + 4 * shape.feed_forward
    return FLOAT32 * full + compute_bytes * compute


def shared_prefix_bytes(shape: ModelShape, layout: Layout, compute_bytes: int) -> int:
    """What one layer keeps on the CPU for members that see a common prefix."""
    return compute_bytes * 2 * shape.attention * sum(seen for _, seen in _sights(layout))


def mask_bytes(layout: Layout, compute_bytes: int) -> int:
    """Of all layers together, on the CPU; GPU kernels need none."""
    return compute_bytes * sum(own * seen for own, seen in set(_sights(layout)))


def _sights(layout: Layout) -> list[tuple[int, int]]:
    """Tokens of each member with a prefix, and how many it sees."""
    return [
        (own, segment.num_prefix + own)
        for segment in layout.segments
        for own in segment.num_member
        if segment.num_prefix
    ]


def activation_bytes(
    shape: ModelShape,
    tokens: int,
    *,
    compute_bytes: int,
    is_checkpointed: bool,
    num_wanted: int | None = None,
    layout: Layout | None = None,
) -> int:
    """The most that forward and backward of one micro-batch hold at a time, weights and their gradients apart.

    That is at the head, where all layers have kept what they keep, or in backward of the last layer, which a
    checkpoint makes keep it all once more and whose feed-forward part holds two gradients. `num_wanted`: tokens whose
    logprobs are asked for, all if not said; `layout`: of a packed row with shared prefixes.
    """
    layer = tokens * layer_bytes(shape, compute_bytes)
    layer += shared_prefix_bytes(shape, layout, compute_bytes) if layout is not None else 0
    inputs = tokens * shape.hidden * (compute_bytes if is_checkpointed else FLOAT32)
    kept = shape.num_layers * (inputs if is_checkpointed else layer) + 3 * inputs
    again = layer if is_checkpointed else 0
    in_layer = again + 2 * tokens * shape.feed_forward * compute_bytes
    kept += mask_bytes(layout, compute_bytes) if layout is not None else 0
    return kept + max(head_bytes(shape, tokens if num_wanted is None else num_wanted, compute_bytes), in_layer)


def scoring_bytes(shape: ModelShape, tokens: int, compute_bytes: int) -> int:
    """At most that much while a frozen model gives logprobs: nothing is kept beyond the layer that computes."""
    in_layer = tokens * layer_bytes(shape, compute_bytes)
    return 3 * tokens * shape.hidden * FLOAT32 + max(in_layer, head_bytes(shape, tokens, compute_bytes))


def head_bytes(shape: ModelShape, num_wanted: int, compute_bytes: int) -> int:
    weight = shape.vocabulary * shape.hidden
    casts = weight * compute_bytes if compute_bytes != FLOAT32 else 0
    chunk = min(num_wanted, CHUNK_TOKENS) * shape.vocabulary
    return (chunk + max(chunk, weight)) * FLOAT32 + casts


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingMemory:
    """Bytes on one device. `resident` between updates, `states` during one, gradients included."""

    resident: int
    states: int
    activations: int

    @property
    def peak(self) -> int:
        return self.states + self.activations


def training_memory(
    shape: ModelShape,
    tokens: int,
    *,
    compute_bytes: int = FLOAT32,
    is_checkpointed: bool = False,
    num_shards: int = 1,
    trained_parameters: int | None = None,
    num_wanted: int | None = None,
    layout: Layout | None = None,
) -> TrainingMemory:
    """`num_shards`: ranks that share weights, gradients and optimiser; a layer, embeddings and head are whole in each.

    `trained_parameters`: of adapters, where only they are trained. `num_wanted` and `layout`: as in `activation_bytes`.
    In bfloat16 without checkpoints the casts of all weights are kept for backward; with checkpoints those of one layer.
    """
    trained = shape.parameters if trained_parameters is None else trained_parameters
    weights = FLOAT32 * shape.parameters // num_shards
    resident = weights + 2 * FLOAT32 * trained // num_shards
    states = resident + FLOAT32 * trained // num_shards
    whole = shape.layer_parameters + shape.embedding_parameters
    gathered = 2 * FLOAT32 * whole if num_shards > 1 else 0
    is_mixed = compute_bytes != FLOAT32
    cast = shape.layer_parameters if is_checkpointed else shape.num_layers * shape.layer_parameters
    activations = activation_bytes(
        shape,
        tokens,
        compute_bytes=compute_bytes,
        is_checkpointed=is_checkpointed,
        num_wanted=num_wanted,
        layout=layout,
    )
    return TrainingMemory(
        resident=resident, states=states, activations=activations + gathered + is_mixed * cast * compute_bytes
    )


def peak_memory_mib(device: torch.device) -> float:
    """The most that this process has held so far: on its GPU, else resident in the machine's memory."""
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device) / 2**20
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20
