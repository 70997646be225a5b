"""What one check's SELECT asks for: tables, columns equal to literals, and rows of other tables it goes through.

Reads the conjunctions that checks are written in. Whatever else stands in a WHERE clause (OR, NOT, ranges) is counted
in `num_unread`, so that a rule can see that it does not know the whole condition. Never runs anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_TOKEN = re.compile(
    r"\s*(?:(?P<text>'(?:[^']|'')*')|(?P<number>-?\d+(?:\.\d+)?)|(?P<name>[A-Za-z_][\w$]*|\"[^\"]+\"|`[^`]+`|\[[^\]]+\])"
    r"|(?P<sign><=|>=|<>|!=|\|\||[=<>(),.*+\-/;]))"
)
_ENDS = ("GROUP", "ORDER", "LIMIT", "HAVING", "UNION", "INTERSECT", "EXCEPT")
_JOINS = ("JOIN", "INNER", "LEFT", "OUTER", "CROSS", "RIGHT", "FULL", "NATURAL")


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    kind: str  # text | number | name | sign
    value: str

    def is_word(self, *words: str) -> bool:
        return self.kind == "name" and self.value.upper() in words

    def is_sign(self, sign: str) -> bool:
        return self.kind == "sign" and self.value == sign


@dataclass(frozen=True, slots=True, order=True)
class Equal:
    """`column` of the statement's table is this literal, as text."""

    column: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """Rows of one table that a statement speaks of. `via`: the column of the outer statement that holds their key."""

    table: str
    where: frozenset[Equal]
    via: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """`main`: the rows that are counted or shown; `through`: rows of other tables that they must belong to."""

    main: Rows
    through: tuple[Rows, ...] = ()
    num_unread: int = 0


def read(query: str) -> Statement | None:
    """The statement, or None where this is no SELECT from a table."""
    tokens = list(_tokens(query))
    if not tokens or not tokens[0].is_word("SELECT"):
        return None
    return _statement(tokens)


def _tokens(query: str) -> Iterator[Token]:
    place = 0
    while place < len(query) and (match := _TOKEN.match(query, place)):
        kind = str(match.lastgroup)
        value = match.group(kind)
        if kind == "text":
            value = value[1:-1].replace("''", "'")
        elif kind == "name" and value[0] in '"`[':
            value = value[1:-1]
        yield Token(kind=kind, value=value)
        place = match.end()


def _depths(tokens: Sequence[Token]) -> Iterator[tuple[int, Token, int]]:
    """Place, token and how many brackets are open around it."""
    depth = 0
    for place, token in enumerate(tokens):
        depth -= token.is_sign(")")
        yield place, token, depth
        depth += token.is_sign("(")


def _find(tokens: Sequence[Token], *words: str) -> int:
    """Place of the first of these words outside brackets; the end where there is none."""
    return next((place for place, token, depth in _depths(tokens) if depth == 0 and token.is_word(*words)), len(tokens))


def _split(tokens: Sequence[Token], *words: str) -> list[list[Token]]:
    """The parts between these words, outside brackets. The AND of a BETWEEN does not split."""
    parts: list[list[Token]] = [[]]
    is_between = False
    for _, token, depth in _depths(tokens):
        if depth == 0 and token.is_word(*words) and not is_between:
            parts.append([])
            continue
        is_between = depth == 0 and (token.is_word("BETWEEN") or (is_between and not token.is_word("AND")))
        parts[-1].append(token)
    return parts


def _statement(tokens: Sequence[Token]) -> Statement | None:
    start, end = _find(tokens, "FROM"), _find(tokens, *_ENDS)
    if start == len(tokens):
        return None
    where = _find(tokens, "WHERE")
    sources, conditions = _sources(tokens[start + 1 : min(where, end)])
    if not sources:
        return None
    reader = _Conditions(sources)
    for part in conditions:
        reader.read(part)
    if where < len(tokens):
        reader.read(tokens[where + 1 : end])
    if any(
        token.is_word("UNION", "INTERSECT", "EXCEPT", "HAVING") for _, token, depth in _depths(tokens) if depth == 0
    ):
        reader.num_unread += 1
    return reader.statement()


def _sources(tokens: Sequence[Token]) -> tuple[dict[str, str], list[list[Token]]]:
    """Table by alias in the order of the FROM clause, and what its ON clauses say."""
    sources: dict[str, str] = {}
    conditions: list[list[Token]] = []
    parts = _split(_commas_as_joins(tokens), *_JOINS)
    for part in parts:
        on = _find(part, "ON")
        names = [token for token in part[:on] if token.kind == "name" and not token.is_word("AS", "LEFT", "OUTER")]
        if names and not any(token.is_sign("(") for token in part[:on]):
            sources[names[-1].value.casefold()] = names[0].value.casefold()
        if on < len(part):
            conditions.append(part[on + 1 :])
    return sources, conditions


def _commas_as_joins(tokens: Sequence[Token]) -> list[Token]:
    join = Token(kind="name", value="JOIN")
    return [join if token.is_sign(",") and depth == 0 else token for _, token, depth in _depths(tokens)]


class _Conditions:
    """Gathers what the conjuncts of one statement say about each of its sources."""

    def __init__(self, sources: dict[str, str]) -> None:
        self._sources = sources
        self._main = next(iter(sources))
        self._where: dict[str, set[Equal]] = {alias: set() for alias in sources}
        self._via: dict[str, str] = {}
        self._lookups: list[Rows] = []
        self.num_unread = 0

    def read(self, tokens: Sequence[Token]) -> None:
        if len(_split(tokens, "OR")) > 1:
            self.num_unread += 1
            return
        for part in _split(tokens, "AND"):
            self._conjunct(_unwrapped(part))

    def _conjunct(self, part: list[Token]) -> None:
        if len(_split(part, "AND")) > 1 or len(_split(part, "OR")) > 1:
            self.read(part)
            return
        left, column, rest = self._column(part)
        if not column or not rest or not (rest[0].is_sign("=") or rest[0].is_word("IN")):
            self.num_unread += bool(part)
            return
        value = _unwrapped(rest[1:])
        if value and value[0].is_word("SELECT"):
            self._lookup(left, column, value)
        elif len(value) == 1 and value[0].kind in ("text", "number"):
            self._where[left].add(Equal(column, value[0].value))
        elif not self._join(left, column, value):
            self.num_unread += 1

    def _column(self, part: list[Token]) -> tuple[str, str, list[Token]]:
        """Alias and column at the start of a condition, and what follows; no column where it starts otherwise."""
        if len(part) > 2 and part[0].kind == "name" and part[1].is_sign("."):
            alias, name, rest = part[0].value.casefold(), part[2], part[3:]
        elif part and part[0].kind == "name":
            alias, name, rest = self._main, part[0], part[1:]
        else:
            return "", "", []
        is_known = alias in self._sources and name.kind == "name" and not name.is_word("NOT", "EXISTS")
        return (alias, name.value.casefold(), rest) if is_known else ("", "", [])

    def _join(self, left: str, column: str, value: list[Token]) -> bool:
        right, other, rest = self._column(value)
        if not other or rest:
            return False
        if right != self._main:
            self._via[right] = column
        if left != self._main:
            self._via[left] = other
        return True

    def _lookup(self, left: str, column: str, value: list[Token]) -> None:
        inner = _statement(value)
        if inner is None or inner.num_unread:
            self.num_unread += 1
            return
        self._lookups.append(Rows(table=inner.main.table, where=inner.main.where, via=column))
        self._lookups += inner.through

    def statement(self) -> Statement:
        joined = [
            Rows(table=self._sources[alias], where=frozenset(self._where[alias]), via=self._via.get(alias, ""))
            for alias in self._sources
            if alias != self._main
        ]
        main = Rows(table=self._sources[self._main], where=frozenset(self._where[self._main]))
        return Statement(main=main, through=(*joined, *self._lookups), num_unread=self.num_unread)


def _unwrapped(tokens: Sequence[Token]) -> list[Token]:
    """Without brackets that stand around the whole."""
    found = [token for token in tokens if not token.is_sign(";")]
    while len(found) > 1 and found[0].is_sign("(") and found[-1].is_sign(")"):
        depth, is_whole = 0, True
        for token in found[:-1]:
            depth += token.is_sign("(") - token.is_sign(")")
            is_whole = is_whole and depth > 0
        if not is_whole:
            break
        found = found[1:-1]
    return found
