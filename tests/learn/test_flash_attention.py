"""FlashAttention computes what scaled dot products do; without a GPU, packed texts are seen to be kept apart."""

from __future__ import annotations

import importlib.util

import pytest
import torch
from test_sft_packing import demonstrations
from tiny_qwen3 import tiny_model, write_tiny_folder
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention
from transformers import AttentionInterface
from transformers.modeling_flash_attention_utils import prepare_fa_kwargs_from_position_ids

from robustops.learn.model import load_model, token_logprobs
from robustops.learn.sft_rows import Rows, packed_rows, padded_rows
from robustops.learn.shared_prefix import FLASH_ATTENTION, Layout, Segment, keep_apart, share_prefixes

HAS_FLASH_ATTENTION = importlib.util.find_spec("flash_attn") is not None


def flash_attention_on_the_cpu(
    module, query: Tensor, key: Tensor, value: Tensor, attention_mask, *, position_ids: Tensor, scaling: float, **others
) -> tuple[Tensor, None]:
    """A fake of the kernel: texts are cut where transformers' own reading of the positions cuts them."""
    assert attention_mask is None
    assert "layout" not in others
    (starts, _), _ = prepare_fa_kwargs_from_position_ids(position_ids)
    repeats = query.shape[1] // key.shape[1]
    key, value = key.repeat_interleave(repeats, dim=1), value.repeat_interleave(repeats, dim=1)
    parts = [
        scaled_dot_product_attention(*(x[:, :, start:stop] for x in (query, key, value)), is_causal=True, scale=scaling)
        for start, stop in torch.stack([starts[:-1], starts[1:]], dim=1).tolist()
    ]
    return torch.cat(parts, dim=2).transpose(1, 2).contiguous(), None


@pytest.fixture
def flash_model(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(AttentionInterface._global_mapping, FLASH_ATTENTION, flash_attention_on_the_cpu)
    model = tiny_model()
    model.config._attn_implementation = FLASH_ATTENTION
    return model


def logprobs_of(model, rows: Rows, compute: torch.dtype = torch.float32) -> Tensor:
    ids_NT, is_wanted_NT = rows.ids_NT.to(model.device), rows.weight_NT.to(model.device) > 0
    return token_logprobs(model, ids_NT, is_wanted_NT, compute=compute, layout=rows.layout).logp_K


def alone(model, compute: torch.dtype = torch.float32) -> Tensor:
    """Each demonstration in a row of its own."""
    rows = [row for sample in demonstrations(6) for row in padded_rows([sample], 64, pad_id=0)]
    return torch.cat([logprobs_of(model, row, compute) for row in rows])


def packed(model, compute: torch.dtype = torch.float32) -> Tensor:
    return torch.cat([logprobs_of(model, row, compute) for row in packed_rows(demonstrations(6), 64)])


def test_packed_demonstrations_are_kept_apart_by_their_positions(flash_model):
    assert keep_apart(flash_model)
    assert flash_model.config._attn_implementation == FLASH_ATTENTION
    torch.testing.assert_close(packed(flash_model), alone(tiny_model()), atol=1e-5, rtol=1e-5)


def test_it_cannot_share_prefixes_and_says_so(flash_model):
    assert not share_prefixes(flash_model)
    ids_NT = torch.arange(8)[None]
    layout = Layout(segments=(Segment(num_prefix=2, num_member=(3, 3)),))
    with pytest.raises(ValueError, match="flash_attention_2 attention cannot keep the parts"):
        token_logprobs(flash_model, ids_NT, ids_NT > 3, layout=layout)


def test_windows_of_attention_are_not_packed(flash_model):
    flash_model.config.layer_types = ["sliding_attention", "full_attention"]
    assert not keep_apart(flash_model)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="FlashAttention runs on GPUs alone, and none is visible")
@pytest.mark.skipif(not HAS_FLASH_ATTENTION, reason="the package flash-attn is not installed")
def test_on_a_gpu_flash_attention_computes_what_sdpa_does(tmp_path):
    """To the rounding of bf16, in which both compute: eight bits, so a few hundredths of a nat."""
    folder = write_tiny_folder(tmp_path, spread=0.05)
    flash, sdpa = (load_model(folder, attn=attn).to("cuda") for attn in ("flash_attention_2", "sdpa"))
    expected = alone(sdpa, torch.bfloat16)
    torch.testing.assert_close(alone(flash, torch.bfloat16), expected, atol=0.1, rtol=0.02)
    assert keep_apart(flash)
    torch.testing.assert_close(packed(flash, torch.bfloat16), expected, atol=0.1, rtol=0.02)
    packed(flash, torch.bfloat16).sum().backward()
    assert all(torch.isfinite(parameter.grad).all() for parameter in flash.parameters())
