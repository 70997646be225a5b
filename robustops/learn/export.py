"""A trained model as a Hugging Face folder: weights in safetensors, with the tokenizer and template it started from."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import torch
from safetensors import SafetensorError
from torch import Tensor
from transformers import PreTrainedModel

from robustops.core.errors import TableError
from robustops.core.folders import replace_folder
from robustops.learn.lora import merged_weights

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
    model: PreTrainedModel,
    folder: Path,
    *,
    source: Path,
    dtype: Literal["float32", "bfloat16"] = "float32",
    weights: Mapping[str, Tensor] | None = None,
) -> Path:
    """Write `folder` whole or not at all; an older export there is replaced. `source`: where the tokenizer is.

    `weights`: the model's merged ones, where they had to be gathered from several ranks.

    Raises TableError when the disk refuses: an older export is then still there.
    """
    partial = folder.with_name(f".{folder.name}.{os.getpid()}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    try:
        _write(model, partial, source, dtype, merged_weights(model) if weights is None else weights)
        replace_folder(partial, folder)
    except (OSError, SafetensorError) as error:
        raise TableError(
            f"{folder}: the model could not be written ({error}); free disk space and run the same command again"
        ) from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return folder


def _write(model: PreTrainedModel, folder: Path, source: Path, dtype: str, weights: Mapping[str, Tensor]) -> None:
    state = {name: tensor.detach().to("cpu", getattr(torch, dtype)) for name, tensor in weights.items()}
    model.save_pretrained(folder, state_dict=state)
    for name in TOKENIZER_FILES:
        if (source / name).is_file():
            shutil.copy2(source / name, folder / name)
    _set_dtype(folder / "config.json", dtype)


def _set_dtype(path: Path, dtype: str) -> None:
    """`config.json` must name the type of the weights beside it: vLLM's dtype="auto" believes it."""
    config = json.loads(path.read_text())
    config["dtype"] = dtype
    path.write_text(json.dumps(config, indent=2) + "\n")
