"""A Ctrl-C or SIGTERM that waits for the end of a step, where the state is whole. Knows no trainer."""

from __future__ import annotations

import logging
import signal
import threading
from types import FrameType

from robustops.learn import ranks

log = logging.getLogger(__name__)


class Interrupt:
    """Notes the first signal once it listens; a second one does what it would have done without.

    One that comes after the last step has no step to wait for: the run ends as it would have.
    """

    def __init__(self) -> None:
        self.is_asked = False
        self._before: dict[int, signal._HANDLER] = {}

    def listen(self) -> None:
        """Call when training has started: Lightning puts a SIGTERM handler of its own in place, and gives back at the
        end what it found before.
        """
        if threading.current_thread() is not threading.main_thread():
            return
        for number in (signal.SIGINT, signal.SIGTERM):
            before = signal.getsignal(number)
            if number == signal.SIGTERM or callable(before):  # Ctrl-C is ignored in a shell's background job
                self._before[number] = before
                signal.signal(number, self._note)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.is_asked = True
        for known, before in self._before.items():
            signal.signal(known, before)
        if ranks.is_first():
            log.warning("interrupted: stopping after this step; a second time stops at once")
