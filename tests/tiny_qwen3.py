"""A tiny random Qwen3 folder with a byte-level tokenizer, for tests of engines and trainers."""

from __future__ import annotations

from pathlib import Path

import torch
from tokenizers import AddedToken, Tokenizer
from tokenizers.decoders import ByteLevel as ByteLevelDecoder
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM

TAGS = ("<|im_start|>", "<|im_end|>", "<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>")
VOCAB = 262
IM_END = 257
CALL_END = 259
TEMPLATE = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"


def tiny_model(seed: int = 0, *, spread: float = 0.2, layers: int = 2) -> Qwen3ForCausalLM:
    """fp32, tied embeddings. A wide `spread` makes logprobs of two seeds differ by several nats."""
    torch.manual_seed(seed)
    config = Qwen3Config(
        vocab_size=VOCAB,
        hidden_size=64,
        intermediate_size=96,
        num_hidden_layers=layers,
        num_attention_heads=2,
        num_key_value_heads=1,
        head_dim=32,
        max_position_embeddings=2048,
        tie_word_embeddings=True,
        initializer_range=spread,
        bos_token_id=None,
        eos_token_id=IM_END,
        pad_token_id=IM_END,
    )
    return Qwen3ForCausalLM(config).eval()


def write_tiny_folder(folder: Path, seed: int = 0, *, spread: float = 0.2) -> Path:
    vocab = {symbol: index for index, symbol in enumerate(sorted(ByteLevel.alphabet()))}
    tokenizer = Tokenizer(BPE(vocab=vocab, merges=[]))
    tokenizer.pre_tokenizer = ByteLevel(add_prefix_space=False)
    tokenizer.decoder = ByteLevelDecoder()
    tokenizer.add_tokens([AddedToken(tag, special=False, normalized=False) for tag in TAGS])
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<|im_end|>")
    fast.chat_template = TEMPLATE
    fast.save_pretrained(str(folder))
    tiny_model(seed, spread=spread).save_pretrained(str(folder))
    return folder


def decode(token_ids) -> str:
    return " ".join(map(str, token_ids))


def logprobs_of(model: torch.nn.Module, prompt: tuple[int, ...], sampled: tuple[int, ...]) -> list[float]:
    """Logprobs of `sampled` after `prompt`, by one plain forward pass over all logits."""
    with torch.no_grad():
        logits = model(torch.tensor([[*prompt, *sampled]])).logits[0].double()
    table = torch.log_softmax(logits, -1)
    return [table[len(prompt) + k - 1, token].item() for k, token in enumerate(sampled)]
