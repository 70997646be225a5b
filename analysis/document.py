"""What a report consists of: sections of tables and figures. Text in, text kept; knows no statistic and no format."""

from __future__ import annotations

import re
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Cells are finished text. `readings`: one sentence a row or so, in words. `links`: of each row's first cell."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    readings: tuple[str, ...] = ()
    links: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"table {self.title!r}: {len(row)} cells for {len(self.columns)} columns: {row}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    name: str
    caption: str
    svg: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """`intro` says how to read what follows. `is_key`: also in the terminal. `is_folded`: tables open on click."""

    title: str
    intro: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    figures: tuple[Figure, ...] = ()
    is_key: bool = False
    is_folded: bool = False

    @property
    def anchor(self) -> str:
        return re.sub(r"[^a-z0-9]+", "-", self.title.lower()).strip("-")


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    title: str
    summary: tuple[str, ...]
    sections: tuple[Section, ...] = field(default_factory=tuple)
