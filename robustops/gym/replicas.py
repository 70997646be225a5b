"""Several servers of one kind: sessions in, the server that each of them stays on out.

The one with the fewest sessions is next. A server that failed to open a session is passed over for a while, unless no
other is left.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from robustops.gym.remote import RemoteServer

COOL_OFF_S = 30.0


@dataclass(slots=True, kw_only=True)
class _Seat:
    server: RemoteServer
    num_open: int = 0
    num_taken: int = 0
    out_until: float = float("-inf")


class Replicas:
    """`now`: for tests, seconds of any clock that goes forward."""

    def __init__(self, servers: Sequence[RemoteServer], *, now: Callable[[], float] = time.monotonic) -> None:
        self._seats = [_Seat(server=server) for server in servers]
        self._now = now

    def __len__(self) -> int:
        return len(self._seats)

    def take(self) -> RemoteServer:
        """The next session's server, until `give_back`."""
        now = self._now()
        usable = [seat for seat in self._seats if seat.out_until <= now]
        # With none usable, the one whose failure is oldest: it may be back.
        seat = (
            min(usable, key=lambda seat: (seat.num_open, seat.num_taken))
            if usable
            else min(self._seats, key=lambda seat: seat.out_until)
        )
        seat.num_open += 1
        seat.num_taken += 1
        return seat.server

    def give_back(self, server: RemoteServer) -> None:
        self._seat(server).num_open -= 1

    def failed(self, server: RemoteServer) -> None:
        self._seat(server).out_until = self._now() + COOL_OFF_S

    def _seat(self, server: RemoteServer) -> _Seat:
        return next(seat for seat in self._seats if seat.server is server)
