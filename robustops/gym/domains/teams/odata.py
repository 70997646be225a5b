"""OData filter, select and order texts in, conditions and picked properties out, as far as the server reads them.

Its lists read filters in ways of their own (`Style`): each has quirks that recorded runs show. Knows no table.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal

from robustops.gym.operations.logic_text import Condition, LogicText, Lookup, Tokens

Style = Literal["whole", "flat", "first_function", "split"]

_TOKEN = re.compile(r"\s*(?:('(?:[^']|'')*')|([(),:])|([^\s(),:']+(?::\d\d:[^\s(),']+)?))")
_FUNCTION = re.compile(r"\b(contains|startswith|endswith)\(\s*([\w./]+)\s*,\s*'((?:[^']|'')*)'\s*\)")
_DATE = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d|$)")
_OPERATORS: Mapping[str, Callable[[Any, Any], bool]] = {
    "eq": lambda one, other: bool(one == other),
    "ne": lambda one, other: bool(one != other),
    "gt": lambda one, other: bool(one > other),
    "ge": lambda one, other: bool(one >= other),
    "lt": lambda one, other: bool(one < other),
    "le": lambda one, other: bool(one <= other),
}
_FUNCTIONS: Mapping[str, Callable[[str, str], bool]] = {
    "contains": lambda text, part: part in text,
    "startswith": lambda text, part: text.startswith(part),
    "endswith": lambda text, part: text.endswith(part),
}


class UnreadableFilterError(ValueError):
    """The text is outside the part of the language that is read here."""


@lru_cache(maxsize=512)
def read_filter(text: str, style: Style) -> Condition | None:
    """None for a text that the server cannot read and therefore ignores.

    "whole": the language with groups. "flat": without groups; a group makes it unreadable. "first_function": where
    there is a function call, calls of that function alone count, any of them. "split": at every ` and `, then ` or `,
    in literals too; a piece that cannot be read holds for nothing.
    """
    if style == "split":
        return _split(text)
    if style == "first_function" and (calls := _FUNCTION.findall(text)):
        same = [_call(name, path, part.replace("''", "'")) for name, path, part in calls if name == calls[0][0]]
        return lambda lookup: any(condition(lookup) for condition in same)
    try:
        return _Terms(Tokens(text, _TOKEN, UnreadableFilterError), has_groups=style != "flat").logic.whole()
    except UnreadableFilterError:
        return None


def _split(text: str) -> Condition:
    pieces = [
        [read_filter(piece, "flat") or _nothing for piece in conjunct.split(" or ")] for conjunct in text.split(" and ")
    ]
    return lambda lookup: all(any(condition(lookup) for condition in some) for some in pieces)


def _nothing(_lookup: Lookup) -> bool:
    return False


def _call(name: str, path: str, part: str) -> Condition:
    test, path = _FUNCTIONS[name], _bare(path)
    return lambda lookup: test(str(lookup(path) or ""), part)


def _bare(path: str) -> str:
    """Without the type name that members' properties are qualified with."""
    head, _, rest = path.partition("/")
    return rest if "." in head and rest else path


class _Terms:
    """A comparison, a function, or `any()` with a condition of its own inside."""

    def __init__(self, tokens: Tokens, *, has_groups: bool) -> None:
        self._tokens = tokens
        self.logic = LogicText(tokens, self._comparison, has_groups=has_groups)

    def _comparison(self) -> Condition:
        path = self._tokens.take()
        if self._tokens.is_at("("):
            return self._any(path.removesuffix("/any")) if path.endswith("/any") else self._function(path)
        operator = self._tokens.take()
        if operator not in _OPERATORS:
            raise UnreadableFilterError(operator)
        test, value, path = _OPERATORS[operator], _value(self._tokens.take()), _bare(path)

        def holds(lookup: Lookup) -> bool:
            try:
                return test(_comparable(lookup(path)), value)
            except TypeError:
                return False

        return holds

    def _function(self, name: str) -> Condition:
        if name not in _FUNCTIONS:
            raise UnreadableFilterError(name)
        self._tokens.take("(")
        path = self._tokens.take()
        self._tokens.take(",")
        part = _value(self._tokens.take())
        self._tokens.take(")")
        return _call(name, path, str(part))

    def _any(self, path: str) -> Condition:
        """`participants_v2/any(p:p/id eq 'x')`: the condition holds for one item of the list."""
        self._tokens.take("(")
        variable = self._tokens.take()
        self._tokens.take(":")
        inner = self.logic.alternatives()
        self._tokens.take(")")

        def holds(lookup: Lookup) -> bool:
            return any(inner(_item_lookup(item, variable)) for item in lookup(path) or ())

        return holds


def _item_lookup(item: Mapping[str, Any], variable: str) -> Lookup:
    return lambda path: item.get(path.removeprefix(f"{variable}/"))


def _value(token: str) -> Any:
    if token.startswith("'"):
        return _comparable(token[1:-1].replace("''", "'"))
    if token in ("true", "false"):
        return token == "true"
    if token == "null":
        return None
    if _DATE.match(token):
        return _comparable(token)
    try:
        return float(token)
    except ValueError:
        raise UnreadableFilterError(token) from None


def _comparable(value: Any) -> Any:
    """Times compare as text once they are written alike: blank or T, with or without Z and fraction."""
    if isinstance(value, str) and _DATE.match(value):
        return value.replace(" ", "T", 1).removesuffix("Z").split("+")[0]
    return value


def selected(text: str | None) -> Sequence[str] | None:
    """The names of a select text, or None where nothing is selected."""
    names = [name.strip() for name in (text or "").split(",") if name.strip()]
    return names or None


def pick(item: Mapping[str, Any], names: Sequence[str] | None) -> dict[str, Any]:
    """The selected properties in the order in which they were asked for; names that are none are left out."""
    return dict(item) if names is None else {name: item[name] for name in names if name in item}


def ordering(text: str | None) -> list[tuple[str, bool]]:
    """(property, is descending) of an orderby text."""
    found = []
    for part in (text or "").split(","):
        words = part.split()
        if words:
            found.append((words[0], len(words) > 1 and words[1].lower() == "desc"))
    return found


def sort_items(items: list[Any], text: str | None, lookup: Callable[[Any, str], Any]) -> None:
    """In place, by the orderby text; items without a value come first."""
    for name, is_descending in reversed(ordering(text)):
        items.sort(key=lambda item: _sort_key(lookup(item, name)), reverse=is_descending)


def _sort_key(value: Any) -> tuple[bool, str]:
    return (value is not None, str(value))
