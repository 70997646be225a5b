"""The tiny models' tokenizer: text in, a folder that transformers and vLLM load out.

Byte-level BPE over pieces chosen for copying: a digit is a token, a word never carries the space before it (so that a
name is the same tokens in a sentence and inside JSON quotes), except function words, which nobody copies; JSON
punctuation such as `", "` and `": ` is one piece.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tokenizers import AddedToken, Regex, Tokenizer
from tokenizers.decoders import ByteLevel as ByteLevelDecoder
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel, Sequence, Split
from tokenizers.trainers import BpeTrainer
from transformers import PreTrainedTokenizerFast
from values import words

VOCAB_SIZE = 1536
PAD, START, END = "<|endoftext|>", "<|im_start|>", "<|im_end|>"
TAGS = ("<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>")
_TAG = re.compile("|".join(re.escape(tag) for tag in (START, END, *TAGS)))
FUNCTION_WORDS = words(
    """
    a an the this that its it is are was be has have had of to for from with without in on at by as and or not
    no if so than then when after before once only all now new one from under between into over all any each
    other which who does do should will must can gets goes comes
    """
)
_PIECES = "|".join(
    (
        rf" (?:{'|'.join(sorted(set(FUNCTION_WORDS), key=len, reverse=True))})(?![A-Za-z0-9_])",
        r"[a-z]+(?:_[a-z]+)*",
        r"[A-Z][a-z]*",
        r"[0-9]",
        r"[^A-Za-z0-9]+",
    )
)
CHAT_TEMPLATE = """\
{%- if tools %}
    {{- '<|im_start|>system\\n' }}
    {%- if messages and messages[0].role == 'system' %}{{- messages[0].content + '\\n\\n' }}{%- endif %}
    {{- '# Tools' }}
    {%- for tool in tools %}{{- '\\n' + (tool | tojson) }}{%- endfor %}
    {{- '<|im_end|>\\n' }}
{%- endif %}
{%- for message in messages %}
    {%- if message.role == 'system' %}
        {%- if not (tools and loop.first) %}
            {{- '<|im_start|>system\\n' + message.content + '<|im_end|>\\n' }}
        {%- endif %}
    {%- elif message.role == 'tool' %}
        {{- '<|im_start|>user\\n<tool_response>\\n' + message.content + '\\n</tool_response><|im_end|>\\n' }}
    {%- else %}
        {{- '<|im_start|>' + message.role + '\\n' + (message.content or '') }}
        {%- for call in message.tool_calls or [] %}
            {%- if message.content or not loop.first %}{{- '\\n' }}{%- endif %}
            {{- '<tool_call>\\n{"name": ' + (call.function.name | tojson) + ', "arguments": ' }}
            {%- set arguments = call.function.arguments %}
            {{- (arguments if arguments is string else arguments | tojson) + '}\\n</tool_call>' }}
        {%- endfor %}
        {{- '<|im_end|>\\n' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{%- endif %}
"""


def train_tokenizer(texts: Iterable[str], *, vocab_size: int = VOCAB_SIZE) -> PreTrainedTokenizerFast:
    tokenizer = Tokenizer(BPE())
    tokenizer.pre_tokenizer = Sequence([Split(Regex(_PIECES), behavior="isolated"), ByteLevel(False, use_regex=False)])
    tokenizer.decoder = ByteLevelDecoder()
    tags = [AddedToken(tag, special=False, normalized=False) for tag in TAGS]
    trainer = BpeTrainer(
        vocab_size=vocab_size - len(TAGS),
        special_tokens=[PAD, START, END],
        initial_alphabet=sorted(ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator((part for text in texts for part in _between_tags(text)), trainer)
    tokenizer.add_tokens(tags)
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        eos_token=END,
        pad_token=PAD,
        model_max_length=2048,
        clean_up_tokenization_spaces=False,
    )
    fast.chat_template = CHAT_TEMPLATE
    return fast


def _between_tags(text: str) -> list[str]:
    """Tags are tokens of their own: nothing merges across them."""
    return _TAG.split(text)


def fragments_of(tokenizer: Any) -> list[str]:
    """Alphabetic vocabulary entries, for names made of any tokens."""
    return sorted(token for token in tokenizer.get_vocab() if token.isascii() and token.isalpha())


def save(tokenizer: PreTrainedTokenizerFast, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save_pretrained(str(folder))
