"""Table contents in, digests out. Row order on disk, page layout and the autoincrement counters play no part.

A table's digest is the sum of its rows' hashes: rows hold their key, so the sum over the set of rows stands for the
ordered contents, and a write costs the hashes of the rows that it changes instead of those of the whole table.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

DIGEST_BYTES = 16
_MODULUS = 1 << (8 * DIGEST_BYTES)


def quoted(identifier: str) -> str:
    return '"' + identifier.replace('"', '""') + '"'


def table_digest(connection: sqlite3.Connection, table: str) -> int:
    """Digest of one table's column names and rows."""
    cursor = connection.execute(f"SELECT * FROM {quoted(table)}")
    columns = tuple(item[0] for item in cursor.description)
    return changed_digest(_row_hash(columns), added=cursor)


def rows_digest(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """The same digest, as text, for rows that were read elsewhere; each has all columns in the table's order."""
    return str(changed_digest(_row_hash(tuple(columns)), added=rows))


def changed_digest(digest: int, *, removed: Iterable[Sequence[Any]] = (), added: Iterable[Sequence[Any]] = ()) -> int:
    """The digest after some rows went and others came; each row has all of the table's columns, in order."""
    return (digest + sum(map(_row_hash, added)) - sum(map(_row_hash, removed))) % _MODULUS


def _row_hash(row: Sequence[Any]) -> int:
    content = repr(tuple(row)).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(content, digest_size=DIGEST_BYTES).digest(), "big")


def combined_digest(digests: Mapping[str, int | str]) -> str:
    """One digest over named parts, whatever their order."""
    content = "\n".join(f"{name} {digests[name]}" for name in sorted(digests))
    return hashlib.blake2b(content.encode(), digest_size=DIGEST_BYTES).hexdigest()
