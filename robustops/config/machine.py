"""What a run computes on: the engine of its rollouts, and the hardware."""

from __future__ import annotations

from dataclasses import dataclass, field

from robustops.config.model import SERVED_NAME


@dataclass
class EngineConfig:
    kind: str = "vllm"  # vllm | hf | api | scripted
    deterministic: bool = False
    compiled: bool = False  # vLLM on the CPU, by torch.compile; starts 10 s and more later; on a GPU it always is
    max_probe_diff: float = 1e-3  # nats; engine against trainer after each weight update
    max_tokens_per_turn: int = 2048
    concurrency: int = 32  # episodes in flight
    gpu_memory_utilization: float = 0.45
    kv_cache_mib: int | None = None  # None: by gpu_memory_utilization
    block_tokens: int | None = None  # of the prefix cache; None: 32 on the CPU, where 128 is faster in long contexts
    urls: list[str] = field(default_factory=list)  # of vLLM servers elsewhere; none: an engine of our own
    served_name: str = SERVED_NAME  # what servers call the model
    server_patience_s: float = 600.0  # how long a server that went away may take to come back
    weights_folder: str | None = None  # on a disk shared with them, a folder in it per run; None: in the run folder


@dataclass
class HardwareConfig:
    name: str = "cpu"
    gpus: int = 0
    processes: int = 1  # without GPUs: ranks on the CPU
    precision: str = "fp32"  # fp32 | bf16: compute type of the trainer
    strategy: str = "auto"  # auto | ddp | fsdp: for several ranks; auto is ddp
    threads: int | None = None  # of torch on the CPU; None: torch's own choice
    memory_gib: float | None = None  # of one GPU; what follows is for `python -m robustops.plan` alone
    tflops: float | None = None  # dense bf16 of one GPU, by its data sheet
    bandwidth_gb_s: float | None = None  # of one GPU's memory
