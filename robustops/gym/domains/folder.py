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
    table_files: tuple[str, ...] = ("tables.yaml",)
    shape_files: tuple[str, ...] = ()
    kinds: Mapping[str, Kind] = field(default_factory=dict)

    @property
    def all_kinds(self) -> Mapping[str, Kind]:
        return {**KINDS, **self.kinds}

    def load(self) -> Domain:
        return parse_domain(
            self._text("domain.yaml"),
            table_files=map(self._text, self.table_files),
            tool_files=map(self._text, self.tool_files),
            kinds=self.all_kinds,
            shape_files=map(self._text, self.shape_files),
        )

    def _text(self, name: str) -> str:
        return (files("robustops.gym.domains") / self.name / name).read_text(encoding="utf-8")
