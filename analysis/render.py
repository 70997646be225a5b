"""A document in; Markdown text, one self-contained HTML page or a terminal print out. Knows no statistic."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from rich import box
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from analysis.document import Document, Section, Table

EDGE, PADDING = 2, 3  # what the terminal table needs beside its cells: once, and per column
TEMPLATES = Path(__file__).resolve().parent / "templates"
NUMBER = re.compile(r"(?!\d{12})[<+-]?[\d.,]+(?![\w.-])")


def to_html(document: Document) -> str:
    """No script, no network: styles and SVG figures stand in the page."""
    return _environment().get_template("report.html.jinja").render(document=document)


def section_html(section: Section) -> str:
    """One section without the page around it, for a notebook."""
    return _environment().get_template("section.html.jinja").render(section=section)


def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.tests["figure_like"] = is_number_like
    return environment


def is_number_like(cell: str) -> bool:
    """Cells that read better when aligned right: a number comes first. A hash or a date may begin with a digit, too."""
    return not cell or bool(NUMBER.match(cell))


def to_markdown(document: Document, *, figures: str) -> str:
    """`figures`: folder of the SVG files, relative to the Markdown file."""
    lines = [f"# {document.title}", "", *(f"- {sentence}" for sentence in document.summary), ""]
    for section in document.sections:
        lines += [f"## {section.title}", ""]
        for paragraph in section.intro:
            lines += [paragraph, ""]
        for figure in section.figures:
            lines += [f"![{figure.caption}]({figures}/{figure.name}.svg)", ""]
        for table in section.tables:
            lines += [f"### {table.title}", "", *_markdown_table(table), "", *(f"- {r}" for r in table.readings), ""]
    return "\n".join(lines).rstrip() + "\n"


def _markdown_table(table: Table) -> list[str]:
    escaped = [[cell.replace("|", "\\|") for cell in row] for row in table.rows]
    for row, link in zip(escaped, table.links, strict=False):
        row[0] = f"[{row[0]}]({link})" if link else row[0]
    rows = [list(table.columns), ["---" for _ in table.columns], *escaped]
    return ["| " + " | ".join(row) + " |" for row in rows]


def to_terminal(document: Document, console: Console) -> None:
    """The summary and the key tables. A table wider than the terminal goes on below under its first columns."""
    console.print(Text(f"\n{document.title}\n", style="bold"))
    for sentence in document.summary:
        console.print(Text(f"  • {sentence}"))
    for section in document.sections:
        for table in section.tables if section.is_key else ():
            for part, columns in enumerate(_blocks(table, console.width)):
                console.print(_grid(table, columns, title=table.title if part == 0 else None))


def _blocks(table: Table, width: int) -> list[list[int]]:
    """Column numbers of each block; the columns of words in front, which say what a row is, lead every block."""
    num_leading = next((n for n in range(len(table.columns)) if _is_numeric(table, n)), len(table.columns))
    leading = list(range(num_leading))
    blocks = [leading]
    for number in range(num_leading, len(table.columns)):
        block = [*blocks[-1], number]
        if EDGE + sum(_width(table, column) + PADDING for column in block) > width and len(blocks[-1]) > num_leading:
            blocks.append([*leading, number])
        else:
            blocks[-1] = block
    return blocks


def _is_numeric(table: Table, number: int) -> bool:
    return bool(table.rows) and all(is_number_like(row[number]) for row in table.rows)


def _width(table: Table, number: int) -> int:
    """Headers wrap between words, cells do not wrap."""
    words = table.columns[number].split()
    return max(len(text) for text in (*words, *(row[number] for row in table.rows)))


def _grid(table: Table, columns: list[int], *, title: str | None) -> RichTable:
    grid = RichTable(title=title and Text(title), title_justify="left", title_style="bold", box=box.SIMPLE_HEAD)
    for number in columns:
        justify: Literal["left", "right"] = "right" if _is_numeric(table, number) else "left"
        grid.add_column(Text(table.columns[number]), justify=justify, width=_width(table, number))
    for row in table.rows:
        grid.add_row(*(Text(row[number]) for number in columns))
    return grid
