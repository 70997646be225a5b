"""B3 and B4: the LM head as SFT and GRPO use it, against all logits at once. Run: python benchmarks/sft.py

B3, time: the head on the 15% of tokens that carry loss, against all logits and a selection afterwards.
B4, memory: 2,048 tokens, all with loss, in chunks that backward computes again, against one tensor of all tokens x
vocabulary. Peaks are the resident set of a process of its own, from before the loss to after backward.
The model has no layers, only embedding, norm and tied head: what is measured is the head.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
from collections.abc import Callable
from functools import partial
from pathlib import Path

import torch
from table import append_row, interleave
from torch import Tensor
from torch.utils.flop_counter import FlopCounterMode
from transformers import PreTrainedModel, Qwen3Config, Qwen3ForCausalLM

from robustops.learn.head import CHUNK_TOKENS
from robustops.learn.model import token_logprobs

NUM_ROWS, NUM_TOKENS, VOCAB, HIDDEN = 4, 512, 32_000, 256
WANTED_SHARE = 0.15
MAX_DIFFERENCE = 1e-4
Loss = Callable[[PreTrainedModel, Tensor, Tensor], Tensor]


def head_alone() -> PreTrainedModel:
    torch.manual_seed(0)
    return Qwen3ForCausalLM(
        Qwen3Config(
            vocab_size=VOCAB,
            hidden_size=HIDDEN,
            intermediate_size=HIDDEN,
            num_hidden_layers=0,
            num_attention_heads=2,
            num_key_value_heads=1,
            head_dim=32,
            tie_word_embeddings=True,
        )
    )


def tokens(share: float) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(0)
    ids_NT = torch.randint(VOCAB, (NUM_ROWS, NUM_TOKENS), generator=generator)
    is_wanted_NT = torch.rand(ids_NT.shape, generator=generator) < share
    is_wanted_NT[:, 0] = False
    return ids_NT, is_wanted_NT


def ours(model: PreTrainedModel, ids_NT: Tensor, is_wanted_NT: Tensor) -> Tensor:
    return -token_logprobs(model, ids_NT, is_wanted_NT).logp_K.mean()


def all_logits(model: PreTrainedModel, ids_NT: Tensor, is_wanted_NT: Tensor) -> Tensor:
    logits_NTV = model(input_ids=ids_NT, use_cache=False).logits
    targets_NT, is_predicted_NT = ids_NT.roll(-1, 1), is_wanted_NT.roll(-1, 1)  # no logits are copied to shift them
    loss_T = torch.nn.functional.cross_entropy(logits_NTV.flatten(0, 1), targets_NT.flatten(), reduction="none")
    return loss_T[is_predicted_NT.flatten()].mean()


def step(loss: Loss, model: PreTrainedModel, share: float) -> Tensor:
    """Loss and backward; returns the gradient of the tied weight."""
    model.zero_grad()
    loss(model, *tokens(share)).backward()
    gradient = next(model.parameters()).grad
    assert gradient is not None
    return gradient


def num_flops(loss: Loss, model: PreTrainedModel, share: float) -> int:
    with FlopCounterMode(display=False) as counter:
        step(loss, model, share)
    return counter.get_total_flops()


def peak_mib(loss: Loss, share: float) -> float:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_peak_mib, (loss, share))


def _peak_mib(loss: Loss, share: float) -> float:
    torch.set_num_threads(1)
    model = head_alone()
    torch.nn.functional.linear(torch.zeros(1, 8), torch.zeros(8, 8))  # load the maths library before the mark
    next(model.parameters()).grad = torch.zeros(VOCAB, HIDDEN)  # as from the micro-batch before
    reset = Path("/proc/self/clear_refs")
    reset.write_text("5")  # the peak starts again from what is resident now
    before = _high_water_kib()
    loss(model, *tokens(share)).backward()
    return (_high_water_kib() - before) / 1024


def _high_water_kib() -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def largest_difference(model: PreTrainedModel, share: float) -> float:
    """Between the two gradients, relative to the largest element. Ends the benchmark when it is more than rounding."""
    one, two = step(ours, model, share).clone(), step(all_logits, model, share)
    difference = float((one - two).abs().max() / two.abs().max())
    if difference > MAX_DIFFERENCE:
        raise SystemExit(f"gradients differ by {difference:.1e} of the largest; expected at most {MAX_DIFFERENCE:.0e}")
    return difference


def supervised_tokens_only(num_pairs: int) -> dict[str, object]:
    model = head_alone()
    difference = largest_difference(model, WANTED_SHARE)
    time = interleave(
        partial(step, ours, model, WANTED_SHARE), partial(step, all_logits, model, WANTED_SHARE), num_pairs=num_pairs
    )
    flops = num_flops(all_logits, model, WANTED_SHARE) / num_flops(ours, model, WANTED_SHARE)
    return append_row(
        "B3 head on supervised tokens",
        {
            "robustops_ms": round(time.a_ms, 1),
            "all_logits_ms": round(time.b_ms, 1),
            "ratio": round(time.ratio, 2),
            "ratio_quartiles": [round(x, 2) for x in time.ratio_quartiles],
            "flops_ratio": round(flops, 2),
            "limit": round(1 / WANTED_SHARE, 2),
            "relative_gradient_difference": difference,
            "num_pairs": num_pairs,
        },
        packages=("torch", "transformers"),
    )


def chunked(num_pairs: int) -> dict[str, object]:
    model = head_alone()
    difference = largest_difference(model, 1.0)
    time = interleave(partial(step, ours, model, 1.0), partial(step, all_logits, model, 1.0), num_pairs=num_pairs)
    mine, full = peak_mib(ours, 1.0), peak_mib(all_logits, 1.0)
    return append_row(
        "B4 chunked head",
        {
            "robustops_peak_mib": round(mine),
            "all_logits_peak_mib": round(full),
            "memory_share": round(mine / full, 2),
            "time_share": round(1 / time.ratio, 2),
            "time_share_quartiles": [round(1 / x, 2) for x in reversed(time.ratio_quartiles)],
            "chunk_tokens": CHUNK_TOKENS,
            "limit_mib": round(CHUNK_TOKENS * VOCAB * 4 / 2**20),
            "relative_gradient_difference": difference,
            "num_pairs": num_pairs,
        },
        packages=("torch", "transformers"),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=10, help="interleaved pairs to time (default 10)")
    num_pairs = parser.parse_args().pairs
    torch.set_num_threads(1)
    for row in (supervised_tokens_only(num_pairs), chunked(num_pairs)):
        print("\n".join(f"{key:30} {value}" for key, value in row.items()), end="\n\n")


if __name__ == "__main__":
    main()
