"""A domain ready to run: each tool's argument schema and SQL are prepared once per process, when it is first called."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from robustops.gym.arguments import ArgumentChecker
from robustops.gym.domain import Domain, Tool
from robustops.gym.operations.around import surrounded
from robustops.gym.operations.kind import Kind, Operation


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedTool:
    tool: Tool
    checker: ArgumentChecker
    run: Operation
    is_write: bool


class Toolbox:
    """Shared by all sessions of a domain; holds no state of any of them."""

    def __init__(self, domain: Domain, kinds: Mapping[str, Kind]) -> None:
        self.domain = domain
        self._kinds = kinds
        self._prepared: dict[str, PreparedTool] = {}

    def of(self, domain: Domain) -> Toolbox:
        """The same operations for another declaration of the domain."""
        return Toolbox(domain, self._kinds)

    def __contains__(self, name: str) -> bool:
        return name in self.domain.tools

    def __getitem__(self, name: str) -> PreparedTool:
        """Raises KeyError for a tool that the domain does not have."""
        if name not in self._prepared:
            tool = self.domain.tools[name]
            kind = self._kinds[tool.does]
            self._prepared[name] = PreparedTool(
                tool=tool,
                checker=ArgumentChecker(tool, place=kind.place),
                run=surrounded(self.domain, tool, kind.compile(self.domain, tool)),
                is_write=kind.is_write,
            )
        return self._prepared[name]
