"""Micro-dialogues whose request names no tool, only things and values. Values in, segments out.

They teach that a name is looked up before its row is changed, whatever the words, and that a signature says which
arguments there are: csm's tools come with other columns too. What the generator's tasks write or create in csm is left
out: what Base makes of those is its generality.
"""

from __future__ import annotations

from collections.abc import Sequence

from lessons import Segment, choose, shown
from records import Kind, Row, csm, invented, variant
from script import Script, soup, write
from values import Values, words

_VERBS = words(
    """
    adjust fix amend revise enter note apply switch turn raise adapt alter edit modify correct store save write register
    put book file arrange mend renew tag label
    """
)
_CHANGE = (
    "{v} {s}: {p}", "{v} {p} on {s}", "{v} {p} for {s}", "{v} {s}, {p}", "{v} {s} with {p}", "{v} {s} so that {p}",
    "{s}: {p}", "{p} for {s}", "{s} needs {p}", "{s} has {p} from today", "for {s} we want {p}",
    "{s} ought to show {p}",
    "put {p} on {s}", "record {p} on {s}", "correct {s} to {p}", "it is {p} on {s}", "{s} is wrong, {p} is right",
    "could {s} have {p}",
    "{p} belongs on {s}", "{s} switches to {p}", "I would like {p} on {s}", "see that {s} has {p}",
)  # fmt: skip
_CREATE = (
    "{s} wants a {n}: {p}", "one more {n} under {s}, {p}", "{n} for {s} with {p}", "{p} on a fresh {n} of {s}",
    "put a {n} on {s}: {p}",
    "there is no {n} for {s} yet, {p}", "{s} lacks a {n}; {p}",
    "prepare a {n} ({p}) for {s}",
)  # fmt: skip
_LINK = (
    "{n} of {s} and {t}: {p}", "connect {s} with {t} by a {n}, {p}", "{s} and {t} share a {n}, {p}",
    "{n}: {s}, {t}, {p}",
    "bring {s} together with {t} in one {n}; {p}", "{s} takes {t} into a {n} with {p}",
)  # fmt: skip
_OPENINGS = ("", "", "", "", "hello, ", "request: ", "from the phone: ", "as agreed, ", "today: ", "one thing, ")
_ENDINGS = (".", ".", ".", ". Thanks.", ", thank you.", "!", ". That is all.", " please.")


def loose_dialogue(values: Values) -> list[Segment]:
    rng = values.rng
    script = Script(values)
    request = None
    while request is None:
        script = Script(values)
        request = rng.choice((_one_change, _one_change, _child_change, _child_create, _link))(script)
    text = rng.choice(_OPENINGS)
    if rng.random() < 0.3:
        text += soup(values, rng.randint(1, 4)) + rng.choice((": ", " ", ", ", ". "))
    text += request + rng.choice(_ENDINGS)
    if rng.random() < 0.15:
        text += " " + soup(values, rng.randint(1, 4)).capitalize() + "."
    return write(script, text[:1].upper() + text[1:], distractors=rng.randint(0, 4))


def _kind(values: Values) -> Kind:
    """A kind whose rows are found by something a person would say: invented, csm's, or between the two."""
    if values.rng.random() < 0.4:
        return invented(values)
    findable = [kind for kind in csm().kinds.values() if any(column != "portal_user_id" for _, column in kind.finders)]
    kind = values.rng.choice(findable)
    return variant(values, kind) if values.rng.random() < 0.6 else kind


def _kind_under(values: Values, *parents: Kind) -> Kind:
    """A kind that refers to the parents."""
    keys = {parent.key for parent in parents}
    children = [kind for kind in csm().kinds.values() if keys <= set(kind.columns) and kind.key not in keys]
    if not children or values.rng.random() < 0.3:
        return invented(values, *parents)
    kind = values.rng.choice(children)
    return variant(values, kind, *parents) if values.rng.random() < 0.6 else kind


def _subject(script: Script, kind: Kind, row: Row) -> str:
    noun, name = kind.noun.replace("_", " "), row.pop("@")
    return script.rng.choice(
        (f"{noun} {name}", f"{name}", f"the {noun} {name}", f"{name} ({noun})", f"our {noun} {name}")
    )


def _pairs(script: Script, kind: Kind, changed: Row) -> str:
    rng = script.rng
    parts = []
    for name, value in changed.items():
        word = rng.choice((name, *[name.replace("_", " ")] * 3, name.rsplit("_", 1)[-1]))
        if isinstance(value, bool):
            parts.append(rng.choice((word, f"{word} on")) if value else f"no {word}")
        elif "|" in kind.columns[name] and rng.random() < 0.2:
            parts.append(str(value))
        else:
            forms = (f"{word} {value}", f"{word} {value}", f"{value} as {word}", f"{word}: {value}", f"{value} {word}")
            parts.append(rng.choice(forms))
    return rng.choice((" and ", ", ", ", ")).join(parts)


def _said(script: Script, forms: Sequence[str], **slots: str) -> str:
    text = script.rng.choice(forms).format(v=script.rng.choice(_VERBS), **slots)
    return text.removesuffix(": ").removesuffix(", ").removesuffix("; ")


def _one_change(script: Script) -> str | None:
    kind = _kind(script.values)
    row = script.find(kind)
    if row is None or kind.updater is None:
        return None
    subject, changed = _subject(script, kind, row), script.new_values(kind, kind.updater, without=kind.reserved)
    if not changed:
        return None
    script.change(kind, row, changed)
    return _said(script, _CHANGE, s=subject, p=_pairs(script, kind, changed))


def _child_change(script: Script) -> str | None:
    """Find the parent, list its children, change the one that is meant."""
    rng, values = script.rng, script.values
    parent = _kind(values)
    kind = _kind_under(values, parent)
    found = script.find(parent)
    if found is None or kind.lister is None or kind.updater is None:
        return None
    owner = _subject(script, parent, found)
    given = {parent.key: found[parent.key]}
    rows = [kind.row(values) | given for _ in range(rng.choice((1, 2, 2, 3, 3, 4)))]
    rows.sort(key=lambda row: str(row[kind.key]).zfill(12))
    row, wording = rows[0], ""
    if len(rows) > 1:
        choice = choose(rng, rows, kind)
        if choice is None:
            return None
        wording, row = f" {choice[0]}", choice[1]
    script.call(kind.lister, given, [shown(each) for each in rows])
    changed = script.new_values(kind, kind.updater, without=kind.reserved | {parent.key})
    if not changed:
        return None
    script.change(kind, row, changed)
    subject = rng.choice(
        (
            f"the {kind.noun} of {owner}{wording}",
            f"{owner}, {kind.noun}{wording}",
            f"the {kind.noun}{wording} of {owner}",
        )
    )
    return _said(script, _CHANGE, s=subject, p=_pairs(script, kind, changed))


def _creation(script: Script, kind: Kind, keys: Row) -> Row | None:
    """A creator call; returns the values that the request must state."""
    tool = kind.creator
    if tool is None or kind.is_creation_reserved or not set(keys) <= set(tool.parameters):
        return None
    own = {name: script.value(kind, name) for name in tool.parameters if name in kind.columns and name not in keys
           and (name in tool.required or script.rng.random() < 0.15)}  # fmt: skip
    arguments = {name: keys.get(name, own.get(name)) for name in tool.parameters if name in keys or name in own}
    stored = {name: int(value) if isinstance(value, bool) else value for name, value in arguments.items()}
    script.call(tool, arguments, shown(kind.row(script.values) | stored))
    return own


def _child_create(script: Script) -> str | None:
    parent = _kind(script.values)
    kind = _kind_under(script.values, parent)
    found = script.find(parent)
    if found is None:
        return None
    owner = _subject(script, parent, found)
    own = _creation(script, kind, {parent.key: found[parent.key]})
    return None if own is None else _said(script, _CREATE, s=owner, n=kind.noun, p=_pairs(script, kind, own))


def _link(script: Script) -> str | None:
    first, second = _kind(script.values), _kind(script.values)
    if first.key == second.key or first.noun == second.noun:
        return None
    kind = _kind_under(script.values, first, second)
    rows = [script.find(first), script.find(second)]
    if rows[0] is None or rows[1] is None:
        return None
    subjects = [_subject(script, first, rows[0]), _subject(script, second, rows[1])]
    own = _creation(script, kind, {first.key: rows[0][first.key], second.key: rows[1][second.key]})
    if own is None:
        return None
    return _said(script, _LINK, s=subjects[0], t=subjects[1], n=kind.noun, p=_pairs(script, kind, own))
