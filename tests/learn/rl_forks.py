"""Training runs forked from a process that has the libraries imported: importing takes longer than a whole tiny run.

Several ranks find each other by the environment variables that a cluster sets, instead of being started by the first.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import socket
import sys
import time
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from multiprocessing import forkserver
from pathlib import Path

import pytest
import rl_process
from lightning.pytorch.utilities import rank_zero_only

FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(["rl_process", "sft_process", "train_process"])
TIMEOUT_S = 600
Variables = dict[str, str]
Main = Callable[..., None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """A process that is gone: how, and what it printed."""

    exit_code: int
    printed: str

    def result(self) -> dict:
        assert self.exit_code == 0, self.printed[-3000:]
        return json.loads(self.printed.strip().splitlines()[-1])


def run(folder: Path, steps: int, *, kill_at: str = "", strategy: str = "", num_ranks: int = 1) -> Ended:
    """An RL run, as `rl_process` says."""
    return run_main(rl_process.main, folder, steps, kill_at, strategy, num_ranks=num_ranks)


def run_main(main: Main, folder: Path, *arguments: object, num_ranks: int = 1) -> Ended:
    """`main(folder, *arguments)`; what the first rank printed. Raises AssertionError for a run that does not end."""
    processes = [
        FORKS.Process(target=_printing, args=(main, _printed(folder, rank), variables, folder, *arguments))
        for rank, variables in enumerate(_variables(num_ranks))
    ]
    with pytest.MonkeyPatch.context() as patch:  # the server inherits it; Python 3.11 gives it no other search path
        patch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
        patch.setenv("OMP_NUM_THREADS", "1")
        forkserver.ensure_running()
    for process in processes:
        process.start()
    last = time.monotonic() + TIMEOUT_S
    for process in processes:
        process.join(max(0.0, last - time.monotonic()))
    hanging = [process for process in processes if process.exitcode is None]
    for process in hanging:
        process.kill()
    if hanging:
        raise AssertionError(f"{folder} still runs after {TIMEOUT_S} s")
    return Ended(exit_code=processes[0].exitcode, printed=_printed(folder, 0).read_text())


def _printed(folder: Path, rank: int) -> Path:
    return folder.with_name(f"{folder.name}.{rank}.printed")


def _variables(num_ranks: int) -> list[Variables]:
    if num_ranks == 1:
        return [{}]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    shared = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "GLOO_SOCKET_IFNAME": "lo", "NODE_RANK": "0"}
    return [{**shared, "WORLD_SIZE": str(num_ranks), "LOCAL_RANK": str(rank)} for rank in range(num_ranks)]


def _printing(main: Main, printed: Path, variables: Variables, folder: Path, *arguments: object) -> None:
    """In the new process. Lightning reads a process's rank when it is imported, which is long ago."""
    os.environ.update(variables)
    rank_zero_only.rank = int(variables.get("LOCAL_RANK", 0))
    with printed.open("w") as file, redirect_stdout(file), redirect_stderr(file):
        main(folder, *arguments)
