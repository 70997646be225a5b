"""The search text in, an SQL condition on messages out. Unknown words before a colon are plain text.

Terms stand side by side for AND; `OR` and `{a b}` for OR; `-` and NOT for NOT; parentheses and quotes group.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from robustops.gym.operations.kind import ToolFailure

_TOKEN = re.compile(
    r"""\s*(?:
    (?P<minus>-?) (?:(?P<field>[A-Za-z_]+):)? (?:"(?P<phrase>[^"]*)" | (?P<opening>[({]) | (?P<word>[^\s(){}"]+))
    | (?P<closing>[)}])
    | (?P<other>.)
    )""",
    re.VERBOSE,
)
MOST_TERMS = 200  # SQLite takes some thousand nested expressions
_FIELDS = {"from": ("sender",), "to": ("recipients",), "cc": ("cc",), "bcc": ("bcc",), "subject": ("subject",)}
_ANYWHERE = ("subject", "body", "snippet", "sender", "recipients", "cc")
_LABELS = ("label", "in", "is")
_STATES = {"starred": "STARRED", "important": "IMPORTANT", "unread": "UNREAD", "chat": "CHAT"}
_FOLDERS = {"draft": "DRAFT", "drafts": "DRAFT"}
# Dates of seeds may be ISO text; those that the server writes are milliseconds.
DATE_MS = (
    "CASE WHEN m.internal_date LIKE '%-%' THEN CAST(strftime('%s', m.internal_date) AS INTEGER) * 1000 "
    "ELSE CAST(m.internal_date AS INTEGER) END"
)
_DAYS = {"d": 1, "m": 30, "y": 365}
_UNITS = {"": 1, "k": 1024, "m": 1024**2}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Token:
    """A term, the head of a bracket, a closing bracket, or a character that is none of them."""

    minus: str | None
    field: str | None
    phrase: str | None
    opening: str | None
    word: str | None
    closing: str | None
    other: str | None

    def is_bare(self, word: str) -> bool:
        return self.word == word and not self.minus and not self.field


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """`labels`: what the text asks for by label, so that spam and trash are looked into when they are meant."""

    text: str = "1"
    values: tuple[Any, ...] = ()
    labels: frozenset[str] = frozenset()


def joined(parts: Sequence[Condition], word: str) -> Condition:
    if not parts:
        return Condition()
    if len(parts) == 1:
        return parts[0]
    return Condition(
        text=f"({f' {word} '.join(part.text for part in parts)})",
        values=tuple(value for part in parts for value in part.values),
        labels=frozenset().union(*(part.labels for part in parts)),
    )


class Query:
    """`label_ids`: the ids of the labels that a word names. `now`: what relative dates are counted from.

    Raises ToolFailure for a text with too many terms.
    """

    def __init__(self, text: str, *, label_ids: Callable[[str], Sequence[str]], now: datetime) -> None:
        self._tokens = [_Token(**match.groupdict()) for match in _TOKEN.finditer(text)]
        if len(self._tokens) > MOST_TERMS:
            raise ToolFailure(f"Search text has {len(self._tokens)} terms, at most {MOST_TERMS} are allowed")
        self._label_ids, self._now = label_ids, now
        self._place = 0

    def condition(self) -> Condition:
        parts = []
        while self._place < len(self._tokens):
            parts.append(self._alternatives(""))
            self._place += 1  # over a bracket that nothing opened
        return joined([part for part in parts if part.text != "1"], "AND")

    def _alternatives(self, closing: str, word: str = "AND", field: str = "") -> Condition:
        """Everything up to the closing bracket: groups of terms, separated by OR."""
        groups: list[list[Condition]] = [[]]
        while self._place < len(self._tokens):
            token = self._tokens[self._place]
            if token.closing and closing in ("", token.closing):
                break
            if not token.closing and not token.is_bare("OR"):
                groups[-1].append(self._term(field))
                continue
            if not token.closing:
                groups.append([])
            self._place += 1  # over an OR, or over a bracket of the other kind
        return joined([joined(group, word) for group in groups if group], "OR")

    def _term(self, field: str) -> Condition:
        token = self._tokens[self._place]
        self._place += 1
        name = (token.field or "").lower() or field
        if token.opening:
            word, closing = ("AND", ")") if token.opening == "(" else ("OR", "}")
            found = self._alternatives(closing, word, name)
            self._place += 1
        elif token.is_bare("NOT") and not name and self._has_term():
            return _negated(self._term(field))
        else:
            found = self._plain(name, token.phrase if token.phrase is not None else token.word or token.other or "")
        return _negated(found) if token.minus else found

    def _has_term(self) -> bool:
        return self._place < len(self._tokens) and not self._tokens[self._place].closing

    def _plain(self, name: str, value: str) -> Condition:
        if name in _FIELDS:
            return _contains(_FIELDS[name], value)
        if name in _LABELS:
            return self._labelled(name, value)
        match name:
            case "has" if value.lower() == "attachment":
                return Condition(text="EXISTS (SELECT 1 FROM attachments AS a WHERE a.message_id = m.id)")
            case "filename":
                exists = (
                    "SELECT 1 FROM attachments AS a WHERE a.message_id = m.id AND instr(lower(a.filename), lower(?))"
                )
                return Condition(text=f"EXISTS ({exists})", values=(value,))
            case "after" | "newer" | "before" | "older" | "newer_than" | "older_than":
                return self._dated(name, value)
            case "larger" | "smaller" | "size":
                return _sized(name, value)
            case "rfc822msgid":
                return _contains(("payload",), value.strip("<>"))
        return _contains(_ANYWHERE, f"{name}:{value}" if name else value)

    def _labelled(self, name: str, value: str) -> Condition:
        lower = value.lower()
        if name == "in" and lower == "anywhere":
            return Condition(text="(1)", labels=frozenset({"TRASH", "SPAM"}))
        if name == "is" and lower == "read":
            return _negated(self._labelled("is", "unread"))
        wanted = _FOLDERS.get(lower, _STATES.get(lower, value))
        ids = tuple(self._label_ids(wanted))
        marks = ", ".join("?" for _ in ids)
        exists = f"SELECT 1 FROM message_labels AS l WHERE l.message_id = m.id AND l.label_id IN ({marks})"
        return Condition(text=f"EXISTS ({exists})", values=ids, labels=frozenset({wanted.upper()}))

    def _dated(self, name: str, value: str) -> Condition:
        is_after = name in ("after", "newer", "newer_than")
        moment = self._moment(name, value)
        if moment is None:
            return _contains(_ANYWHERE, f"{name}:{value}")
        return Condition(text=f"{DATE_MS} {'>=' if is_after else '<'} ?", values=(round(moment.timestamp() * 1000),))

    def _moment(self, name: str, value: str) -> datetime | None:
        if name.endswith("_than"):
            match = re.fullmatch(r"(\d{1,6})([dmy])", value.lower())
            return self._now - timedelta(days=int(match[1]) * _DAYS[match[2]]) if match else None
        try:
            if re.fullmatch(r"\d{5,12}", value):
                return datetime.fromtimestamp(int(value), UTC)
            year, month, day = (int(part) for part in re.split(r"[/-]", value))
            return datetime(year, month, day, tzinfo=UTC)
        except (ValueError, OverflowError, OSError):
            return None


def _negated(condition: Condition) -> Condition:
    return Condition(text=f"NOT {condition.text}", values=condition.values)


def _contains(columns: Sequence[str], value: str) -> Condition:
    """Part of one of the columns, whatever the case. Nothing is part of everything."""
    texts = [f"instr(lower(coalesce(m.{column}, '')), lower(?)) > 0" for column in columns]
    return Condition(text=f"({' OR '.join(texts)})", values=(value,) * len(columns))


def _sized(name: str, value: str) -> Condition:
    match = re.fullmatch(r"(\d{1,12})([km]?)b?", value.lower())
    if match is None:
        return _contains(_ANYWHERE, f"{name}:{value}")
    size = int(match[1]) * _UNITS[match[2]]
    sign = {"larger": ">", "smaller": "<", "size": "="}[name]
    return Condition(text=f"m.size_estimate {sign} ?", values=(size,))
