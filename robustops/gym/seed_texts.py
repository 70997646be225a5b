"""Seed files as they go over the wire: read, hashed and spelled as JSON once per file, not once per session."""

from __future__ import annotations

import json
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path

from robustops.gym.seeds import read_seed, seed_hash, seed_path


@dataclass(frozen=True, slots=True, kw_only=True)
class SeedText:
    """`sql_json`: the SQL as a JSON string. `description`: where it comes from, for errors and the server's records."""

    sql_json: bytes
    sha256: str
    description: str

    def body(self, database_id: str) -> bytes:
        """The body of a seed request."""
        head = json.dumps({"database_id": database_id, "name": database_id, "description": self.description})
        return head[:-1].encode() + b', "sql_content": ' + self.sql_json + b"}"


def seed_text(sql: str, description: str) -> SeedText:
    return SeedText(sql_json=json.dumps(sql).encode(), sha256=seed_hash(sql), description=description)


class SeedTexts:
    """The least used go first when there is more than `max_bytes` of them."""

    def __init__(self, *, max_bytes: int = 64_000_000) -> None:
        self._max_bytes = max_bytes
        self._texts: OrderedDict[tuple[Path, int, int], SeedText] = OrderedDict()

    def read(self, root: Path, name: str) -> SeedText:
        """Raises SeedError as `read_seed` does."""
        path = seed_path(root, name)
        status = path.stat()
        key = (path, status.st_size, status.st_mtime_ns)
        if key not in self._texts:
            self._texts[key] = seed_text(read_seed(root, name), name)
            while len(self._texts) > 1 and sum(len(text.sql_json) for text in self._texts.values()) > self._max_bytes:
                self._texts.popitem(last=False)
        self._texts.move_to_end(key)
        return self._texts[key]
