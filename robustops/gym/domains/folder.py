"""Where a domain's declaration lies: package files, in the order in which its server lists the tools."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files

from robustops.gym.declaration import parse_domain
from robustops.gym.domain import Domain
from robustops.gym.operations import KINDS
from robustops.gym.operations.kind import Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class DomainFolder:
    """`kinds`: the domain's own operations, beside the general ones."""

    name: str
    tool_files: tuple[str, ...]
    kinds: Mapping[str, Kind] = field(default_factory=dict)

    @property
    def all_kinds(self) -> Mapping[str, Kind]:
        return {**KINDS, **self.kinds}

    def load(self) -> Domain:
        folder = files("robustops.gym.domains") / self.name
        texts = [(folder / name).read_text(encoding="utf-8") for name in self.tool_files]
        return parse_domain((folder / "domain.yaml").read_text(encoding="utf-8"), texts, self.all_kinds)
