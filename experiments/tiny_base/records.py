"""Kinds of records and the tools on them, csm-shaped or invented: rng in, `Kind`s and rows out. Knows no wording."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from random import Random
from typing import Any

from facts import (
    CREATED_BY_TASKS,
    CSM_SIGNATURES,
    CSM_TABLES,
    NOT_FOUND_BY_FINDER,
    OFTEN_NULL,
    WRITTEN_BY_TASKS,
)
from values import Values, words

Row = dict[str, Any]
NOUNS = words(
    """
    ticket invoice parcel room badge vehicle lesson event folder order shift asset booking device license
    report visit survey budget ledger vendor project sprint client branch bill quote refund coupon voucher
    shelf batch route
    """
)
_EXTRA_COLUMNS = words(
    """
    title=phrase owner=person owner_id=id color=word size=small weight=small price=price total=price
    amount=price due_on=date opened_on=date starts_on=date ends_on=date label=word code=code email=email
    site=domain serial=serial number=number level=low|medium|high state=open|closed|paused|done
    status=new|ready|sent|lost kind=plain|special|bulk mode=manual|auto zone=north|south|east|west
    grade=a|b|c|d rank=small note=phrase parent_id=id room_id=id is_open=flag priority=p1|p2|p3|p4
    type=normal|urgent|planned
    """
)
_FIND = words(
    """
    find get fetch lookup read
    """
)
_LIST = words(
    """
    list search find query get
    """
)
_UPDATE = words(
    """
    update set change edit modify
    """
)
_CREATE = words(
    """
    create add new register make
    """
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """`required`/`optional`: parameter names in signature order are kept in `signature`."""

    name: str
    signature: str
    required: tuple[str, ...]
    optional: tuple[str, ...]

    @property
    def parameters(self) -> tuple[str, ...]:
        return self.required + self.optional


@dataclass(frozen=True, kw_only=True, eq=False)
class Kind:
    """One table: its key, its columns with value kinds, and its tools (None where there is no such tool)."""

    noun: str
    key: str
    columns: dict[str, str]
    finders: tuple[tuple[Tool, str], ...] = ()
    lister: Tool | None = None
    updater: Tool | None = None
    creator: Tool | None = None
    nullable: frozenset[str] = frozenset()
    hidden_from_finder: frozenset[str] = frozenset()
    key_format: str = ""
    reserved: frozenset[str] = frozenset()  # columns that the generator's tasks write
    is_creation_reserved: bool = False  # the generator's tasks create such rows

    def new_key(self, values: Values) -> int | str:
        number = int(values.of("id"))
        return self.key_format.format(number % 10_000) if self.key_format else number

    def row(self, values: Values) -> Row:
        row: Row = {self.key: self.new_key(values)}
        for name, kind in self.columns.items():
            is_null = name in self.nullable and values.rng.random() < 0.7
            row[name] = None if is_null else values.of(kind)
        return row


def tool_of(signature: str) -> Tool:
    name, _, rest = signature.rstrip(")").partition("(")
    parameters = [part for part in rest.split(", ") if part]
    return Tool(
        name=name,
        signature=signature,
        required=tuple(part for part in parameters if not part.endswith("?")),
        optional=tuple(part[:-1] for part in parameters if part.endswith("?")),
    )


@dataclass(frozen=True, slots=True)
class Csm:
    """All csm kinds, and every csm tool for use as a distractor."""

    kinds: dict[str, Kind] = field(default_factory=dict)
    tools: tuple[Tool, ...] = ()


@cache
def csm() -> Csm:
    tools = {tool.name: tool for tool in map(tool_of, CSM_SIGNATURES)}
    kinds = {}
    for noun, (key, columns, finders, lister, updater, creator) in CSM_TABLES.items():
        kinds[noun] = Kind(
            noun=noun,
            key=key,
            columns=dict(column.split("=") for column in columns.split()),
            finders=tuple((tools[name], column) for name, column in finders),
            lister=tools.get(lister),
            updater=tools.get(updater),
            creator=tools.get(creator),
            nullable=OFTEN_NULL,
            hidden_from_finder=NOT_FOUND_BY_FINDER,
            reserved=WRITTEN_BY_TASKS.get(noun, frozenset()),
            is_creation_reserved=noun in CREATED_BY_TASKS,
        )
    return Csm(kinds, tuple(tools.values()))


def invented(values: Values, *parents: Kind) -> Kind:
    """A kind that no server has: invented tools on invented columns. `parents`: kinds whose keys it refers to."""
    rng = values.rng
    noun = rng.choice([name for name in NOUNS if name not in {parent.noun for parent in parents}])
    if rng.random() < 0.3:
        noun = values.word()
    suffix = rng.choice(("", "", "_record", "_entry", "_info"))
    columns = {"name": "title"} if rng.random() < 0.8 else {}
    columns |= _some_columns(rng)
    by = [name for name, kind in columns.items() if kind in ("title", "serial", "number", "email", "code", "person")]
    return _assembled(
        values,
        noun=noun,
        key=rng.choice((f"{noun}_id", f"{noun}_id", f"{noun}_id", "id", f"{noun}_key")),
        columns=columns | {parent.key: "id" for parent in parents},
        finders=tuple((_tool(f"{rng.choice(_FIND)}_{noun}{suffix}", (column,), ()), column) for column in by[:1]),
        names=(
            f"{rng.choice(_LIST)}_{noun}s{suffix}",
            f"{rng.choice(_UPDATE)}_{noun}{suffix}",
            f"{rng.choice(_CREATE)}_{noun}{suffix}",
        ),
        parents=parents,
        key_format=rng.choice(("", "", "", f"{noun[:3].upper()}_{{:04d}}")),
    )


def variant(values: Values, kind: Kind, *parents: Kind) -> Kind:
    """A csm kind under its own tool names but with other columns, so that arguments are read off the signatures."""
    found_by = {column for _, column in kind.finders}
    columns = {name: of for name, of in kind.columns.items() if name in found_by | {"first_name", "last_name"}}
    columns |= _some_columns(values.rng) | {parent.key: "id" for parent in parents}
    tools = (kind.lister, kind.updater, kind.creator)
    return _assembled(
        values,
        noun=kind.noun,
        key=kind.key,
        columns={name: of for name, of in columns.items() if name not in kind.reserved},
        finders=kind.finders,
        names=tuple(tool.name if tool else "" for tool in tools),
        parents=parents,
        is_creation_reserved=kind.is_creation_reserved,
    )


def _some_columns(rng: Random) -> dict[str, str]:
    """Columns of anything."""
    of_csm = {name: of for kind in csm().kinds.values() for name, of in kind.columns.items() if of != "id"}
    pool = [*of_csm.items(), *(tuple(column.split("=")) for column in _EXTRA_COLUMNS)]
    return dict(rng.sample(pool, rng.randint(2, 7)))


def _assembled(
    values: Values,
    *,
    noun: str,
    key: str,
    columns: dict[str, str],
    finders: tuple[tuple[Tool, str], ...],
    names: tuple[str, ...],
    parents: tuple[Kind, ...],
    key_format: str = "",
    is_creation_reserved: bool = False,
) -> Kind:
    """`names`: of the lister, the updater and the creator."""
    rng = values.rng
    order = [name for name in columns if name != key]
    rng.shuffle(order)
    inherited = tuple(parent.key for parent in parents if parent.key != key)
    own = [name for name in order if name not in inherited]
    creates = inherited + tuple(rng.sample(own, min(len(own), rng.randint(1, 3))))
    lister, updater, creator = names
    return Kind(
        noun=noun,
        key=key,
        columns={name: columns[name] for name in order},
        finders=finders,
        lister=_tool(lister, (), (key, *order), rng, inherited) if lister else None,
        updater=_tool(updater, (key,), tuple(order), rng, inherited) if updater else None,
        creator=_tool(creator, creates, tuple(name for name in order if name not in creates), rng) if creator else None,
        key_format=key_format,
        is_creation_reserved=is_creation_reserved,
    )


def _tool(
    name: str,
    required: tuple[str, ...],
    optional: tuple[str, ...],
    rng: Random | None = None,
    always: tuple[str, ...] = (),
) -> Tool:
    """`rng` draws which of the `optional` parameters exist; those named in `always` do."""
    if rng is not None and optional:
        drawn = set(rng.sample(sorted(optional), rng.randint(1, len(optional)))) | set(always)
        optional = tuple(parameter for parameter in optional if parameter in drawn)
    shown = ", ".join([*required, *(f"{parameter}?" for parameter in optional)])
    return Tool(name=name, signature=f"{name}({shown})", required=required, optional=optional)
