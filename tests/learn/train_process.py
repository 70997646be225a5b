"""The commands `train` and `evaluate` in a process that may kill itself: `main(FOLDER, KILL_AT, ENTRY, *OVERRIDES)`.

KILL_AT: number of the event at which it ends by SIGKILL, 0 for never. Events: a record in the journal of a step half
written, and whole; an update; a state half written, and whole. Prints one JSON line: the exit code, the events seen.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import torch
from rl_process import Countdown, counted_save

from robustops import cli
from robustops.compose import evaluate, train  # noqa: F401  here, in the process that is forked from
from robustops.config.preflight import before_evaluation, before_training
from robustops.learn import checkpoint
from robustops.learn.grpo import GrpoModule
from robustops.learn.journal import StepJournal

PREFLIGHT = {"train": before_training, "evaluate": before_evaluation}


def main(folder: Path, kill_at: int, entry: str, *overrides: str) -> None:
    torch.set_num_threads(1)
    countdown = Countdown(kill_at or -1)
    count_records(countdown)
    count_updates(countdown)
    checkpoint.torch.save = lambda state, file: counted_save(state, file, countdown)
    folder.mkdir(parents=True, exist_ok=True)
    os.chdir(folder)
    sys.argv = [f"robustops.{entry}", *overrides, f"run.dir={folder}"]
    code = cli.run(entry, f"robustops.compose.{entry}:run", preflight=PREFLIGHT[entry])
    print(json.dumps({"code": code, "events": (kill_at or -1) - countdown.left}))


def count_records(countdown: Countdown) -> None:
    append = StepJournal._append

    def counted(journal: StepJournal, record, **options) -> None:
        if countdown.left == 1:
            with journal._path.open("ab") as file:
                file.write(b"\0\0\0\0\0\0\1\0torn")
        countdown.event()
        append(journal, record, **options)
        countdown.event()

    StepJournal._append = counted


def count_updates(countdown: Countdown) -> None:
    configure = GrpoModule.configure_optimizers

    def counted(module: GrpoModule):
        optimiser = configure(module)
        optimiser.register_step_pre_hook(lambda *_: countdown.event())
        return optimiser

    GrpoModule.configure_optimizers = counted
