"""The search language of files and drives: text in, a condition on one row out. Knows no table."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from robustops.gym.operations.kind import ToolFailure
from robustops.gym.operations.logic_text import Condition, LogicText, Lookup, Tokens

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
    tokens = Tokens(text, _TOKEN, lambda _: ToolFailure(f"Invalid query: {text}"))
    return LogicText(tokens, _Terms(tokens, terms).term).whole()


class _Terms:
    """`x = 1`, `x contains 'y'`, `'x' in y`, `x has {...}`. Only the names in `known` may be asked about."""

    def __init__(self, tokens: Tokens, known: frozenset[str]) -> None:
        self._tokens = tokens
        self._known = known

    def term(self) -> Condition:
        return self._member() if self._tokens.next.startswith("'") else self._comparison()

    def _member(self) -> Condition:
        """`'x' in parents`."""
        value, _ = _literal(self._tokens.take()), self._tokens.take("in")
        name = self._name()
        return lambda lookup: value in (lookup(name) or ())

    def _name(self) -> str:
        name = self._tokens.take()
        if name not in self._known:
            raise self._tokens.refused(name)
        return name

    def _comparison(self) -> Condition:
        name = self._name()
        operator = self._tokens.take()
        if operator == "has":
            return self._has(name)
        value = _literal(self._tokens.take())
        if operator == "contains":
            part = str(value).lower()
            return lambda lookup: part in str(lookup(name) or "").lower()
        if operator not in _OPERATORS:
            raise self._tokens.refused(operator)
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
        self._tokens.take("{")
        while not self._tokens.is_at("}"):
            key = self._tokens.take()
            self._tokens.take("=")
            found[key] = _literal(self._tokens.take())
            if self._tokens.is_at("and"):
                self._tokens.take()
        self._tokens.take("}")
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
