"""The configuration tree: every key that may be written in YAML, with its type, unit and default. Knows no Hydra."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

REQUIRED: Any = "???"  # OmegaConf's word for a value that must be given


@dataclass
class GrpoConfig:
    """Group-relative policy optimisation (docs/algorithms.md)."""

    name: str = "grpo"
    steps: int = 120
    lr: float = 1e-6
    kl_coef: float = 0.001
    group_size: int = 4
    clean_groups: int = 16
    fault_groups: int = 16
    delay_steps: int = 10  # RL steps before a case without signal may return
    delayed_return: bool = True  # False: a case without signal returns in the next pass alone
    temperature: float = 1.0
    ppo_epochs: int = 1
    clip_low: float = 0.2
    clip_high: float = 0.28
    tis_cap: float | None = 2.0  # None: no importance weight between engine and trainer
    on_underfill: str = "smaller_batch"  # smaller_batch | skip | raise
    max_attempts: int = 4  # refills of one slot within a step
    max_grad_norm: float = 1.0
    micro_batch_tokens: int = 16384
    num_minibatches: int = 1  # optimiser steps per epoch over the batch, each with its share of both flows
    share_prefix: bool = True  # members of a group compute their common prefix once, where the model supports it
    activation_checkpointing: bool = False
    local_credit: bool = True  # False: no caps on bad calls, repeated reads and failed stops


@dataclass
class SftConfig:
    """Masked supervised fine-tuning on demonstrations."""

    name: str = "sft"
    demonstrations: str = REQUIRED  # path of an exported SFT file, or a collect run folder
    epochs: int = 3
    lr: float = 3e-6
    batch_size: int = 8  # trajectories in one optimiser step
    schedule: str = "constant"  # constant | cosine
    warmup_steps: int = 0
    max_grad_norm: float = 1.0
    micro_batch_tokens: int = 16384
    packing: bool = False  # several demonstrations in one row, where the attention keeps them apart
    spike_factor: float | None = 4.0  # a loss so many times the recent median is reported; None: never
    validation_size: int = 64  # demonstrations set apart for the monitoring loss
    activation_checkpointing: bool = False


@dataclass
class ApiConfig:
    """An OpenAI-compatible endpoint. The key is read from the environment variable `key_env`, never from a file."""

    base_url: str = ""
    model: str = ""
    key_env: str = ""
    usd_per_million_input: float = 0.0
    usd_per_million_output: float = 0.0
    concurrency: int = 8
    requests_per_minute: int | None = None  # None: no limit besides the concurrency


@dataclass
class LoraConfig:
    """Low-rank adapters instead of full-parameter training; exports are merged."""

    rank: int = 0  # 0: all parameters are trained
    alpha: int = 32  # the adapters' product is scaled by alpha / rank
    dropout: float = 0.0
    targets: list[str] = field(
        default_factory=lambda: ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
    )


@dataclass
class ModelConfig:
    name: str = REQUIRED
    stage: str = "base"  # base | sft | rl | teacher: the row's place in a report
    path: str = REQUIRED  # a Hugging Face model folder
    revision: str | None = None  # which revision `path` holds; changes nothing, run.json records it
    tokenizer_path: str | None = None  # where it is not the model's own: API models are counted with Base's
    attn: str = "sdpa"  # sdpa | flash_attention_2
    dtype: str = "bfloat16"  # compute type; master weights are always float32
    max_context_tokens: int = 32768
    reserve_tokens: int = 2048
    max_turns: int = 40
    tool_schema: str = "full"  # full | compact
    shape: dict[str, Any] = field(default_factory=dict)  # as in config.json; lets plan work without the weights
    lora: LoraConfig = field(default_factory=LoraConfig)
    api: ApiConfig = field(default_factory=ApiConfig)


@dataclass
class SplitConfig:
    name: str = "synthetic"
    part: str = "train"  # train | val | test
    limit: int | None = None  # a seeded sample stratified by domain, never the first N
    root: str = REQUIRED  # folder of the task set
    domains: list[str] = field(default_factory=lambda: ["csm"])
    num_train: int = 1200
    num_val: int = 60
    num_test: int = 240
    generator_seed: int = 7
    curriculum: str | None = None  # a file of task ids, one a line: RL draws these, in this order, in every pass


@dataclass
class ToolModeConfig:
    name: str = "oracle"  # oracle | plus5 | plus10 | plus15: the number of distractors


@dataclass
class FaultPolicyConfig:
    name: str = "train"  # none | train | heldout | all | stress; the last three for evaluation alone
    subtypes: list[str] | None = None  # fewer than the policy allows; None: all of them
    manifest: str | None = None  # a frozen assignment, for evaluation
    labels: str | None = None  # selector labels that narrow what is considered; None: everything
    caps: dict[str, list[int]] = field(default_factory=dict)  # subtype: [least, most] repetitions
    intensity: float | None = None  # 0 to 1 settles caps and doses of all faults; None: drawn for each


@dataclass
class RewardConfig:
    weights: list[float] = field(default_factory=lambda: [1.0, 0.3, 0.1])  # S, P, Q
    progress: str = "gated"  # gated | independent | none
    length_weight: float = 0.0  # ablation: minus so much times an answer's share of its group's longest


@dataclass
class RewardNormConfig:
    kind: str = "component"  # component | aggregate
    quality_credit: str = "temporal"  # temporal | uniform


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
class EngineConfig:
    kind: str = "vllm"  # vllm | hf | api | scripted
    deterministic: bool = False
    max_probe_diff: float = 1e-3  # nats; engine against trainer after each weight update
    max_tokens_per_turn: int = 2048
    concurrency: int = 32  # episodes in flight
    gpu_memory_utilization: float = 0.45
    kv_cache_mib: int | None = None  # None: by gpu_memory_utilization
    urls: list[str] = field(default_factory=list)  # of vLLM servers elsewhere; none: an engine of our own
    served_name: str = "policy"  # what those servers call the model
    weights_folder: str | None = None  # on a disk shared with them; None: engine-weights in the run folder


@dataclass
class HardwareConfig:
    name: str = "cpu"
    gpus: int = 0
    processes: int = 1  # without GPUs: ranks on the CPU
    precision: str = "fp32"  # fp32 | bf16: compute type of the trainer
    strategy: str = "auto"  # auto | ddp | fsdp: for several ranks; auto is ddp
    memory_gib: float | None = None  # of one GPU; what follows is for `python -m robustops.plan` alone
    tflops: float | None = None  # dense bf16 of one GPU, by its data sheet
    bandwidth_gb_s: float | None = None  # of one GPU's memory
    threads: int | None = None  # of torch on the CPU; None: torch's own choice


@dataclass
class PlanConfig:
    """`python -m robustops.plan`."""

    job: str = "train"  # train | evaluate
    episodes: str | None = None  # a run folder whose episodes' lengths are measured


@dataclass
class LoggerConfig:
    kind: str = "csv"  # csv | tensorboard | wandb
    project: str = "robustops"  # for wandb
    mode: str = "offline"  # offline | online, for wandb


@dataclass
class RunFolderConfig:
    name: str = REQUIRED
    dir: str = REQUIRED  # the same folder given again resumes the run in it


@dataclass
class EvaluationConfig:
    conditions: list[str] = field(default_factory=lambda: ["clean", "fault"])
    attempts: int = 1  # runs of every case; pass@k and pass^k need k of them
    temperature: float = 0.0  # 0: greedy
    arms: list[str] = field(default_factory=list)  # STAGE:FOLDER or STAGE:URL, played side by side; none: model alone
    paraphrase: int = 0  # 0: the request as it is, 1: politely, 2: with idle talk around it
    supplement: int = 0  # extra samples, at most, of a case that missed its fault of the manifest
    supplement_temperature: float = 1.0


@dataclass
class CollectConfig:
    teacher: str = "scripted"  # scripted: the expert plans; api: model.api
    task_share: float = 0.8  # of the runnable training tasks, chosen by task id
    fault_share: float = 0.5  # continuations after a fault, as a share of all demonstrations
    retry_temperature: float | None = 0.6  # failed cases once more; None: never. The scripted expert has no other way
    guidance: bool = True  # an API teacher is told how to work; exports are without it
    review: bool = False  # model.api also judges the narration that the rules cannot
    formats: list[str] = field(default_factory=lambda: ["hf", "verl", "nemo_gym", "atif"])  # of do=export


@dataclass
class LabelsConfig:
    """Selector labels, `prepare do=labels`."""

    kind: str = "rules"  # rules: shapes of a clean pass; llm: model.api
    max_tries: int = 3  # answers of the model to one task, of which one must be usable
    max_tokens: int = 4096  # of one answer


@dataclass
class GraphsConfig:
    """Check graphs, `prepare do=graphs`."""

    kind: str = "rules"  # rules: shared and foreign keys; llm: model.api


@dataclass
class SourceConfig:
    """Where `prepare` takes tasks from. Addresses and hashes that are None are not fetched, not compared."""

    kind: str = "synthetic"  # synthetic: generated; local: a folder; hub: pinned revisions; agentrelbench: the package
    path: str | None = None  # local: the folder that holds rows or task files, seeds (or their archive), snapshots
    allocation: str = "by_request"  # by_request: train, val and test by the request's hash; test: all for evaluation
    max_mib: int = 4096  # the most that an archive may unpack to, or a download bring
    endpoint: str | None = None  # of the hub; None: the public one
    repo: str | None = None  # tasks: data set and revision
    revision: str | None = None
    databases_url: str | None = None  # archive of the seed databases
    databases_sha256: str | None = None
    tools_repo: str | None = None  # snapshots of tools/list: data set, revision, folder, count and hash of its files
    tools_revision: str | None = None
    tools_under: str = ""
    tools_files: int | None = None
    tools_sha256: str | None = None


@dataclass
class ServedGymConfig:
    """The group `gym`, as far as serving is concerned."""

    kind: str = "embedded"  # embedded | docker | udocker | apptainer
    urls: dict[str, Any] = field(default_factory=dict)  # of gym=http, which is refused: there is nothing to serve
    tool_snapshots: str | None = None  # embedded: folder of answers to tools/list, shown instead of our declarations


@dataclass
class ServeConfig:
    """What `python -m robustops.serve` serves. A domain's container listens on its public port; `port` overrides it."""

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
    dry_run: bool = False  # print the containers' command lines and start nothing


@dataclass
class RunConfig:
    """Everything one run depends on."""

    algorithm: Any = REQUIRED  # GrpoConfig | SftConfig, by the group's choice
    model: ModelConfig = field(default_factory=ModelConfig)
    split: SplitConfig = field(default_factory=SplitConfig)
    tool_mode: ToolModeConfig = field(default_factory=ToolModeConfig)
    fault_policy: FaultPolicyConfig = field(default_factory=FaultPolicyConfig)
    reward: RewardConfig = field(default_factory=RewardConfig)
    reward_norm: RewardNormConfig = field(default_factory=RewardNormConfig)
    gym: GymConfig = field(default_factory=GymConfig)
    engine: EngineConfig = field(default_factory=EngineConfig)
    hardware: HardwareConfig = field(default_factory=HardwareConfig)
    logger: LoggerConfig = field(default_factory=LoggerConfig)
    run: RunFolderConfig = field(default_factory=RunFolderConfig)
    evaluation: EvaluationConfig = field(default_factory=EvaluationConfig)
    collection: CollectConfig = field(default_factory=CollectConfig)
    graphs: GraphsConfig = field(default_factory=GraphsConfig)
    labels: LabelsConfig = field(default_factory=LabelsConfig)
    source: SourceConfig = field(default_factory=SourceConfig)
    plan: PlanConfig = field(default_factory=PlanConfig)
    do: str = "tasks"  # prepare: tasks | manifest | labels | graphs | export; collect: play | export
    seed: int = 0
