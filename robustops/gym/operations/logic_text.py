"""Texts of conditions joined by and, or, not and brackets: tokens in, one condition on a row out.

What a single term is, each language says itself. Knows no table.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

Lookup = Callable[[str], Any]  # a row's value by the name that the language has for it
Condition = Callable[[Lookup], bool]


class Tokens:
    """What is left of a text. `fault`: the error for a text outside the language, of the part that cannot be read."""

    def __init__(self, text: str, pattern: re.Pattern[str], fault: Callable[[str], Exception]) -> None:
        self._fault = fault
        self._left: list[str] = []
        position = 0
        while position < len(text.rstrip()):
            match = pattern.match(text, position)
            if match is None:
                raise fault(text)
            self._left.append(match.group(match.lastindex or 0))
            position = match.end()

    @property
    def next(self) -> str:
        """Empty at the end of the text."""
        return self._left[0] if self._left else ""

    def is_at(self, word: str) -> bool:
        return self.next.lower() == word

    def take(self, expected: str = "") -> str:
        if not self._left or (expected and self._left[0] != expected):
            raise self.refused(expected)
        return self._left.pop(0)

    def refused(self, part: str) -> Exception:
        return self._fault(part)


class LogicText:
    """Recursive descent: or, and, not, group, then one `term`, which takes its tokens by itself."""

    def __init__(self, tokens: Tokens, term: Callable[[], Condition], *, has_groups: bool = True) -> None:
        self._tokens = tokens
        self._term = term
        self._has_groups = has_groups

    def whole(self) -> Condition:
        condition = self.alternatives()
        if self._tokens.next:
            raise self._tokens.refused(self._tokens.next)
        return condition

    def alternatives(self) -> Condition:
        some = [self._conjunction()]
        while self._tokens.is_at("or"):
            self._tokens.take()
            some.append(self._conjunction())
        return some[0] if len(some) == 1 else lambda lookup: any(condition(lookup) for condition in some)

    def _conjunction(self) -> Condition:
        every = [self._factor()]
        while self._tokens.is_at("and"):
            self._tokens.take()
            every.append(self._factor())
        return every[0] if len(every) == 1 else lambda lookup: all(condition(lookup) for condition in every)

    def _factor(self) -> Condition:
        if self._tokens.is_at("not"):
            self._tokens.take()
            inner = self._factor()
            return lambda lookup: not inner(lookup)
        if not self._tokens.is_at("("):
            return self._term()
        if not self._has_groups:
            raise self._tokens.refused("(")
        self._tokens.take()
        group = self.alternatives()
        self._tokens.take(")")
        return group
