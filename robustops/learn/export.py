"""A trained model as a Hugging Face folder: weights in safetensors, with the tokenizer and template it started from."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Literal

import torch
from transformers import PreTrainedModel

from robustops.learn.model import named_weights

TOKENIZER_FILES = (
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab.json",
    "merges.txt",
    "chat_template.jinja",
)


def export_model(
    model: PreTrainedModel, folder: Path, *, source: Path, dtype: Literal["float32", "bfloat16"] = "float32"
) -> Path:
    """Write `folder` whole or not at all; an older export there is replaced. `source`: where the tokenizer is."""
    partial = folder.with_name(f".{folder.name}.{os.getpid()}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    state = {name: tensor.detach().to("cpu", getattr(torch, dtype)) for name, tensor in named_weights(model).items()}
    model.save_pretrained(partial, state_dict=state, safe_serialization=True)
    for name in TOKENIZER_FILES:
        if (source / name).is_file():
            shutil.copy2(source / name, partial / name)
    _set_dtype(partial / "config.json", dtype)
    if folder.exists():
        old = folder.with_name(f".{folder.name}.{os.getpid()}.old")
        folder.rename(old)
        partial.rename(folder)
        shutil.rmtree(old)
    else:
        partial.rename(folder)
    return folder


def _set_dtype(path: Path, dtype: str) -> None:
    """`config.json` must name the type of the weights beside it: vLLM's dtype="auto" believes it."""
    config = json.loads(path.read_text())
    config["dtype"] = dtype
    path.write_text(json.dumps(config, indent=2) + "\n")
