"""Two snapshots of one session in, the rows that differ out. Judges nothing: who may change what is said elsewhere."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Literal

from robustops.core.errors import SnapshotUnsupported
from robustops.gym.hashing import quoted
from robustops.gym.memory import connect
from robustops.gym.snapshot import ServerSnapshot, unpack

Operation = Literal["added", "removed", "modified"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One row. `key` is its primary key, or its place where the table has none (`key_name` is then empty).

    `before` is None for an added row, `after` for a removed one.
    """

    gym: str
    table: str
    key_name: str
    key: Any
    before: Mapping[str, Any] | None
    after: Mapping[str, Any] | None

    @property
    def operation(self) -> Operation:
        if self.before is None:
            return "added"
        return "removed" if self.after is None else "modified"

    @property
    def columns(self) -> tuple[str, ...]:
        """Of a modified row: the columns whose value differs."""
        if self.before is None or self.after is None:
            return ()
        return tuple(name for name, value in self.after.items() if self.before[name] != value)


def changed_rows(before: bytes, after: bytes) -> tuple[Change, ...]:
    """By server, table and key. Raises SnapshotUnsupported for a server that gives no database bytes away."""
    pairs = zip(_servers(before), _servers(after), strict=True)
    return tuple(change for old, new in pairs for change in _server_changes(old, new))


def _servers(snapshot: bytes) -> Sequence[ServerSnapshot]:
    header = json.loads(snapshot.partition(b"\n")[0])
    return unpack(snapshot, expected=[server["name"] for server in header["servers"]]).servers


def _server_changes(old: ServerSnapshot, new: ServerSnapshot) -> Iterator[Change]:
    for server in (old, new):
        if server.form != "sqlite":
            raise SnapshotUnsupported(f"{server.name}: shows rows alone, so its changes are not told apart")
    if old.content == new.content:
        return
    with closing(connect()) as connection:
        connection.execute("ATTACH ':memory:' AS old")
        connection.deserialize(new.content)
        connection.deserialize(old.content, name="old")
        names = connection.execute("SELECT name FROM main.sqlite_master WHERE type = 'table' ORDER BY name").fetchall()
        for (table,) in names:
            is_same = table in old.digests and old.digests[table] == new.digests.get(table)
            if not table.startswith("sqlite_") and not is_same:
                yield from _table_changes(connection, new.name, table)


def _table_changes(connection: sqlite3.Connection, gym: str, table: str) -> Iterator[Change]:
    columns = connection.execute(f"PRAGMA main.table_info({quoted(table)})").fetchall()
    key_name = next((name for _, name, *_, primary in columns if primary), "")
    gone = _only(connection, table, key_name, "old", "main")
    came = _only(connection, table, key_name, "main", "old")
    for key in _ordered({*gone, *came}):
        yield Change(gym=gym, table=table, key_name=key_name, key=key, before=gone.get(key), after=came.get(key))


def _only(
    connection: sqlite3.Connection, table: str, key_name: str, here: str, there: str
) -> dict[Any, dict[str, Any]]:
    """Rows of one side that the other does not have as they are, by key."""
    key, name = quoted(key_name or "rowid"), quoted(table)
    cursor = connection.execute(f"SELECT {key}, * FROM {here}.{name} EXCEPT SELECT {key}, * FROM {there}.{name}")
    names = [item[0] for item in cursor.description][1:]
    return {row[0]: dict(zip(names, row[1:], strict=True)) for row in cursor}


def _ordered(keys: Iterable[Any]) -> list[Any]:
    return sorted(keys, key=lambda key: (str(type(key)), key))
