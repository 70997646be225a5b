"""Our side of B5: SftModule on the shared demonstrations; prints one JSON line. Run in the project's environment."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from dataclasses import asdict, replace
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional
from transformers import PreTrainedModel

sys.path.insert(0, str(Path(__file__).resolve().parent))

from demonstrations import BATCH_SIZE, COUNTED_EPOCHS, LEARNING_RATE, WARM_STEPS, sequences
from tensor_bytes import tensor_bytes

from robustops.learn.fit import fit
from robustops.learn.head import TokenLogprobs
from robustops.learn.model import load_model
from robustops.learn.sft import SftModule, SftSettings, WeightedTokens


class AllLogits(nn.Module):
    """In place of `LogprobNet`: the logits of all tokens at once."""

    def __init__(self, model: PreTrainedModel) -> None:
        super().__init__()
        self.model = model

    def logprobs(self, ids_NT: Tensor, is_wanted_NT: Tensor, *, compute: torch.dtype, layout: None) -> TokenLogprobs:
        with torch.autocast("cpu", dtype=compute):
            logits_NTV = self.model(input_ids=ids_NT, use_cache=False).logits
        loss_K = functional.cross_entropy(
            logits_NTV[:, :-1].flatten(0, 1).float(), ids_NT[:, 1:].flatten(), reduction="none"
        )
        return TokenLogprobs(logp_K=-loss_K[is_wanted_NT[:, 1:].flatten()], entropy_K=loss_K.new_empty(0))


def samples_of(vocabulary: int, num: int) -> list[WeightedTokens]:
    samples = []
    for number, row in enumerate(sequences(vocabulary, num)):
        supervised = [label != -100 for label in row["labels"]]
        weights = tuple(is_on / sum(supervised) for is_on in supervised)
        samples.append(WeightedTokens(source=str(number), token_ids=tuple(row["input_ids"]), weights=weights))
    return samples


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--num", type=int, required=True)
    parser.add_argument("--packing", action="store_true")
    parser.add_argument("--bytes", action="store_true", help="count tensor bytes instead of timing")
    parser.add_argument("--all-logits", action="store_true", help="the head on all tokens at once")
    parser.add_argument("--one-pass", action="store_true", help="a batch in one pass, whatever its tokens")
    options = parser.parse_args()
    torch.set_num_threads(1)
    model = load_model(options.model)
    settings = SftSettings(
        epochs=COUNTED_EPOCHS if options.bytes else 1,
        lr=LEARNING_RATE,
        batch_size=BATCH_SIZE,
        compute=torch.bfloat16,
        packing=options.packing,
        save_every_steps=10**9,
    )
    if options.one_pass:
        settings = replace(settings, micro_batch_tokens=10**9)
    times: list[tuple[float, float]] = []  # wall and CPU, at the end of each step
    samples = samples_of(model.config.vocab_size, options.num)
    with tempfile.TemporaryDirectory() as folder:
        module = SftModule(
            model,
            samples,
            [],
            settings,
            checkpoints=Path(folder),
            report=lambda *_: times.append((time.perf_counter(), time.process_time())),
        )
        if options.all_logits:
            module.net = AllLogits(load_model(options.model))  # a model as it comes: ours computes its norms anew
        lengths = [sum(len(sample.token_ids) for sample in step) for step in module.train_dataloader()]
        if options.bytes:
            found = asdict(tensor_bytes(lambda: fit(module)))
        else:
            fit(module)
            wall, cpu = (end - start for start, end in zip(times[WARM_STEPS - 1], times[-1], strict=True))
            timed = sum(lengths[WARM_STEPS:])
            found = {"tokens_per_s": timed / wall, "tokens_per_cpu_s": timed / cpu}
    print(json.dumps(found))


if __name__ == "__main__":
    main()
