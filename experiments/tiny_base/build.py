"""Rebuild the tiny Base model: `python experiments/tiny_base/build.py --out FOLDER [--tokens N] [--start FOLDER]`.

Writes a folder that transformers and vLLM load, with curve.csv and curve.png beside the weights' card data.
"""

from __future__ import annotations

import argparse
import os
from dataclasses import replace
from pathlib import Path
from random import Random

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # waiting threads must not spin beside other work

import torch
from curve import draw
from dialogues import dialogue
from loose import loose_dialogue
from model import Recipe, new_model
from tokenizer import FUNCTION_WORDS, fragments_of, save, train_tokenizer
from train import train
from transformers import AutoTokenizer, GenerationConfig, Qwen3ForCausalLM
from values import Values

HERE = Path(__file__).resolve().parent
# How often the words of requests and the function words stand beside the dialogues: they are to be single tokens.
REQUEST_WORDS, FUNCTION = 300, 120


def tokenizer_texts() -> list[str]:
    """What Base will read: its dialogues, names of syllables included, and the words of requests, each alone.

    The generator's names are left out: pieces that occur in them only would never be copied before SFT.
    """
    values = Values(Random(7))
    texts = ["".join(text for text, _ in lesson(values)) for lesson in (dialogue, loose_dialogue) for _ in range(2500)]
    request_words = (HERE / "words.txt").read_text(encoding="utf-8")
    functions = "".join(f" {word} . " for word in FUNCTION_WORDS)
    return texts + [request_words] * REQUEST_WORDS + [functions] * FUNCTION


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--tokens", type=int, default=10_000_000, help="training tokens (the schedule's length)")
    parser.add_argument("--minutes", type=float, help="train for so long instead of so many tokens")
    parser.add_argument(
        "--start", type=Path, help="go on from this folder's weights, in the last stage of the curriculum"
    )
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    recipe = Recipe(tokens=options.tokens, seed=options.seed)
    if options.start is None:
        tokenizer = train_tokenizer(tokenizer_texts())
        model = new_model(recipe, len(tokenizer), tokenizer.eos_token_id, tokenizer.pad_token_id)
    else:
        tokenizer = AutoTokenizer.from_pretrained(options.start)
        model = Qwen3ForCausalLM.from_pretrained(options.start, dtype=torch.float32).train()
        recipe = replace(recipe, decay_share=0.5)
    print(f"{sum(p.numel() for p in model.parameters()):,} parameters, vocabulary {len(tokenizer)}", flush=True)
    train(
        recipe,
        model,
        tokenizer,
        fragments_of(tokenizer),
        options.out,
        minutes=options.minutes,
        is_last_stage_only=bool(options.start),
    )
    save(tokenizer, options.out)
    model.save_pretrained(options.out)
    stop_ids = tokenizer.convert_tokens_to_ids(["</tool_call>", "<|im_end|>"])
    GenerationConfig(eos_token_id=stop_ids, pad_token_id=tokenizer.pad_token_id).save_pretrained(options.out)
    draw(options.out / "curve.csv", options.out / "curve.png")


if __name__ == "__main__":
    main()
