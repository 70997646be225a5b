"""The vLLM server: its command line, and one as a child of a trainer whose own process group vLLM would take over.

A server is told here everything that sampling for training needs of it, and how to be a teacher's chat endpoint too.
Knows no requests.
"""

from __future__ import annotations

import ctypes
import logging
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import suppress
from pathlib import Path

from robustops.agent.vllm_options import (
    VllmOptions,
    check_compiler,
    command_line,
    engine_arguments,
    engine_environment,
    is_cpu_build,
)
from robustops.agent.vllm_worker import EXTENSION
from robustops.core.errors import PolicyError

log = logging.getLogger(__name__)

# The model is a folder here: without the last of these vLLM waits for a hub that it cannot reach.
SERVER_ENVIRONMENT = {"VLLM_SERVER_DEV_MODE": "1", "HF_HUB_OFFLINE": "1"}
RANK_VARIABLES = ("RANK", "LOCAL_RANK", "NODE_RANK", "GROUP_RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")
OF_THE_TRAINER = (*RANK_VARIABLES, "VLLM_ENABLE_V1_MULTIPROCESSING")
POLL_S = 1.0
PR_SET_PDEATHSIG = 1  # linux/prctl.h


class VllmProcess:
    """Runs from construction to `close`, in a session of its own. What it says goes to `log_file`.

    Raises ConfigError where it is to compile and no compiler is here.
    """

    def __init__(
        self, folder: Path, options: VllmOptions, *, name: str, log_file: Path, start_timeout_s: float = 600.0
    ) -> None:
        check_compiler(options)
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        self._command = serve_command(folder, options, port=port, name=name)
        self._environment = server_environment(options)
        self.log_file, self._start_timeout_s = log_file, start_timeout_s
        log_file.parent.mkdir(parents=True, exist_ok=True)
        self._process = self._start()
        try:
            self._wait(self._start_timeout_s)
        except BaseException:
            self.close()
            raise

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def has_ended(self) -> bool:
        return self._process.poll() is not None

    def revive(self) -> None:
        """Start it again where it ended, and do not wait. On the main thread: on Linux it ends with its starter."""
        if not self.has_ended:
            return
        log.warning("the vllm server ended with code %s; it is started again", self._process.returncode)
        self._end_all()
        self._process = self._start()

    def make_ready(self) -> None:
        """`revive`, and wait. Raises PolicyError when it ends again, or is not ready in time."""
        self.revive()
        self._wait(self._start_timeout_s)

    def _start(self) -> subprocess.Popen[bytes]:
        environment = {name: value for name, value in os.environ.items() if name not in OF_THE_TRAINER}
        with self.log_file.open("ab") as file:
            return subprocess.Popen(
                self._command,
                env=environment | self._environment,
                stdout=file,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=_die_with_parent if sys.platform == "linux" else None,
            )

    def _wait(self, timeout_s: float) -> None:
        """Raises PolicyError when the server ends, or is not ready in time."""
        deadline = time.monotonic() + timeout_s
        while time.monotonic() < deadline:
            if self._process.poll() is not None:
                raise PolicyError(f"vllm server: ended with code {self._process.returncode}; see {self.log_file}")
            try:
                with urllib.request.urlopen(f"{self.url}/health", timeout=5):
                    return
            except OSError:  # URLError and TimeoutError are
                time.sleep(POLL_S)
        raise PolicyError(f"vllm server: not ready within {timeout_s:.0f} s; see {self.log_file}")

    def close(self) -> None:
        self._process.terminate()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=30)
        self._end_all()

    def _end_all(self) -> None:
        """Also the engine's own processes, which a server that was killed leaves behind with its memory."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()


def _die_with_parent() -> None:
    """A killed trainer leaves no server behind that holds a GPU."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def server_environment(options: VllmOptions) -> dict[str, str]:
    return SERVER_ENVIRONMENT | engine_environment(is_cpu=is_cpu_build(), is_compiled=options.is_compiled)


def serve_command(
    folder: Path,
    options: VllmOptions,
    *,
    port: int,
    host: str = "127.0.0.1",
    name: str,
    chat_template: str | None = None,
) -> list[str]:
    """`name`: what clients call the model; `chat_template`: in place of the folder's own."""
    return [
        *(sys.executable, "-m", "vllm.entrypoints.openai.api_server"),
        *("--model", str(folder), "--served-model-name", name, "--host", host, "--port", str(port)),
        *("--worker-extension-cls", EXTENSION),
        *("--enable-auto-tool-choice", "--tool-call-parser", "hermes"),
        *(("--chat-template", chat_template) if chat_template is not None else ()),
        *command_line(engine_arguments(options, is_cpu=is_cpu_build())),
    ]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
