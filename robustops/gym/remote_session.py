"""One task on remote servers: each server's database under a name we chose. Calls in, `ToolResult`s out."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from typing import Any

from robustops.core.episode import ToolResult
from robustops.core.errors import GymError
from robustops.core.task import ToolSchema
from robustops.gym.domains import volatile_columns
from robustops.gym.engine import unknown_tool
from robustops.gym.hashing import combined_digest
from robustops.gym.remote_state import Partner, RemoteState
from robustops.gym.seed_texts import SeedText
from robustops.gym.snapshot import Snapshot, pack, unpack

logger = logging.getLogger(__name__)


class HttpSession:
    """Tools of several servers are merged in the task's order: the first server that advertises a name has it.

    Servers with a virtual clock share the session's, as in process; on the others, time is their own.
    """

    def __init__(self, selected: Sequence[str], partners: Sequence[Partner]) -> None:
        self.tools: tuple[ToolSchema, ...] = ()
        self._selected = frozenset(selected)
        self.partners = tuple(partners)
        self._states = {partner.server.name: RemoteState(partner) for partner in partners}
        self._route: dict[str, Partner] = {}
        self._num_writes = 0

    async def start(self, seeds: Sequence[SeedText]) -> None:
        """Shake hands, then seed all servers at once. Raises SeedError, GymError."""
        advertised = await asyncio.gather(*(partner.tools() for partner in self.partners))
        merged: dict[str, ToolSchema] = {}
        for partner, tools in zip(self.partners, advertised, strict=True):
            for tool in tools:
                if tool.name not in merged:
                    merged[tool.name] = tool
                    self._route[tool.name] = partner
        self.tools = tuple(tool for tool in merged.values() if not self._selected or tool.name in self._selected)
        seeding = (self._seed(partner, seed) for partner, seed in zip(self.partners, seeds, strict=True))
        # Gathered with exceptions as values: no seed may still be on its way when the session closes.
        for outcome in await asyncio.gather(*seeding, return_exceptions=True):
            if outcome is not None:
                raise outcome

    async def call(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        partner = self._route.get(name)
        if partner is None:
            # The benchmark's own run crashes here; for us it is an error that the model sees.
            return unknown_tool(name)
        self._states[partner.server.name].touched()
        called = await partner.server.call(
            partner.database_id,
            name,
            arguments,
            partner.headers,
            num_writes=self._num_writes if partner.server.is_extended else None,
        )
        if called.num_writes is not None:
            self._num_writes = called.num_writes
        return called.result

    async def query(self, sql: str, gym: str | None = None) -> Any:
        """The sql-runner's reply; a refusal is `{"detail": message}`. Without `gym`, the first server's database."""
        for partner in self.partners:
            if not gym or partner.server.name == gym:
                return await partner.query(sql)
        names = ", ".join(partner.server.name for partner in self.partners)
        raise ValueError(f"gym {gym!r}: not in this session, expected one of {names}")

    async def state_hash(self) -> str:
        """Raises SnapshotUnsupported, naming the server, where one shows nothing of its state."""
        digests = await asyncio.gather(*(state.digest() for state in self._states.values()))
        return combined_digest(dict(zip(self._states, digests, strict=True)))

    @property
    def volatile(self) -> frozenset[str]:
        """Columns that differ when a call is repeated: those of the servers whose clocks are their own."""
        servers = [partner.server for partner in self.partners if not partner.server.is_extended]
        return frozenset().union(*(volatile_columns(server.name) for server in servers))

    async def masked_hash(self) -> str:
        """As `state_hash`, without the volatile columns."""
        digests = await asyncio.gather(*(state.masked_digest() for state in self._states.values()))
        return combined_digest(dict(zip(self._states, digests, strict=True)))

    async def snapshot(self) -> bytes:
        """Every server's contents, and the virtual clock where there is one."""
        servers = await asyncio.gather(*(state.take() for state in self._states.values()))
        has_clock = any(partner.server.is_extended for partner in self.partners)
        return pack(Snapshot(num_writes=self._num_writes if has_clock else None, servers=tuple(servers)))

    async def restore(self, snapshot: bytes) -> None:
        """Raises SnapshotUnsupported, naming the server, when its database does not come back equal.

        Raises GymError, leaving the session as it is, for bytes that are no snapshot of these servers.
        """
        wanted = unpack(snapshot, expected=list(self._states))
        for server in wanted.servers:
            await self._states[server.name].bring_back(server, wanted.num_writes)
        if wanted.num_writes is not None:
            self._num_writes = wanted.num_writes

    async def close(self) -> None:
        """Delete every database this session made. A server that fails to is logged: the episode is over anyway."""
        await asyncio.gather(*(self._delete(partner, name) for partner in self.partners for name in partner.made))

    async def _seed(self, partner: Partner, seed: SeedText) -> None:
        partner.database_id = await partner.seed(seed)

    async def _delete(self, partner: Partner, database_id: str) -> None:
        try:
            await partner.delete(database_id)
        except GymError as error:
            logger.warning("%s: database %s may be left behind: %s", partner.server.name, database_id, error)
