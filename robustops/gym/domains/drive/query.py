"""The search language of files and drives: text in, a condition on one row out. Knows no table."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from robustops.gym.operations.kind import ToolFailure

Lookup = Callable[[str], Any]
Condition = Callable[[Lookup], bool]

_TOKEN = re.compile(r"\s*(?:('(?:[^'\\]|\\.)*')|([(){}])|(<=|>=|!=|=|<|>)|([A-Za-z_][\w.]*|\d+))")
_TIME = re.compile(r"^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d)?)(?:\.\d+)?(?:Z|\+00:?00)?)?$")
_OPERATORS: Mapping[str, Callable[[Any, Any], bool]] = {
    "=": lambda one, other: bool(one == other),
    "!=": lambda one, other: bool(one != other),
    "<": lambda one, other: one is not None and bool(one < other),
    "<=": lambda one, other: one is not None and bool(one <= other),
    ">": lambda one, other: one is not None and bool(one > other),
    ">=": lambda one, other: one is not None and bool(one >= other),
}


@lru_cache(maxsize=512)
def read_query(text: str, terms: frozenset[str]) -> Condition:
    """`terms`: the names that may be asked about. Raises ToolFailure for what is not in the language."""
    return _Reader(text, terms).read()


class _Reader:
    """Recursive descent: or, and, not, group, then one term."""

    def __init__(self, text: str, terms: frozenset[str]) -> None:
        self._text = text
        self._terms = terms
        self._tokens: list[str] = []
        position = 0
        while position < len(text.rstrip()):
            match = _TOKEN.match(text, position)
            if match is None:
                raise self._fault()
            self._tokens.append(match.group(match.lastindex or 0))
            position = match.end()

    def read(self) -> Condition:
        condition = self._or()
        if self._tokens:
            raise self._fault()
        return condition

    def _fault(self) -> ToolFailure:
        return ToolFailure(f"Invalid query: {self._text}")

    def _next(self, expected: str = "") -> str:
        if not self._tokens or (expected and self._tokens[0] != expected):
            raise self._fault()
        return self._tokens.pop(0)

    def _at(self, word: str) -> bool:
        return bool(self._tokens) and self._tokens[0].lower() == word

    def _or(self) -> Condition:
        some = [self._and()]
        while self._at("or"):
            self._next()
            some.append(self._and())
        return some[0] if len(some) == 1 else lambda lookup: any(condition(lookup) for condition in some)

    def _and(self) -> Condition:
        every = [self._not()]
        while self._at("and"):
            self._next()
            every.append(self._not())
        return every[0] if len(every) == 1 else lambda lookup: all(condition(lookup) for condition in every)

    def _not(self) -> Condition:
        if self._at("not"):
            self._next()
            inner = self._not()
            return lambda lookup: not inner(lookup)
        if self._at("("):
            self._next()
            group = self._or()
            self._next(")")
            return group
        return self._member() if self._tokens and self._tokens[0].startswith("'") else self._term()

    def _member(self) -> Condition:
        """`'x' in parents`."""
        value, _ = _literal(self._next()), self._next("in")
        name = self._name()
        return lambda lookup: value in (lookup(name) or ())

    def _name(self) -> str:
        name = self._next()
        if name not in self._terms:
            raise self._fault()
        return name

    def _term(self) -> Condition:
        name = self._name()
        operator = self._next()
        if operator == "has":
            return self._has(name)
        value = _literal(self._next())
        if operator == "contains":
            part = str(value).lower()
            return lambda lookup: part in str(lookup(name) or "").lower()
        if operator not in _OPERATORS:
            raise self._fault()
        test, wanted = _OPERATORS[operator], _comparable(value)

        def holds(lookup: Lookup) -> bool:
            try:
                return test(_comparable(lookup(name)), wanted)
            except TypeError:
                return False

        return holds

    def _has(self, name: str) -> Condition:
        """`properties has { key='k' and value='v' }`."""
        found: dict[str, Any] = {}
        self._next("{")
        while not self._at("}"):
            key = self._next()
            self._next("=")
            found[key] = _literal(self._next())
            if self._at("and"):
                self._next()
        self._next("}")
        wanted, value = found.get("key"), found.get("value")
        return lambda lookup: wanted in (held := lookup(name) or {}) and (value is None or str(held[wanted]) == value)


def _literal(token: str) -> Any:
    if token.startswith("'"):
        return re.sub(r"\\(.)", r"\1", token[1:-1])
    if token in ("true", "false"):
        return token == "true"
    return int(token) if token.isdecimal() else token


def _comparable(value: Any) -> Any:
    """Times are compared as UTC text of one form: stored ones have a blank and no zone."""
    if isinstance(value, str) and (match := _TIME.match(value)):
        clock = match[2] or "00:00:00"
        return f"{match[1]} {clock if len(clock) == 8 else f'{clock}:00'}"
    return value
