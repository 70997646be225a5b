"""The wire form of a session's state: servers' contents and the clock in, bytes out, and back. Knows no server.

Two forms of contents: `sqlite`, a database's own bytes, and `rows`, what read-only SQL shows of a server that gives no
bytes away. One JSON line says what follows it, so that a snapshot can be looked at with `head -1`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

from robustops.core.errors import GymError

VERSION = 2
Form = Literal["sqlite", "rows"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSnapshot:
    """`content` may be a view into the snapshot that it came in.

    `digests`: by table, where the form is `sqlite`, so that they need not be computed again.
    """

    name: str
    form: Form
    content: bytes | memoryview
    digests: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """`num_writes` is the virtual clock; None where the servers' clocks are their own."""

    num_writes: int | None
    servers: tuple[ServerSnapshot, ...]


def pack(snapshot: Snapshot) -> bytes:
    servers = [
        {"name": server.name, "form": server.form, "bytes": len(server.content), "digests": dict(server.digests)}
        for server in snapshot.servers
    ]
    header = {"version": VERSION, "writes": snapshot.num_writes, "servers": servers}
    return json.dumps(header).encode() + b"\n" + b"".join(server.content for server in snapshot.servers)


def unpack(content: bytes, *, expected: Sequence[str]) -> Snapshot:
    """Raises GymError for bytes that are no snapshot of the servers `expected`, in that order."""
    end = content.find(b"\n")
    head, body = content[: max(0, end)], memoryview(content)[end + 1 :]
    try:
        header = json.loads(head)
        version, writes, described = header["version"], header["writes"], header["servers"]
        num_writes = None if writes is None else int(writes)
        sizes = [int(server["bytes"]) for server in described]
        names = [str(server["name"]) for server in described]
        forms: list[Form] = [server["form"] for server in described]
        digests = [{str(name): int(value) for name, value in server["digests"].items()} for server in described]
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise GymError(f"restore: these {len(content)} bytes are no snapshot ({error})") from error
    if version != VERSION or set(forms) - set(get_args(Form)):
        raise GymError(f"restore: a snapshot of version {version} with forms {forms}; expected version {VERSION}")
    if names != list(expected):
        raise GymError(f"restore: a snapshot of {', '.join(names)}, but this session has {', '.join(expected)}")
    if sum(sizes) != len(body):
        raise GymError(f"restore: the snapshot says {sum(sizes)} bytes, but {len(body)} follow; was it cut?")
    servers: list[ServerSnapshot] = []
    start = 0
    for name, form, size, known in zip(names, forms, sizes, digests, strict=True):
        part = body[start : start + size]
        if form == "sqlite" and not _is_database(part):
            raise GymError(f"restore: the part of {name} is no SQLite database; was the snapshot altered?")
        servers.append(ServerSnapshot(name=name, form=form, content=part, digests=known))
        start += size
    return Snapshot(num_writes=num_writes, servers=tuple(servers))


def _is_database(content: memoryview) -> bool:
    """By the header alone: SQLite's mark, and a size that is a whole number of the pages it names."""
    page_bytes = int.from_bytes(content[16:18], "big")
    page_bytes = 65536 if page_bytes == 1 else page_bytes
    num_pages = int.from_bytes(content[28:32], "big")
    return bytes(content[:16]) == b"SQLite format 3\x00" and len(content) == page_bytes * num_pages
