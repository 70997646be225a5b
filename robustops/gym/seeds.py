"""Seeds on disk and in memory: a domain and a file in, its `Seed` out, built once per content."""

from __future__ import annotations

import hashlib
import os
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path

from robustops.core.errors import SeedError
from robustops.gym.domain import Domain
from robustops.gym.seed import Seed, build_seed


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stamp:
    """Which file a name leads to, links followed, and in which version."""

    device: int
    inode: int
    size_bytes: int
    modified_ns: int


class SeedStore:
    """Seeds by content, the least used dropped first: a second session of a task costs one copy of the bytes."""

    def __init__(self, *, max_bytes: int = 256_000_000) -> None:
        self._max_bytes = max_bytes
        self._seeds: OrderedDict[tuple[str, str], Seed] = OrderedDict()
        self._files: dict[tuple[str, Path, str], tuple[_Stamp, tuple[str, str]]] = {}

    def from_file(self, domain: Domain, root: Path, name: str) -> Seed:
        """Raises SeedError for a file outside `root`, an absent one, and SQL that SQLite refuses."""
        known, key = self._files.get((domain.name, root, name), (None, ("", "")))
        if known is not None and key in self._seeds and known == _stamp(root / name):
            # The very file that was found inside the root last time: no need to look for it and read it again.
            self._seeds.move_to_end(key)
            return self._seeds[key]
        path = seed_path(root, name)
        stamp, sql = _stamp(path), read_seed(root, name)
        if stamp is not None:
            self._files[domain.name, root, name] = (stamp, _content_key(domain, sql))
        return self.from_sql(domain, sql, source=name)

    def known(self, domain: Domain, sha256: str) -> Seed | None:
        """The seed whose SQL has this hash, if it is still here."""
        key = (domain.name, sha256)
        if key in self._seeds:
            self._seeds.move_to_end(key)
        return self._seeds.get(key)

    def from_sql(self, domain: Domain, sql: str, *, source: str = "seed") -> Seed:
        key = _content_key(domain, sql)
        if key in self._seeds:
            self._seeds.move_to_end(key)
            return self._seeds[key]
        seed = build_seed(domain, sql, source=source)
        self._seeds[key] = seed
        while len(self._seeds) > 1 and sum(len(item.database) for item in self._seeds.values()) > self._max_bytes:
            self._seeds.popitem(last=False)
        return seed


def _stamp(path: Path) -> _Stamp | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return _Stamp(device=status.st_dev, inode=status.st_ino, size_bytes=status.st_size, modified_ns=status.st_mtime_ns)


def read_seed(root: Path, name: str) -> str:
    """Raises SeedError for a file outside `root`, an absent one, and one that is not text."""
    try:
        return seed_path(root, name).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise SeedError(f"seed {name!r}: not UTF-8 text ({error.reason}); expected SQL") from error


def seed_path(root: Path, name: str) -> Path:
    """Where the seed lies, links followed. Raises SeedError for a file outside `root` and for an absent one."""
    folder = root.resolve()
    path = (folder / name).resolve()
    if not path.is_relative_to(folder):
        raise SeedError(f"seed {name!r}: lies outside {folder}; seeds must be inside the task set's folder")
    if not path.is_file():
        raise SeedError(f"seed {name!r}: no such file under {folder}; set seed_root to the folder that holds it")
    return path


def seed_hash(sql: str) -> str:
    return hashlib.sha256(sql.encode("utf-8", "surrogatepass")).hexdigest()


def _content_key(domain: Domain, sql: str) -> tuple[str, str]:
    return domain.name, seed_hash(sql)
