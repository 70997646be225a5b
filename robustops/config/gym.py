"""Where tools run, and what serves them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from robustops.config.model import SERVED_NAME, ModelConfig


@dataclass
class TimeoutsConfig:
    call_s: float = 30.0  # one tool call
    seed_s: float = 1200.0  # loading one seed database
    episode_s: float = 1800.0


@dataclass
class GymConfig:
    kind: str = "embedded"  # embedded | http | docker | udocker | apptainer: all but the first speak to `urls`
    tool_snapshots: str | None = None  # embedded: folder of answers to tools/list, shown instead of our declarations
    urls: dict[str, Any] = field(default_factory=dict)  # by domain or server: a URL, a list of replicas, or null
    pool: int = 32  # connections to one server
    token_env: str = ""  # the environment variable with the servers' bearer token; empty: none is sent
    janitor_ttl_s: float | None = 7200.0  # databases of a killed run are deleted after that; null: never
    timeouts: TimeoutsConfig = field(default_factory=TimeoutsConfig)
    max_consecutive_failures: int = 16  # failed episodes in a row that end a run


@dataclass
class ServedGymConfig:
    """The group `gym`, as far as serving is concerned."""

    kind: str = "embedded"  # embedded | docker | udocker | apptainer
    urls: dict[str, Any] = field(default_factory=dict)  # of gym=http, which is refused: there is nothing to serve
    tool_snapshots: str | None = None  # embedded: folder of answers to tools/list, shown instead of our declarations


@dataclass
class ServeConfig:
    """What `python -m robustops.serve` serves. A domain's container listens on its public port; `port` overrides it.

    Models and the expert listen on 8000.
    """

    do: str = "tools"  # tools | model: `model.path`, by vLLM | expert: the scripted expert, behind a chat endpoint
    gym: ServedGymConfig = field(default_factory=ServedGymConfig)
    domain: str = "csm"  # a domain's name, or all
    host: str = "127.0.0.1"
    port: int | None = None
    port_offset: int = 0  # added to every public port when domain=all
    max_databases: int = 512  # open at a time, embedded
    max_idle_s: float = 14400.0  # a database that nobody used for that long is deleted
    token_env: str = ""  # the environment variable with the bearer token to ask for; empty: none is asked for
    restart_after: int = 150  # seeded databases after which a container is replaced: it leaks descriptors
    start_timeout_s: float = 300.0  # from a container's start to its first healthy answer
    dry_run: bool = False  # print the command lines of containers, or of vLLM, and start nothing
    model: ModelConfig = field(default_factory=ModelConfig)  # do=model
    served_name: str = SERVED_NAME  # do=model: what clients call it
    concurrency: int = 32  # do=model: sequences at a time
    gpu_memory_utilization: float = 0.9  # do=model
    kv_cache_mib: int | None = None  # do=model; None: by gpu_memory_utilization
    compiled: bool = False  # do=model on the CPU, by torch.compile; on a GPU it always is
    block_tokens: int | None = None  # do=model, of the prefix cache; None: 32 on the CPU
    task_set: str | None = None  # do=expert: the folder of a task set with plans
