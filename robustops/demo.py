"""The main job in one command: demonstrations -> SFT -> RL -> paired evaluation of all three models -> report.

    python -m robustops.demo [--dir runs/demo] [--seed 0]

Every phase is one of the commands that a user would type, printed before it runs. A phase that finished is not
repeated; a phase that was interrupted goes on where it stopped.
"""

from __future__ import annotations

import argparse
import hashlib
import shlex
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from robustops import __version__
from robustops.core.errors import TableError
from robustops.core.tables import read_json, write_json


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    name: str
    title: str
    arguments: tuple[str, ...]
    expected_s: float  # measured on two cores; only the estimate of the time left uses it

    @property
    def fingerprint(self) -> str:
        return hashlib.sha256("\n".join((__version__, *self.arguments)).encode()).hexdigest()


def phases(folder: Path, seed: int) -> list[Phase]:
    run = {name: str(folder / name) for name in ("demonstrations", "manifest", "sft", "rl", "base", "report")}

    def evaluate(name: str, stage: str, *model: str) -> Phase:
        arguments = ("robustops.evaluate", "+experiment=tiny_eval", f"model.stage={stage}", *model)
        where = (f"fault_policy.manifest={run['manifest']}/manifest.jsonl", f"run.dir={folder}/eval_{name}")
        return Phase(
            name=f"eval_{name}",
            title=f"paired clean and fault evaluation of {name.upper() if name != 'base' else 'Base'}",
            arguments=(*arguments, *where, f"seed={seed}"),
            expected_s=60,
        )

    return [
        Phase(
            name="demonstrations",
            title="expert demonstrations on the training split",
            arguments=("robustops.collect", f"run.dir={run['demonstrations']}", f"seed={seed}"),
            expected_s=60,
        ),
        Phase(
            name="manifest",
            title="one fault for every test case, frozen for all models",
            arguments=("robustops.prepare", "do=manifest", f"run.dir={run['manifest']}", f"seed={seed}"),
            expected_s=20,
        ),
        Phase(
            name="sft",
            title="masked supervised fine-tuning",
            arguments=(
                *("robustops.train", "+experiment=tiny_sft", f"algorithm.demonstrations={run['demonstrations']}"),
                *(f"run.dir={run['sft']}", f"seed={seed}"),
            ),
            expected_s=360,
        ),
        Phase(
            name="rl",
            title="GRPO with vLLM rollouts, clean and post-fault groups",
            arguments=(
                *("robustops.train", "+experiment=tiny_rl", f"model.path={run['sft']}/export"),
                *(f"run.dir={run['rl']}", f"seed={seed}"),
            ),
            expected_s=300,
        ),
        evaluate("base", "base"),
        evaluate("sft", "sft", f"model.path={run['sft']}/export"),
        evaluate("rl", "rl", f"model.path={run['rl']}/export"),
        Phase(
            name="report",
            title="report",
            arguments=(
                *("analysis.report", *(f"{folder}/eval_{name}" for name in ("base", "sft", "rl"))),
                *("--training", run["rl"], "--out", run["report"]),
            ),
            expected_s=20,
        ),
    ]


class Journal:
    """Which phases are done, with the command that did them; a phase whose command changed is done again."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "demo.json"
        try:
            self.done = read_json(self.path)
        except TableError:
            self.done = {}

    def has(self, phase: Phase) -> bool:
        return bool(self.done.get(phase.name) == phase.fingerprint)

    def add(self, phase: Phase) -> None:
        self.done[phase.name] = phase.fingerprint
        write_json(self.path, self.done)


def play(plan: list[Phase], journal: Journal) -> int:
    """Run the phases that are not done; return the exit code of the first that fails, else 0."""
    seen_s = expected_s = 1.0  # of the phases run so far; their ratio is this machine's pace
    for number, phase in enumerate(plan, start=1):
        left_s = sum(other.expected_s for other in plan[number - 1 :] if not journal.has(other)) * seen_s / expected_s
        if journal.has(phase) and phase.name != "report":
            print(f"[{number}/{len(plan)}] {phase.title}: done before", flush=True)
            continue
        print(f"\n[{number}/{len(plan)}] {phase.title} (about {left_s / 60:.0f} min left in all)", flush=True)
        print(f"  python -m {shlex.join(phase.arguments)}", flush=True)
        started = time.monotonic()
        code = run_module(phase.arguments)
        if code:
            print(f"the demo stopped in phase {phase.name!r} (exit {code}); run it again to go on from there")
            return code
        seen_s, expected_s = seen_s + time.monotonic() - started, expected_s + phase.expected_s
        journal.add(phase)
    return 0


def run_module(arguments: tuple[str, ...]) -> int:
    process = subprocess.Popen([sys.executable, "-m", *arguments])
    try:
        return process.wait()
    except KeyboardInterrupt:  # the phase got the signal as well and ends by itself
        return process.wait() or 130


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m robustops.demo", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--dir", type=Path, default=Path("runs/demo"), help="where all runs go (default: runs/demo)")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    args.dir.mkdir(parents=True, exist_ok=True)
    started = time.monotonic()
    code = play(phases(args.dir, args.seed), Journal(args.dir))
    if code == 0:
        print(
            f"\nfinished in {(time.monotonic() - started) / 60:.1f} min; report: {args.dir / 'report' / 'report.html'}"
        )
    return code


if __name__ == "__main__":
    sys.exit(main())
