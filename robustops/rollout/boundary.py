"""The one place that catches broadly: an episode's body in, an `Episode` out, whatever the world did.

A bad episode is data; a gym or engine that fails again and again stops the run with one line.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from robustops.core.episode import Episode, FaultEvent, FaultPlan, Turn, Verdict
from robustops.core.errors import GymError, PolicyError, RobustopsError, SyncError, UserError
from robustops.core.task import Case

logger = logging.getLogger(__name__)


@dataclass(slots=True, kw_only=True)
class Record:
    """What is known of an episode so far; it survives the failure that ends it."""

    case: Case
    plan: FaultPlan | None = None
    turns: list[Turn] = field(default_factory=list)
    faults: tuple[FaultEvent, ...] = ()
    boundary: Verdict | None = None
    clock: Callable[[], float] = time.monotonic
    started_s: float = 0.0

    def __post_init__(self) -> None:
        self.started_s = self.clock()

    @property
    def wall_s(self) -> float:
        return self.clock() - self.started_s

    def failed(self, error: Exception) -> Episode:
        """The episode as infrastructure left it: no end verdict, since nothing was judged."""
        return Episode(
            case=self.case,
            turns=tuple(self.turns),
            boundary=self.boundary,
            end=None,
            stop_reason="infrastructure",
            error_kind=type(error).__name__,
            error=chain_text(error),
            faults=self.faults,
            plan=self.plan,
            wall_s=self.wall_s,
        )


async def boundary(record: Record, body: Callable[[], Awaitable[Episode]]) -> Episode:
    """Run one episode. A user's mistake and unequal weights go through: they are wrong for every episode alike."""
    try:
        return await body()
    except (UserError, SyncError):
        raise
    except Exception as error:
        logger.info("%s: infrastructure: %s", record.case.case_id, chain_text(error))
        level = logging.DEBUG if isinstance(error, RobustopsError) else logging.WARNING  # else a bug of ours: show it
        logger.log(level, "%s: traceback", record.case.case_id, exc_info=error)
        return record.failed(error)


def chain_text(error: BaseException) -> str:
    """The message and, after arrows, those of its causes."""
    texts: list[str] = []
    current: BaseException | None = error
    while current is not None and len(texts) < 5:
        texts.append(str(current) or type(current).__name__)
        current = current.__cause__
    return " <- ".join(texts)


class Breaker:
    """Counts infrastructure failures in a row; the `limit`-th stops the run."""

    def __init__(self, limit: int) -> None:
        if limit < 1:
            raise ValueError(f"breaker: expected a limit of at least 1, got {limit}")
        self._limit = limit
        self._num_failed = 0

    def see(self, episode: Episode) -> None:
        """Raises GymError or PolicyError, after what failed last."""
        if not episode.is_spoilt:
            self._num_failed = 0
            return
        self._num_failed += 1
        if self._num_failed >= self._limit:
            line = (
                f"{self._num_failed} episodes in a row failed, the last one ({episode.case.case_id}) with "
                f"{episode.error_kind}: {episode.error}"
            )
            if episode.error_kind == PolicyError.__name__:
                raise PolicyError(f"{line}; is the engine or endpoint up? What is written is kept: run again")
            raise GymError(f"{line}; is the gym up? What is written is kept: run again")
