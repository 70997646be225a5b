"""Exported folders: what transformers reads from them, and what is left when writing fails half way."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from safetensors import safe_open
from tiny_qwen3 import tiny_model
from transformers import AutoModelForCausalLM, AutoTokenizer

from robustops.core.errors import TableError
from robustops.learn.export import export_model

IDS = torch.tensor([[3, 1, 4, 1, 5, 9, 2, 6]])


def logits(folder: Path) -> torch.Tensor:
    with torch.no_grad():
        return AutoModelForCausalLM.from_pretrained(folder, dtype="auto").eval()(IDS).logits


def test_transformers_loads_the_folder_with_equal_logits_and_the_tokenizer(tmp_path: Path, tiny_folder: Path):
    model = tiny_model(3)
    export_model(model, tmp_path / "export", source=tiny_folder)
    assert torch.equal(logits(tmp_path / "export"), model(IDS).logits)
    text = "<tool_call> hello"
    ours, theirs = (AutoTokenizer.from_pretrained(folder) for folder in (tmp_path / "export", tiny_folder))
    assert ours.encode(text) == theirs.encode(text)
    assert ours.chat_template == theirs.chat_template


def test_tied_weights_are_written_once(tmp_path: Path, tiny_folder: Path):
    export_model(tiny_model(3), tmp_path / "export", source=tiny_folder)
    with safe_open(tmp_path / "export" / "model.safetensors", "pt") as file:
        assert "lm_head.weight" not in file.keys()  # noqa: SIM118 - not a mapping
        assert "model.embed_tokens.weight" in file.keys()  # noqa: SIM118


def test_a_bf16_export_says_so_and_leaves_the_model_in_fp32(tmp_path: Path, tiny_folder: Path):
    model = tiny_model(3)
    export_model(model, tmp_path / "export", source=tiny_folder, dtype="bfloat16")
    loaded = AutoModelForCausalLM.from_pretrained(tmp_path / "export", dtype="auto")
    assert {parameter.dtype for parameter in loaded.parameters()} == {torch.bfloat16}
    for (name, one), two in zip(loaded.named_parameters(), model.parameters(), strict=True):
        assert torch.equal(one, two.bfloat16()), name
    assert {parameter.dtype for parameter in model.parameters()} == {torch.float32}


def test_an_older_export_is_replaced_with_nothing_left_beside_it(tmp_path: Path, tiny_folder: Path):
    for seed in (3, 4):
        export_model(tiny_model(seed), tmp_path / "export", source=tiny_folder)
    assert torch.equal(logits(tmp_path / "export"), tiny_model(4)(IDS).logits)
    assert [path.name for path in tmp_path.iterdir()] == ["export"]


def test_a_tokenizer_that_cannot_be_copied_leaves_the_old_export(tmp_path: Path, tiny_folder: Path, monkeypatch):
    export_model(tiny_model(3), tmp_path / "export", source=tiny_folder)

    def full_disk(source, target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("shutil.copy2", full_disk)  # the weights are written by then
    with pytest.raises(TableError, match=r"export: the model could not be written \(.*No space left.*run the same"):
        export_model(tiny_model(4), tmp_path / "export", source=tiny_folder)
    assert torch.equal(logits(tmp_path / "export"), tiny_model(3)(IDS).logits)
    assert [path.name for path in tmp_path.iterdir()] == ["export"]


def test_a_failed_swap_puts_the_old_export_back(tmp_path: Path, tiny_folder: Path, monkeypatch):
    export_model(tiny_model(3), tmp_path / "export", source=tiny_folder)
    rename = Path.rename

    def failing(path: Path, target: Path):
        if path.name.endswith(".partial"):
            raise OSError(5, "Input/output error")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", failing)
    with pytest.raises(TableError, match="Input/output error"):
        export_model(tiny_model(4), tmp_path / "export", source=tiny_folder)
    assert torch.equal(logits(tmp_path / "export"), tiny_model(3)(IDS).logits)
    assert [path.name for path in tmp_path.iterdir()] == ["export"]
