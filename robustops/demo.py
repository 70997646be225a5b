"""The main job in one command: demonstrations -> SFT -> RL -> paired evaluation of all three models -> report.

    python -m robustops.demo [--dir runs/demo] [--seed 0]

Every phase is one of the commands that a user would type, printed before it runs. A phase that finished is not
repeated; a phase that was interrupted goes on where it stopped.
"""

from __future__ import annotations

import argparse
import hashlib
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from robustops import __version__
from robustops.core.errors import TableError
from robustops.core.files import read_json, write_json


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    """One command; what it writes is in the folder of its name."""

    name: str
    title: str
    arguments: tuple[str, ...]
    expected_s: float  # measured on two cores; only the estimate of the time left uses it


def phases(folder: Path, seed: int) -> list[Phase]:
    """The whole demo, in order."""
    models = {"base": (), "sft": (f"model.path={folder}/sft/export",), "rl": (f"model.path={folder}/rl/export",)}
    return [
        *inputs(folder, seed),
        *training(folder, seed),
        *(evaluation(folder, seed, stage, model) for stage, model in models.items()),
        Phase(
            name="report",
            title="report",
            arguments=(
                *("analysis.report", *(f"{folder}/eval_{stage}" for stage in models)),
                *("--training", f"{folder}/rl", "--out", f"{folder}/report"),
            ),
            expected_s=20,
        ),
    ]


def inputs(folder: Path, seed: int) -> list[Phase]:
    return [
        Phase(
            name="demonstrations",
            title="expert demonstrations on the training split",
            arguments=("robustops.collect", f"run.dir={folder}/demonstrations", f"seed={seed}"),
            expected_s=40,
        ),
        Phase(
            name="manifest",
            title="one fault for every test case, frozen for all models",
            arguments=("robustops.prepare", "do=manifest", f"run.dir={folder}/manifest", f"seed={seed}"),
            expected_s=20,
        ),
    ]


def training(folder: Path, seed: int) -> list[Phase]:
    return [
        Phase(
            name="sft",
            title="masked supervised fine-tuning",
            arguments=(
                *("robustops.train", "+experiment=tiny_sft", f"algorithm.demonstrations={folder}/demonstrations"),
                *(f"run.dir={folder}/sft", f"seed={seed}"),
            ),
            expected_s=200,
        ),
        Phase(
            name="rl",
            title="GRPO with vLLM rollouts, clean and post-fault groups",
            arguments=(
                *("robustops.train", "+experiment=tiny_rl", f"model.path={folder}/sft/export"),
                *(f"run.dir={folder}/rl", f"seed={seed}"),
            ),
            expected_s=150,
        ),
    ]


def evaluation(folder: Path, seed: int, stage: str, model: tuple[str, ...]) -> Phase:
    return Phase(
        name=f"eval_{stage}",
        title=f"paired clean and fault evaluation of {stage.upper() if stage != 'base' else 'Base'}",
        arguments=(
            *("robustops.evaluate", "+experiment=tiny_eval", f"model.stage={stage}", *model),
            *(f"fault_policy.manifest={folder}/manifest/manifest.jsonl", f"run.dir={folder}/eval_{stage}"),
            f"seed={seed}",
        ),
        expected_s=40,
    )


def fingerprints(plan: Sequence[Phase]) -> dict[str, str]:
    """By phase name: changes with the version, the phase's command and every command before it."""
    digest, found = hashlib.sha256(__version__.encode()), {}
    for phase in plan:
        digest.update("\n".join(("", phase.name, *phase.arguments)).encode())
        found[phase.name] = digest.hexdigest()
    return found


class Journal:
    """Which phases are begun and done, on disk. What other commands left behind is removed, never resumed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        try:
            self._entries = read_json(self._path)
        except TableError:
            self._entries = {}

    @property
    def _path(self) -> Path:
        return self._folder / "phases.json"

    def has(self, name: str, fingerprint: str) -> bool:
        return bool(self._entries.get(name) == {"fingerprint": fingerprint, "is_done": True})

    def begin(self, name: str, fingerprint: str) -> None:
        entry = self._entries.get(name)
        if entry is not None and entry["fingerprint"] != fingerprint:
            shutil.rmtree(self._folder / name, ignore_errors=True)
        self._write(name, fingerprint, is_done=False)

    def finish(self, name: str, fingerprint: str) -> None:
        self._write(name, fingerprint, is_done=True)

    def _write(self, name: str, fingerprint: str, *, is_done: bool) -> None:
        self._entries[name] = {"fingerprint": fingerprint, "is_done": is_done}
        write_json(self._path, self._entries)


def play(plan: Sequence[Phase], journal: Journal, *, run: Callable[[tuple[str, ...]], int]) -> int:
    """Run the phases that are not done; return the exit code of the first that fails, else 0."""
    wanted = fingerprints(plan)
    left = [phase for phase in plan if phase.name == "report" or not journal.has(phase.name, wanted[phase.name])]
    seen_s = expected_s = 1.0  # of the phases run so far; their ratio is this machine's pace
    for number, phase in enumerate(plan, start=1):
        if phase not in left:
            print(f"[{number}/{len(plan)}] {phase.title}: done before", flush=True)
            continue
        left_s = sum(other.expected_s for other in left) * seen_s / expected_s
        print(f"\n[{number}/{len(plan)}] {phase.title} (about {left_s / 60:.0f} min left in all)", flush=True)
        print(f"  python -m {shlex.join(phase.arguments)}", flush=True)
        journal.begin(phase.name, wanted[phase.name])
        started = time.monotonic()
        code = run(phase.arguments)
        if code:
            print(f"the demo stopped in phase {phase.name!r} (exit {code}); run it again to go on from there")
            return code
        seen_s, expected_s = seen_s + time.monotonic() - started, expected_s + phase.expected_s
        journal.finish(phase.name, wanted[phase.name])
        left.remove(phase)
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
    parser.add_argument("--seed", type=int, default=0, help="of every phase (default: 0)")
    args = parser.parse_args()
    args.dir.mkdir(parents=True, exist_ok=True)
    started = time.monotonic()
    code = play(phases(args.dir, args.seed), Journal(args.dir), run=run_module)
    if code == 0:
        print(
            f"\nfinished in {(time.monotonic() - started) / 60:.1f} min; report: {args.dir / 'report' / 'report.html'}"
        )
    return code


if __name__ == "__main__":
    sys.exit(main())
