"""B5: masked SFT against TRL's SFTTrainer, padded and packed. Run: python benchmarks/sft_trl.py [--trl-python PATH]

Same model folder (tiny-base), same demonstrations (256 of about 574 tokens, 16% supervised), batch 8, bf16, one thread.
Each side runs in a process of its own; the sides take turns, so that both meet the same load. TRL gets an environment
of its own, since its pins need not be ours; it is made on first use, outside the checkout.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from table import append_row

HERE = Path(__file__).resolve().parent
MODEL = HERE.parent / "robustops" / "assets" / "models" / "tiny-base"
REQUIREMENTS = ("trl==1.16.0", "torch==2.13.0", "datasets")
OURS, THEIRS = HERE / "trl" / "ours.py", HERE / "trl" / "theirs.py"
COUNTED = 8  # demonstrations of the one batch whose bytes are counted
CPU, WALL = "tokens_per_cpu_s", "tokens_per_s"  # seconds of one thread's work are less disturbed than seconds
TARGETS = {"padded": 1.6, "packed": 5.0}  # times as fast as TRL, at least


def environment(chosen: Path | None) -> Path:
    """A Python with TRL."""
    if chosen is not None:
        return chosen
    folder = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "robustops" / "trl-1.16"
    python = folder / "bin" / "python"
    if not python.is_file():
        print(f"making an environment with TRL in {folder}", flush=True)
        uv = (sys.executable, "-m", "uv")
        subprocess.run([*uv, "venv", "-q", "--python", "3.11", str(folder)], check=True)
        subprocess.run([*uv, "pip", "install", "-q", "--python", str(python), *REQUIREMENTS], check=True)
    return python


def measure(python: Path | str, script: Path, *arguments: str) -> dict[str, float]:
    command = [str(python), str(script), "--model", str(MODEL), *arguments]
    quiet = {
        **os.environ,
        "OMP_NUM_THREADS": "1",
        "HF_HUB_DISABLE_PROGRESS_BARS": "1",
        "TRANSFORMERS_VERBOSITY": "error",
    }
    done = subprocess.run(command, env=quiet, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{script.name} failed:\n{done.stderr[-2000:]}")
    return json.loads(done.stdout.strip().splitlines()[-1])


def version_of(python: Path, package: str) -> str:
    code = f"import importlib.metadata as m; print(m.version({package!r}))"
    return subprocess.run([str(python), "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def ratios(
    name: str, key: str, ours: Sequence[Mapping[str, float]], theirs: Sequence[Mapping[str, float]]
) -> dict[str, object]:
    """Medians of both sides, and of the ratio round by round with its range."""
    found = sorted(a[key] / b[key] for a, b in zip(ours, theirs, strict=True))
    return {
        f"robustops_tokens_per_{name}_s": round(statistics.median(row[key] for row in ours)),
        f"trl_tokens_per_{name}_s": round(statistics.median(row[key] for row in theirs)),
        f"{name}_ratio": round(statistics.median(found), 2),
        f"{name}_ratio_range": [round(found[0], 2), round(found[-1], 2)],
    }


def memory(python: Path, packing: Sequence[str]) -> dict[str, object]:
    """Most bytes of tensors alive at a time in training on one batch, weights apart, which are the same.

    `all_logits`: our step with transformers' model as it comes and its head on all tokens at once. `plain_loop`: and
    with the batch in one pass.
    """
    counted = ("--num", str(COUNTED), "--bytes")
    ours, theirs = measure(sys.executable, OURS, *counted), measure(python, THEIRS, *counted, *packing)
    all_logits = measure(sys.executable, OURS, *counted, "--all-logits")
    plain_loop = measure(sys.executable, OURS, *counted, "--all-logits", "--one-pass")
    return {
        "robustops_peak_mib": round(ours["peak"] / 2**20),
        "trl_peak_mib": round(theirs["peak"] / 2**20),
        "all_logits_peak_mib": round(all_logits["peak"] / 2**20),
        "plain_loop_peak_mib": round(plain_loop["peak"] / 2**20),
        "peak_share": round(ours["peak"] / theirs["peak"], 2),
        "peak_share_of_all_logits": round(ours["peak"] / all_logits["peak"], 2),
        "peak_share_of_plain_loop": round(ours["peak"] / plain_loop["peak"], 2),
        "largest_tensor_share": round(ours["largest"] / theirs["largest"], 3),
    }


def compare(python: Path, kind: str, num: int, rounds: int) -> dict[str, object]:
    """`kind`: how TRL is asked to batch; ours is always its default."""
    packing = ("--packing",) if kind == "packed" else ()
    ours, theirs = [], []
    for _ in range(rounds):
        ours.append(measure(sys.executable, OURS, "--num", str(num)))
        theirs.append(measure(python, THEIRS, "--num", str(num), *packing))
        print(f"{kind}: {ours[-1][CPU]:.0f} against {theirs[-1][CPU]:.0f} tokens in a second of CPU time", flush=True)
    return append_row(
        f"B5 SFT against TRL, {kind}",
        {
            **ratios("cpu", CPU, ours, theirs),
            **ratios("wall", WALL, ours, theirs),
            "target": TARGETS[kind],
            **memory(python, packing),
            "num_sequences": num,
            "rounds": rounds,
            "trl": version_of(python, "trl"),
            "trl_transformers": version_of(python, "transformers"),
        },
        packages=("torch", "transformers"),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--trl-python", type=Path, help="a Python that has TRL (default: one is made in the user's cache)"
    )
    parser.add_argument("--num", type=int, default=256, help="demonstrations (default 256)")
    parser.add_argument("--packed-num", type=int, default=160, help="demonstrations of the packed runs (default 160)")
    parser.add_argument("--rounds", type=int, default=3, help="interleaved rounds (default 3)")
    options = parser.parse_args()
    python = environment(options.trl_python)
    for kind, num in (("padded", options.num), ("packed", options.packed_num)):
        row = compare(python, kind, num, options.rounds)
        print("\n".join(f"{key:26} {value}" for key, value in row.items()), end="\n\n")


if __name__ == "__main__":
    main()
