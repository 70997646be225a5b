"""Ids that look random and are not: they follow from the session's history, so that a restored one gives them again."""

from __future__ import annotations

import hashlib
from uuid import UUID


class Ids:
    """Those of one call. `origin` names the server and how many writes came before."""

    def __init__(self, origin: str) -> None:
        self._origin = origin
        self._given = 0

    def uuid(self) -> str:
        """A version 4 UUID, lower case."""
        return str(UUID(bytes=self._bytes(), version=4))

    def hex(self, length: int) -> str:
        """At most 32 hexadecimal digits."""
        return self._bytes().hex()[:length]

    def letters(self, length: int) -> str:
        """At most 16 lower-case letters."""
        return "".join(chr(ord("a") + byte % 26) for byte in self._bytes()[:length])

    def _bytes(self) -> bytes:
        self._given += 1
        return hashlib.blake2b(f"{self._origin}/{self._given}".encode(), digest_size=16).digest()
