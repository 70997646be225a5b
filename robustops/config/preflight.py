"""What can be refused before torch is imported: the wrong part, a model that is not there, a machine without a GPU.

Enters: a typed configuration. Leaves: nothing, or one UserError. Only what is certain is refused here; the job itself
asks torch and the tokenizer.
"""

from __future__ import annotations

import os
from itertools import takewhile
from pathlib import Path

from robustops.agent.vocabulary import vocabulary_sha256
from robustops.config.attention import check_attention, check_flash_attention_is_there
from robustops.config.tree import HardwareConfig, ModelConfig, RunConfig, SftConfig
from robustops.core.errors import ConfigError, SplitError
from robustops.core.listing import read_header
from robustops.data.sft import refuse_foreign, samples_file
from robustops.data.task_set import refuse_graphs_of_another_set

GPU_DEVICES = ("nvidia[0-9]*", "nvidiactl", "dxg")  # dxg: GPUs under the Windows subsystem for Linux
LOCAL_ENGINES = ("vllm", "hf")


def before_training(config: RunConfig) -> None:
    """Refuse what a training job would refuse after its libraries are loaded."""
    if config.split.part != "train":
        raise SplitError(f"split.part: got {config.split.part!r}; training takes 'train' alone")
    check_attention(config)
    check_gpu_is_there(config.hardware)
    check_flash_attention_is_there(config)
    model_folder(config.model)
    check_graphs(config)
    if isinstance(config.algorithm, SftConfig):
        check_demonstrations(config, config.algorithm)


def before_evaluation(config: RunConfig) -> None:
    """Refuse what an evaluation would refuse after its libraries are loaded."""
    if config.split.part == "train":
        raise SplitError("split.part: got 'train'; evaluation uses val or test")
    if config.engine.urls:
        raise ConfigError(
            "engine.urls: training gives these servers their weights; an evaluation loads model.path itself"
        )
    check_gpu_is_there(config.hardware)
    if config.engine.kind in LOCAL_ENGINES:
        model_folder(config.model)
    check_graphs(config)


def model_folder(model: ModelConfig) -> Path:
    """Raises ConfigError for a folder that is no model."""
    folder = Path(model.path).expanduser().absolute()
    if not (folder / "config.json").is_file():
        raise ConfigError(
            f"model.path: no model in {folder} (config.json is missing); put the model {model.name} there, "
            "or write model.path=FOLDER"
        )
    return folder


def tokenizer_folder(config: RunConfig) -> Path:
    return Path(config.model.tokenizer_path or config.model.path).expanduser().absolute()


def check_demonstrations(config: RunConfig, algorithm: SftConfig) -> None:
    """Raise SplitError or TableError for a file that is not there, or of another task set, tokenizer or tool view."""
    path = samples_file(Path(algorithm.demonstrations).expanduser().absolute())
    refuse_foreign(
        read_header(path, kind="sft"),
        path,
        set_sha256=set_sha256(config),
        vocabulary_sha256=vocabulary_sha256(tokenizer_folder(config)),
        tool_view=config.model.tool_schema,
    )


def check_graphs(config: RunConfig) -> None:
    """Raise TableError or TaskError for a file of graphs that is not there, or is of another task set."""
    if config.split.graphs is not None:
        refuse_graphs_of_another_set(Path(config.split.graphs).expanduser().absolute(), set_sha256(config))


def set_sha256(config: RunConfig) -> str:
    """Of the task set at hand; empty where it is yet to be generated."""
    path = Path(config.split.root).expanduser().absolute() / "split.jsonl"
    return read_header(path, kind="split").sha256 if path.is_file() else ""


def check_gpu_is_there(hardware: HardwareConfig, devices: Path = Path("/dev")) -> None:
    """Raise ConfigError for more GPUs than the environment shows, or for any where no driver is."""
    has_driver = any(True for pattern in GPU_DEVICES for _ in devices.glob(pattern))
    most = num_named(os.environ.get("CUDA_VISIBLE_DEVICES")) if has_driver else 0
    if most is not None and hardware.gpus > most:
        raise too_few_gpus(hardware, found=most)


def num_named(visible: str | None) -> int | None:
    """How many GPUs CUDA_VISIBLE_DEVICES names, by number or UUID; CUDA stops at the first -1. None: it is not set."""
    if visible is None:
        return None
    names = (name.strip() for name in visible.split(","))
    return len(list(takewhile(lambda name: name not in ("", "-1"), names)))


def too_few_gpus(hardware: HardwareConfig, *, found: int) -> ConfigError:
    wanted = hardware.gpus
    return ConfigError(
        f"hardware={hardware.name} wants {wanted} GPU{'s' if wanted > 1 else ''}, {found} visible here; "
        "use hardware=cpu, or check CUDA_VISIBLE_DEVICES"
    )
