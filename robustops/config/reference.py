"""The configuration tree in, its reference as Markdown out: every key with type, default and what its comment says."""

from __future__ import annotations

import ast
import inspect
import io
import tokenize
from collections.abc import Iterator
from dataclasses import MISSING, Field, fields, is_dataclass
from types import ModuleType
from typing import Any, get_type_hints

from robustops.config import tree
from robustops.config.required import REQUIRED
from robustops.config.tree import GrpoConfig, RunConfig, ServeConfig, SftConfig

INTRO = """# Configuration

Every key that may be written in YAML or on a command line, generated from the dataclasses in
`robustops/config/`. `python -m robustops.train --cfg job` prints what would run; a typo is answered with the
nearest key. A value of `???` must be given: an option of the group or the command line gives it.
"""


def reference() -> str:
    notes = _comments()
    parts = [INTRO]
    algorithms = (("algorithm (grpo)", "algorithm.", GrpoConfig), ("algorithm (sft)", "algorithm.", SftConfig))
    for title, prefix, cls in (*algorithms, *_groups(RunConfig), ("serve", "", ServeConfig)):
        rows = list(_rows(cls, prefix, notes))
        if rows:
            parts.append(f"## {title}\n")
            if doc := _own_doc(cls):
                parts.append(f"{doc}\n")
            parts += ["| key | type | default | meaning |", "|---|---|---|---|", *rows, ""]
    return "\n".join(parts)


def _groups(cls: type) -> Iterator[tuple[str, str, type]]:
    """Each group of the run, then the keys that stand on their own."""
    hints = get_type_hints(cls)
    for item in fields(cls):
        if is_dataclass(hints[item.name]):
            yield item.name, f"{item.name}.", hints[item.name]
    yield "on their own", "", cls


def _rows(cls: type, prefix: str, notes: dict[tuple[str, str], str]) -> Iterator[str]:
    hints = get_type_hints(cls)
    for item in fields(cls):
        hint = hints[item.name]
        if is_dataclass(hint):
            if prefix:  # a group within a group; those at the top have tables of their own
                yield from _rows(hint, f"{prefix}{item.name}.", notes)  # type: ignore[arg-type]
        elif item.name != "algorithm":
            note = notes.get((cls.__name__, item.name), "")
            cells = (f"`{prefix}{item.name}`", _type(hint), f"`{_default(item)}`", note)
            yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _type(hint: Any) -> str:
    return getattr(hint, "__name__", str(hint)) if isinstance(hint, type) else str(hint)


def _default(item: Field[Any]) -> str:
    value = item.default
    if value is MISSING:
        value = item.default_factory() if item.default_factory is not MISSING else REQUIRED
    return str(value) if isinstance(value, str) and value else repr(value)


def _own_doc(cls: type) -> str:
    """The docstring that was written; a dataclass without one is given its signature."""
    doc = inspect.getdoc(cls) or ""
    return "" if doc.startswith(f"{cls.__name__}(") else doc


def _comments() -> dict[tuple[str, str], str]:
    """(class, field) -> the comment on the field's line, of every class of the tree."""
    modules = {inspect.getmodule(getattr(tree, name)) for name in tree.__all__}
    return {key: note for module in modules if module is not None for key, note in _comments_in(module).items()}


def _comments_in(module: ModuleType) -> dict[tuple[str, str], str]:
    source = inspect.getsource(module)
    on_line = {
        token.start[0]: token.string.lstrip("# ")
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type == tokenize.COMMENT
    }
    return {
        (node.name, statement.target.id): on_line[statement.end_lineno]
        for node in ast.parse(source).body
        if isinstance(node, ast.ClassDef)
        for statement in node.body
        if isinstance(statement, ast.AnnAssign)
        and isinstance(statement.target, ast.Name)
        and statement.end_lineno in on_line
    }
