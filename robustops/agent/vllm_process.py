"""A vLLM server as a child process, for a trainer whose own process group vLLM would take over. Knows no requests."""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path

from robustops.core.errors import PolicyError

# The model is a folder here: without the last of these vLLM waits for a hub that it cannot reach.
SERVER_ENVIRONMENT = {"VLLM_SERVER_DEV_MODE": "1", "VLLM_NO_USAGE_STATS": "1", "HF_HUB_OFFLINE": "1"}
OF_THE_TRAINER = ("RANK", "LOCAL_RANK", "NODE_RANK", "GROUP_RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")
POLL_S = 1.0
PR_SET_PDEATHSIG = 1  # linux/prctl.h


class VllmProcess:
    """Runs from construction to `close`. What it says goes to `log_file`."""

    def __init__(
        self, folder: Path, arguments: Sequence[str], *, log_file: Path, start_timeout_s: float = 600.0
    ) -> None:
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        self._log_file = log_file
        log_file.parent.mkdir(parents=True, exist_ok=True)
        environment = {name: value for name, value in os.environ.items() if name not in OF_THE_TRAINER}
        with log_file.open("ab") as log:
            self._process = subprocess.Popen(
                serve_command(folder, port, arguments),
                env=environment | SERVER_ENVIRONMENT,
                stdout=log,
                stderr=subprocess.STDOUT,
                preexec_fn=_die_with_parent if sys.platform == "linux" else None,
            )
        try:
            self._wait(start_timeout_s)
        except BaseException:
            self.close()
            raise

    def _wait(self, timeout_s: float) -> None:
        """Raises PolicyError when the server ends, or is not ready in time."""
        deadline = time.monotonic() + timeout_s
        while time.monotonic() < deadline:
            if self._process.poll() is not None:
                raise PolicyError(f"vllm server: ended with code {self._process.returncode}; see {self._log_file}")
            try:
                with urllib.request.urlopen(f"{self.url}/health", timeout=5):
                    return
            except (urllib.error.URLError, TimeoutError, OSError):
                time.sleep(POLL_S)
        raise PolicyError(f"vllm server: not ready within {timeout_s:.0f} s; see {self._log_file}")

    def close(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def _die_with_parent() -> None:
    """A killed trainer leaves no server behind that holds a GPU."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def serve_command(folder: Path, port: int, arguments: Sequence[str]) -> list[str]:
    return [
        *(sys.executable, "-m", "vllm.entrypoints.openai.api_server"),
        *("--model", str(folder), "--served-model-name", "policy", "--host", "127.0.0.1", "--port", str(port)),
        *("--logprobs-mode", "processed_logprobs", "--generation-config", "vllm"),
        *arguments,
    ]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
