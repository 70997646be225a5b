"""Lessons of the curriculum: copying, looking up, micro-dialogues. rng in, segments of text out; True marks targets.

No lesson is a task: dialogues spell out which call comes next, in wording of their own, over rows made on the spot.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from random import Random

from records import Kind, Row, csm, invented
from values import Values, words

Segment = tuple[str, bool]
USER, ASSISTANT, END = "<|im_start|>user\n", "<|im_start|>assistant\n", "<|im_end|>"
_KINDS = words(
    """
    id id id title title person serial number domain email date price phrase code word
    """
)


def call_text(name: str, arguments: Row) -> str:
    return f'<tool_call>\n{{"name": {json.dumps(name)}, "arguments": {json.dumps(arguments)}}}\n</tool_call>'


def reply(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return f"{USER}<tool_response>\n{text}\n</tool_response>{END}\n"


def shown(row: Row) -> Row:
    return {name: value for name, value in row.items() if value is not None}


def copying(values: Values, *, longest: int = 10) -> list[Segment]:
    """Repeat a list of ids and names verbatim, as text or as JSON."""
    rng = values.rng
    num_items = rng.randint(1, longest)
    kinds = _KINDS if rng.random() < 0.6 else [rng.choice(("id", "title"))]
    items = [values.of(rng.choice(kinds)) for _ in range(num_items)]
    text = rng.choice((", ".join(map(str, items)), json.dumps(items), "\n".join(map(str, items))))
    if rng.random() < 0.3:  # the same thing inside a call
        text_out = call_text("repeat", {"items": items})
        return [(f"{USER}{text}{END}\n{ASSISTANT}", False), (text_out, True)]
    return [(f"{USER}{text}{END}\n{ASSISTANT}", False), (f"{text}{END}", True)]


def reciting(values: Values) -> list[Segment]:
    """The first lesson: repeat a few ids and names, always in one form, so that nothing but copying helps."""
    rng = values.rng
    items = [values.of("title") if rng.random() < 0.3 else rng.randint(1000, 9999) for _ in range(rng.randint(2, 6))]
    text = json.dumps(items)
    return [(f"{USER}{text}{END}\n{ASSISTANT}", False), (f"{text}{END}", True)]


def filling(values: Values) -> list[Segment]:
    """Any value under any parameter: what is copied decides about quotes, not what the parameter is called."""
    rng = values.rng
    columns = {name: of for kind in csm().kinds.values() for name, of in (*kind.columns.items(), (kind.key, "id"))}
    given = {
        name: values.of(columns[name] if rng.random() < 0.4 else rng.choice(_KINDS))
        for name in rng.sample(sorted(columns), rng.randint(1, 3))
    }
    tool = rng.choice((rng.choice(csm().tools).name, f"{values.word()}_{values.word()}"))
    text = tool + rng.choice((": ", " ", " with ")) + ", ".join(f"{name} {value}" for name, value in given.items())
    return [(f"{USER}{text}{END}\n{ASSISTANT}", False), (call_text(tool, given), True)]


def kind_of(values: Values) -> Kind:
    return values.rng.choice(list(csm().kinds.values())) if values.rng.random() < 0.6 else invented(values)


def rows_of(values: Values, kind: Kind, num_rows: int) -> list[Row]:
    """Distinct rows; enumerations repeat as chance has it."""
    rows = [kind.row(values) for _ in range(num_rows)]
    if values.rng.random() < 0.4:  # the key may stand anywhere
        names = list(rows[0])
        values.rng.shuffle(names)
        rows = [{name: row[name] for name in names} for row in rows]
    return rows


def telling(rows: Sequence[Row], row: Row, key: str) -> list[str]:
    """Columns whose value tells this row from all others."""
    return [
        name for name, value in row.items() if name != key and value is not None
        and sum(other[name] == value for other in rows) == 1
    ]  # fmt: skip


def looking_up(values: Values, *, sizes: Sequence[int] = (1, 3, 5, 7), max_fields: int = 9) -> list[Segment]:
    """One reply, then calls that each need one of its values: by key alone (one record), or of the row that matches."""
    rng = values.rng
    kind = kind_of(values)
    rows = rows_of(values, kind, rng.choice(sizes))
    kept = [name for name in rows[0] if name == kind.key or rng.random() < 0.7][:max_fields]
    if kind.key not in kept:
        kept[rng.randrange(len(kept)) if kept else 0 :][:1] = [kind.key]
        kept = [*kept, kind.key] if kind.key not in kept else kept
    rows = [{name: row[name] for name in kept} for row in rows]
    body: object = shown(rows[0]) if len(rows) == 1 and rng.random() < 0.6 else [shown(row) for row in rows]
    segments: list[Segment] = [(reply(body), False)]
    for _ in range(rng.randint(2, 5)):
        row = rng.choice(rows)
        wanted = kind.key if rng.random() < 0.6 else rng.choice(kept)
        if row[wanted] is None:
            continue
        columns = [name for name in telling(rows, row, kind.key) if name != wanted]
        if len(rows) == 1:
            question = rng.choice((f"{wanted}?", f"use {wanted}", f"{wanted} of the {kind.noun}"))
        elif columns:
            column = rng.choice(columns)
            question = rng.choice(
                (f"{wanted} where {column} is {row[column]}", f"the one with {column} {row[column]}: {wanted}",
                 f"{column} {row[column]}, give {wanted}")
            )  # fmt: skip
        else:
            continue
        answer = call_text(rng.choice(("use", "take", "give")), {wanted: row[wanted]})
        segments += [(f"{USER}{question}{END}\n{ASSISTANT}", False), (answer, True), (f"{END}\n", False)]
    return segments


def choosing(values: Values) -> list[Segment]:
    """A list of rows and calls for the row with the largest, smallest, first, last or matching value."""
    rng = values.rng
    kind = kind_of(values)
    rows = rows_of(values, kind, rng.randint(2, 5))
    kept = [name for name in rows[0] if name == kind.key or rng.random() < 0.6][:8]
    if kind.key not in kept:
        kept.append(kind.key)
    rows = [{name: row[name] for name in kept} for row in rows]
    segments: list[Segment] = [(reply([shown(row) for row in rows]), False)]
    for _ in range(rng.randint(1, 4)):
        choice = choose(rng, rows, kind)
        if choice is None:
            continue
        wording, row = choice
        answer = call_text(rng.choice(("use", "take", "give")), {kind.key: row[kind.key]})
        segments += [(f"{USER}{kind.key} {wording}{END}\n{ASSISTANT}", False), (answer, True), (f"{END}\n", False)]
    return segments


def choose(rng: Random, rows: Sequence[Row], kind: Kind) -> tuple[str, Row] | None:
    """A row told apart in words: by a matching value, or as the largest or smallest of an ordered column."""
    ordered = [
        name for name, value_kind in kind.columns.items()
        if value_kind in ("date", "price", "small") and all(row.get(name) is not None for row in rows)
        and len({row[name] for row in rows}) == len(rows)
    ]  # fmt: skip
    if ordered and rng.random() < 0.5:
        column = rng.choice(ordered)
        said = column.replace("_", " ") if rng.random() < 0.5 else column
        is_date = kind.columns[column] == "date"
        if rng.random() < 0.65:
            word = rng.choice(("latest", "last") if is_date else ("largest", "highest", "most"))
            return f"with the {word} {said}", max(rows, key=lambda row: row[column])
        word = rng.choice(("earliest", "first") if is_date else ("smallest", "lowest", "least"))
        return f"with the {word} {said}", min(rows, key=lambda row: row[column])
    row = rng.choice(rows)
    columns = telling(rows, row, kind.key)
    enums = [name for name in columns if "|" in kind.columns.get(name, "")]
    if not columns:
        return None
    column = rng.choice(enums) if enums and rng.random() < 0.7 else rng.choice(columns)
    said = column.replace("_", " ") if rng.random() < 0.5 else column
    return rng.choice((f"with {said} {row[column]}", f"where {said} is {row[column]}")), row
