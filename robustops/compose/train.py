"""Train: the algorithm's name picks the job."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

from robustops.compose.hardware import check_engine, check_hardware
from robustops.compose.objective import objective
from robustops.compose.rl import train_rl
from robustops.compose.sft import train_sft
from robustops.compose.trainer import finish_logger
from robustops.config import RunConfig, SftConfig
from robustops.core.folders import sole_writer
from robustops.learn import ranks


def run(config: RunConfig, folder: Path) -> float | None:
    """Train in `folder`; the same folder given again resumes. Returns what a sweeper optimises.

    Raises UserError for whatever can be refused early.
    """
    check_hardware(config)
    check_engine(config)
    with sole_writer(folder) if ranks.is_first() else nullcontext():
        try:
            if isinstance(config.algorithm, SftConfig):
                train_sft(config, config.algorithm, folder)
            else:
                train_rl(config, config.algorithm, folder)
        finally:
            finish_logger(config)
    return objective(folder)
