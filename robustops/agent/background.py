"""A blocking call in, its result out, on a thread that no loop and no process waits for once its waiter has left."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

T = TypeVar("T")


async def in_background(call: Callable[[], T]) -> T:
    """Unlike `asyncio.to_thread`, whose thread is waited for where a loop closes, as after a Ctrl-C."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def tell(settle: Callable[[Any], None], value: object) -> None:
        with suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(lambda: None if future.done() else settle(value))

    def work() -> None:
        try:
            found = call()
        except Exception as error:
            tell(future.set_exception, error)
        else:
            tell(future.set_result, found)

    threading.Thread(target=work, daemon=True).start()
    return await future
