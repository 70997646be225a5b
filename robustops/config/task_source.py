"""Which tasks there are: where they come from, and what is written beside them."""

from __future__ import annotations

from dataclasses import dataclass, field

from robustops.config.required import REQUIRED


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
    graphs: str | None = None  # a file of check graphs (prepare do=graphs); None: the task set's own
    curriculum: str | None = None  # a file of task ids, one a line: RL draws these, in this order, in every pass


@dataclass
class ToolModeConfig:
    name: str = "oracle"  # oracle | plus5 | plus10 | plus15: the number of distractors


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
