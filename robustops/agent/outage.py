"""A server that is away: what is wrong with it in, one line when that begins and one when it is over out.

Knows no server and does not wait itself, so that blocking and asynchronous callers share it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from robustops.core.errors import PolicyError

log = logging.getLogger(__name__)


class Outage:
    """Begins with the first trouble that it sees, whoever meets it; `patience_s`: how long it may then last."""

    def __init__(self, name: str, patience_s: float, clock: Callable[[], float]) -> None:
        self._name, self._patience_s, self._clock = name, patience_s, clock
        self._since: float | None = None

    def see(self, trouble: str) -> None:
        """Raises PolicyError where it has lasted too long."""
        now = self._clock()
        if self._since is None:
            self._since = now
            log.warning("%s; waiting up to %.0f s for it", trouble, self._patience_s)
        elif now - self._since > self._patience_s:
            raise PolicyError(
                f"{self._name}: not there for {self._patience_s:.0f} s ({trouble}; engine.server_patience_s); "
                "start the server again and run the same command"
            )

    def end(self) -> None:
        if self._since is not None:
            log.warning("%s: there again after %.0f s", self._name, self._clock() - self._since)
            self._since = None
