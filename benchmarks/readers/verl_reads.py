"""verl's data sets on verl.parquet, and its SFT's hook for another one with ours. Runs where verl is installed."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from expected import Expected, expected, is_start, report
from omegaconf import OmegaConf
from transformers import AutoTokenizer, PreTrainedTokenizerBase
from verl.utils.dataset.multiturn_sft_dataset import MultiTurnSFTDataset
from verl.utils.dataset.rl_dataset import RLHFDataset
from verl.utils.import_utils import load_extern_object

OURS = Path(__file__).resolve().parents[2] / "docs" / "examples" / "verl_dataset.py"
MOST = 40_000  # tokens of a row


def read_sft(name: str, kind: Any, path: str, tokenizer: PreTrainedTokenizerBase, wanted: list[Expected]) -> None:
    """`kind`: a data set class, made as verl's SFT trainer makes it."""
    config = OmegaConf.create({"pad_mode": "no_padding", "max_length": MOST})
    with contextlib.redirect_stdout(sys.stderr):
        rows = kind(parquet_files=path, tokenizer=tokenizer, config=config, processor=None, max_samples=-1)
        items = [rows[index] for index in range(len(rows))]
    same_ids = same_masks = holding = 0
    for item, want in zip(items, wanted, strict=True):
        ids, mask = item["input_ids"].tolist(), item["loss_mask"].tolist()
        same_ids += is_start(ids, want.token_ids)
        same_masks += is_start(mask, want.mask)
        holding += all(got >= own for got, own in zip(mask, want.mask, strict=False))
    report(name, rows=len(items), same_ids=same_ids, same_masks=same_masks, masks_that_hold_ours=holding)


def read_rl(path: str, tokenizer: PreTrainedTokenizerBase, wanted: list[Expected]) -> None:
    with TemporaryDirectory() as cache, contextlib.redirect_stdout(sys.stderr):
        config = {"max_prompt_length": MOST, "cache_dir": cache, "filter_overlong_prompts_workers": 1}
        rows = RLHFDataset(path, tokenizer, OmegaConf.create(config))
        prompts = [
            tokenizer.apply_chat_template(rows[index]["raw_prompt"], add_generation_prompt=True, return_dict=False)
            for index in range(len(rows))
        ]
    same = sum(
        ids == want.token_ids[: want.mask.index(1)] for ids, want in zip(prompts, wanted, strict=True)
    )  # the expert says nothing before its first call
    report("verl RLHFDataset", rows=len(prompts), same_prompt_ids=same)


def main() -> None:
    folder, model = Path(sys.argv[1]), sys.argv[2]
    path, wanted = str(folder / "verl.parquet"), expected(folder)
    tokenizer = AutoTokenizer.from_pretrained(model)
    read_sft("verl MultiTurnSFTDataset", MultiTurnSFTDataset, path, tokenizer, wanted)
    ours = load_extern_object(str(OURS), "Demonstrations")  # as data.custom_cls is loaded
    read_sft("verl SFT, custom_cls ours", ours, path, tokenizer, wanted)
    read_rl(path, tokenizer, wanted)


if __name__ == "__main__":
    main()
