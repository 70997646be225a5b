"""Executables in place of docker and its kin, a container of theirs, and what tests wait for."""

import asyncio
import json
import os
import socket
import sys
from pathlib import Path

import pytest

from robustops.gym.runtime.commands import RUNTIMES
from robustops.gym.runtime.container import Container
from robustops.gym.runtime.images import IMAGES

FAKE = Path(__file__).parent / "fake_runtime.py"


class FakeRuntime:
    """Executables docker, udocker and apptainer on PATH, and what they noted."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.log = folder / "calls.jsonl"
        self.scratch = folder / "scratch"
        self.monkeypatch = monkeypatch
        for name in RUNTIMES:
            script = folder / "bin" / name
            script.parent.mkdir(exist_ok=True)
            script.write_text(f'#!/bin/sh\nexec {sys.executable} -S {FAKE} {name} "$@"\n')
            script.chmod(0o755)
        monkeypatch.setenv("PATH", f"{folder / 'bin'}:{os.environ['PATH']}")
        monkeypatch.setenv("FAKE_LOG", str(self.log))

    def set(self, **values):
        for name, value in values.items():
            self.monkeypatch.setenv(f"FAKE_{name.upper()}", str(value))

    def notes(self, kind):
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return [line[1:] for line in map(json.loads, lines) if line[0] == kind]

    def calls(self):
        return self.notes("call")

    def living(self):
        """Process ids of the containers that still run."""
        return [int(pid) for _, pid in self.notes("up") if is_alive(int(pid))]


def is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def free_port():
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        return unused.getsockname()[1]


def container(fake, runtime="docker", *, start_timeout_s=20.0):
    port = free_port()
    launch = RUNTIMES[runtime](IMAGES["csm"], f"robustops-csm-{port}", port, fake.scratch)
    return Container(launch, start_timeout_s=start_timeout_s), port


async def until(condition):
    async with asyncio.timeout(20):
        while not condition():
            await asyncio.sleep(0.01)
