"""TRL's SFTTrainer on hf.jsonl: its messages and tools, and token ids with our mask. Runs where TRL is installed."""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from datasets import Dataset, load_dataset
from expected import expected, is_start, report
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import SFTConfig, SFTTrainer

IGNORED = -100


def trainer(rows: Dataset, model: str, folder: str) -> SFTTrainer:
    tokenizer = AutoTokenizer.from_pretrained(model)
    tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token
    config = SFTConfig(
        output_dir=folder, max_length=None, per_device_train_batch_size=1, use_cpu=True, bf16=False, report_to="none"
    )
    return SFTTrainer(
        model=AutoModelForCausalLM.from_pretrained(model), args=config, train_dataset=rows, processing_class=tokenizer
    )


def main() -> None:
    folder, model = Path(sys.argv[1]), sys.argv[2]
    wanted = expected(folder)
    with TemporaryDirectory() as out:
        rows = load_dataset("json", data_files=str(folder / "hf.jsonl"), split="train")
        made = trainer(rows.select_columns(["messages", "tools"]), model, out).train_dataset
        same = sum(is_start(row["input_ids"], want.token_ids) for row, want in zip(made, wanted, strict=True))
        report("TRL SFTTrainer, messages and tools", rows=len(made), same_ids=same)
        masked = [
            {
                "input_ids": want.token_ids,
                "labels": [token if is_on else IGNORED for token, is_on in zip(want.token_ids, want.mask, strict=True)],
            }
            for want in wanted
        ]
        own = trainer(Dataset.from_list(masked), model, out)
        batches = [own.data_collator([row])["labels"][0].tolist() for row in own.train_dataset]
        same_masks = sum(
            [label != IGNORED for label in labels] == [bool(is_on) for is_on in want.mask]
            for labels, want in zip(batches, wanted, strict=True)
        )
        report("TRL SFTTrainer, token_ids and spans", rows=len(batches), same_masks=same_masks)


if __name__ == "__main__":
    main()
