"""Micro-dialogues whose request spells the calls out, tool by tool, in order. Values in, segments out."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from lessons import Segment, choose, kind_of, shown
from records import Kind, Row, Tool, csm
from script import Script, write
from values import Values


def dialogue(values: Values, *, is_short: bool = False) -> list[Segment]:
    """One to four calls; later arguments are copied from earlier replies."""
    rng = values.rng
    script = Script(values)
    shapes = [_find_and_change, _list_and_change, _create, _two_and_create, _plain_change]
    if not is_short:
        shapes += [_chain, _chain, _create_and_create]
    while not script.exchanges:
        rng.choice(shapes)(script)
    return write(script, _join(rng, script.clauses), distractors=rng.randint(0, 2 if is_short else 4))


def _join(rng: Random, clauses: Sequence[str]) -> str:
    joint = rng.choice((". Then ", ", then ", "; ", ". ", ". After that ", "\n"))
    text = joint.join(clauses)
    return text[:1].upper() + text[1:] + rng.choice((".", "."))


def _spell(script: Script, tool: Tool) -> str:
    """The tool in words: its name, or its name without underscores."""
    rng = script.rng
    name = tool.name if rng.random() < 0.5 else tool.name.replace("_", " ")
    return rng.choice((name, name, f"call {name}", f"use {name}"))


def _say(script: Script, arguments: Row) -> str:
    """Arguments in words; booleans and names read naturally."""
    rng = script.rng
    parts = []
    for name, value in arguments.items():
        word = name if rng.random() < 0.5 else name.replace("_", " ")
        text = str(value).lower() if isinstance(value, bool) else str(value)
        parts.append(
            rng.choice(
                (f"{word} {text}", f"{word} {text}", f"{word} is {text}", f"{word} = {text}", f"{text} as {word}")
            )
        )
    return rng.choice((", ", ", ", " and ")).join(parts)


def _from_reply(script: Script, names: Sequence[str]) -> str:
    """How a clause says that an argument comes from a reply; often it does not say so at all."""
    rng = script.rng
    if rng.random() < 0.45:
        return ""
    text = " and ".join(names)
    return rng.choice(
        (f" with that {text}", f" with its {text}", f" with the {text} found", f" using {text} from the reply")
    )


def _found(script: Script) -> tuple[Kind, Row] | None:
    """A finder call whose reply holds a row."""
    kind = kind_of(script.values)
    row = script.find(kind)
    if row is None:
        return None
    tool, arguments, _ = script.exchanges[-1]
    how = script.rng.choice((f" {row.pop('@')}", f" with {_say(script, arguments)}"))
    script.clauses.append(_spell(script, tool) + how)
    return kind, row


def _change(script: Script, kind: Kind, row: Row, *, is_known: bool) -> None:
    tool = kind.updater
    if tool is None or not (changed := script.new_values(kind, tool)):
        return
    key = f" {_say(script, {kind.key: row[kind.key]})}" if is_known else _from_reply(script, [kind.key])
    clause = (
        f"{_spell(script, tool)}{key}{script.rng.choice((' to set ', ': ', ', ', ' with '))}{_say(script, changed)}"
    )
    script.change(kind, row, changed)
    script.clauses.append(clause)


def _plain_change(script: Script) -> None:
    kind = kind_of(script.values)
    _change(script, kind, kind.row(script.values), is_known=True)


def _find_and_change(script: Script) -> None:
    if (found := _found(script)) is not None:
        _change(script, *found, is_known=False)


def _listed(script: Script, kind: Kind, given: Row, *, is_known: bool) -> Row | None:
    """A lister call filtered by `given`, and the row that the clause picks from its reply."""
    rng, values = script.rng, script.values
    tool = kind.lister
    if tool is None:
        return None
    rows = [kind.row(values) | given for _ in range(rng.choice((1, 2, 2, 3, 3, 4)))]
    rows.sort(key=lambda row: row[kind.key])
    clause = _spell(script, tool) + (f" with {_say(script, given)}" if is_known else _from_reply(script, list(given)))
    row = rows[0]
    if len(rows) > 1:
        choice = choose(rng, rows, kind)
        if choice is None:
            return None
        wording, row = choice
        clause += rng.choice((f", take the one {wording}", f" and take the {kind.noun} {wording}", f", {wording}"))
    script.call(tool, dict(given), [shown(each) for each in rows], clause)
    return row


def _list_and_change(script: Script) -> None:
    kind = kind_of(script.values)
    if kind.lister is None:
        return
    names = [name for name in kind.lister.parameters if name in kind.columns and kind.columns[name] != "flag"]
    if not names:
        return
    given = {name: script.values.of(kind.columns[name]) for name in script.rng.sample(names, 1)}
    row = _listed(script, kind, given, is_known=True)
    if row is not None:
        _change(script, kind, row, is_known=False)


def _chain(script: Script) -> None:
    """Find a row, list what belongs to it, change the picked one."""
    found = _found(script)
    if found is None:
        return
    parent, row = found
    children = [
        kind for kind in csm().kinds.values() if kind.lister and parent.key in kind.columns and kind is not parent
    ]
    if not children:
        return
    kind = script.rng.choice(children)
    picked = _listed(script, kind, {parent.key: row[parent.key]}, is_known=False)
    if picked is not None:
        _change(script, kind, picked, is_known=False)


def _new(script: Script, kind: Kind, known: Row) -> Row | None:
    """A creator call; `known` arguments come from replies."""
    tool, values = kind.creator, script.values
    if tool is None:
        return None
    arguments: Row = {}
    for name in tool.parameters:
        if name in known:
            arguments[name] = known[name]
        elif name in kind.columns and (name in tool.required or script.rng.random() < 0.1):
            arguments[name] = script.value(kind, name)
    row = kind.row(values)
    row |= {name: int(value) if isinstance(value, bool) else value for name, value in arguments.items()}
    said = {name: value for name, value in arguments.items() if name not in known}
    names = [name for name in arguments if name in known]
    clause = _spell(script, tool) + (_from_reply(script, names) if names else "")
    clause += f"{script.rng.choice((': ', ', ', ' with '))}{_say(script, said)}" if said else ""
    script.call(tool, arguments, shown(row), clause)
    return row


def _create(script: Script) -> None:
    """Create a row, with an id that was found or out of nothing but the instruction."""
    if script.rng.random() < 0.3:
        _new(script, kind_of(script.values), {})
        return
    found = _found(script)
    if found is None:
        return
    parent, row = found
    children = [kind for kind in csm().kinds.values() if kind.creator and parent.key in kind.creator.parameters]
    children = [kind for kind in children if kind is not parent]
    if children:
        _new(script, script.rng.choice(children), {parent.key: row[parent.key]})


def _two_and_create(script: Script) -> None:
    """Find two rows and link them."""
    first, second = _found(script), _found(script)
    if first is None or second is None or first[0].key == second[0].key:
        return
    keys = {kind.key: row[kind.key] for kind, row in (first, second)}
    children = [kind for kind in csm().kinds.values() if kind.creator and set(keys) <= set(kind.creator.parameters)]
    if children:
        _new(script, script.rng.choice(children), keys)
    else:
        kind, row = second
        column = next(
            (name for name in (kind.updater.parameters if kind.updater else ()) if name == first[0].key), None
        )
        if column and kind.updater:
            arguments = {kind.key: row[kind.key], column: keys[column]}
            clause = _spell(script, kind.updater) + _from_reply(script, list(arguments))
            script.call(kind.updater, arguments, shown(row | arguments), clause)


def _create_and_create(script: Script) -> None:
    """Create a row, then another one under its new id."""
    kind = kind_of(script.values)
    row = _new(script, kind, {})
    if row is None:
        return
    children = [other for other in csm().kinds.values() if other.creator and kind.key in other.creator.parameters]
    children = [other for other in children if other is not kind]
    if children:
        _new(script, script.rng.choice(children), {kind.key: row[kind.key]})
