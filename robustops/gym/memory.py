"""Databases in memory, one after another in a connection: bytes in, a connection that holds them out.

SQLite keeps the parsed schema, the compiled statements and the table functions with a connection, which is what makes a
used one fast, and does not notice what loading another database makes of them: a compiled statement goes on reading the
pages where its table used to lie, a table function keeps a pointer to what was freed. So a connection takes another
database only if its tables lie where the last one's did, and only if it never used a table function.
"""

from __future__ import annotations

import sqlite3
import threading
from typing import Generic, Protocol, TypeVar

NUM_CACHED_STATEMENTS = 512
MAX_IDLE = 32  # connections kept; each keeps its last database, some 1 MB, until it takes the next
_LAYOUT = "SELECT group_concat(name || ' ' || rootpage || ' ' || ifnull(sql, ''), char(10)) FROM sqlite_master"
_TABLE_FUNCTIONS = ("json_each", "json_tree", "pragma_")


def connect() -> sqlite3.Connection:
    """An empty database that lives in memory. Autocommit, so that transactions are those we open."""
    return sqlite3.connect(
        ":memory:", isolation_level=None, check_same_thread=False, cached_statements=NUM_CACHED_STATEMENTS
    )


def uses_table_functions(sql: str) -> bool:
    lowered = sql.lower()
    return any(name in lowered for name in _TABLE_FUNCTIONS)


class Memory:
    """One connection. `layout`: which tables lie where in the database that it holds; empty while it holds none."""

    def __init__(self) -> None:
        self.connection = connect()
        self.layout = ""
        self.has_table_functions = False

    @property
    def is_reusable(self) -> bool:
        return bool(self.layout) and not self.has_table_functions and not self.connection.in_transaction

    def load(self, content: bytes | memoryview) -> bool:
        """Take the database, if this connection can be trusted with it. After False it must not be used any more."""
        if self.layout and not self.is_reusable:
            return False
        self.connection.deserialize(content)
        found = str(self.connection.execute(_LAYOUT).fetchone()[0])
        if self.layout and found != self.layout:
            return False
        self.layout = found
        return True

    def close(self) -> None:
        self.connection.close()


class _Kept(Protocol):
    @property
    def layout(self) -> str: ...

    @property
    def is_reusable(self) -> bool: ...

    def close(self) -> None: ...


T = TypeVar("T", bound=_Kept)


class Idle(Generic[T]):
    """What sessions that ended leave to those that begin, by layout. Seeds are loaded in threads: any may ask."""

    def __init__(self, *, max_idle: int = MAX_IDLE) -> None:
        self._max_idle = max_idle
        self._kept: list[T] = []
        self._lock = threading.Lock()

    def take(self, layout: str) -> T | None:
        with self._lock:
            for number in range(len(self._kept) - 1, -1, -1):
                if self._kept[number].layout == layout:
                    return self._kept.pop(number)
        return None

    def give(self, item: T) -> None:
        gone: T | None = item
        if item.is_reusable:
            with self._lock:
                self._kept.append(item)
                gone = self._kept.pop(0) if len(self._kept) > self._max_idle else None
        if gone is not None:
            gone.close()
