"""Our masks for verl's SFT: rows of verl.parquet in, the recorded token ids and their mask out. Runs where verl is.

verl's own data set teaches every assistant message, and the template's tokens behind it; this one teaches what
docs/data.md says:

    python -m verl.trainer.sft_trainer data.custom_cls.path=docs/examples/verl_dataset.py \
        data.custom_cls.name=Demonstrations data.train_files=runs/expert/export/verl.parquet ...
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from datasets import load_dataset
from torch import Tensor
from torch.utils.data import Dataset


class Demonstrations(Dataset):
    """For `data.pad_mode=no_padding`, verl's default. A token with a weight carries loss; each counts alike in verl."""

    def __init__(
        self,
        parquet_files: str | Sequence[str],
        tokenizer: Any,
        config: Any,
        processor: Any = None,
        max_samples: int = -1,
    ) -> None:
        files = [parquet_files] if isinstance(parquet_files, str) else list(parquet_files)
        rows = load_dataset("parquet", data_files=files, split="train").select_columns(["token_ids", "spans", "source"])
        self._rows = rows.select(range(min(max_samples, len(rows)))) if max_samples > 0 else rows
        self._max_length = int(config.get("max_length", 1024))

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, index: int) -> dict[str, Tensor]:
        """Raises ValueError for a demonstration longer than the context: cut short it would teach another end."""
        row = self._rows[index]
        ids_T = torch.tensor(row["token_ids"])
        if len(ids_T) > self._max_length:
            raise ValueError(f"{row['source']}: {len(ids_T)} tokens, data.max_length is {self._max_length}")
        mask_T = torch.zeros_like(ids_T)
        for span in row["spans"]:
            mask_T[span["start"] : span["end"]] = span["weight"] > 0
        return {"input_ids": ids_T, "position_ids": torch.arange(len(ids_T)), "loss_mask": mask_T}
