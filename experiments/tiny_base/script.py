"""Building blocks of micro-dialogues in the real chat format: calls and replies in, segments out. Knows no wording."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from lessons import ASSISTANT, END, USER, Segment, call_text, reply, shown
from records import Kind, Row, Tool, csm, invented
from values import Values, words

_RULES = (
    "Use the tools.", "Call one tool at a time.", "Answer Done at the end.", "Do only what is said.", "Be exact.",
    "Ids come from replies.", "Never guess an id.", "Work step by step.", "You help the staff.", "Keep names as is.",
    "Read before you write.", "You run a service desk.", "Follow the order given.", "One change per request.",
    "If a call fails, try it once more.", "Do not ask back.", "Dates are year, month, day.",
    "Prices are whole numbers.", "Lists come in id order.", "Records may have many fields.",
    "When all calls are made, say Done.",
)  # fmt: skip
_FAILURES = (
    "Error: busy, not executed", "API Error [{tool}]: try again", "Error: too many requests, nothing was done",
    '{{"error": "unavailable", "executed": false}}', "Timeout before execution. Repeat the call.",
)  # fmt: skip


_DEAD_ENDS = (
    "{{}}", "[]", "API Error [{tool}]: Invalid {name}", "API Error [{tool}]: {name} not found", "Unknown tool: {tool}",
    "API Error [{tool}]: [{{'type': 'missing', 'loc': ['body', '{name}'], 'msg': 'Field required'}}]",
)  # fmt: skip
_SLIPS = (
    '{"error": "malformed tool call: the block is not JSON"}', '{"error": "malformed tool call: missing arguments"}',
    "Error: the call could not be read",
)  # fmt: skip
_PROSE = words(
    """
    please note that every request here comes from a person who waits so stay calm and polite while rows change often
    keep track of what was said before numbers matter more than words read carefully check twice look at fields not at
    labels some tools list many rows others give one know which you need old entries remain until removed work in order
    until nothing is left to do staff may ask for several things use plain values no quotes around numbers
    """
)


# Words of the generator's requests and policies, in no order: their tokens must be known, and known to say nothing.
_TASK_WORDS = (Path(__file__).parent / "words.txt").read_text(encoding="utf-8").split()


@dataclass(slots=True)
class Script:
    """A dialogue under construction."""

    values: Values
    clauses: list[str] = field(default_factory=list)
    tools: list[Tool] = field(default_factory=list)
    exchanges: list[tuple[Tool, Row, object]] = field(default_factory=list)

    @property
    def rng(self) -> Random:
        return self.values.rng

    def call(self, tool: Tool, arguments: Row, answer: object, clause: str = "") -> None:
        self.tools.append(tool)
        self.exchanges.append((tool, arguments, answer))
        if clause:
            self.clauses.append(clause)

    def find(self, kind: Kind) -> Row | None:
        """A finder call whose reply holds a new row; returns the row, under "@" what it was found by."""
        if not kind.finders:
            return None
        tool, column = self.rng.choice(kind.finders)
        row = kind.row(self.values)
        # csm's find_user takes the full name, which is no column.
        argument = row[column] if column in row else f"{row['first_name']} {row['last_name']}"
        if argument is None:
            return None
        answer = {name: value for name, value in shown(row).items() if name not in kind.hidden_from_finder}
        self.call(tool, {column: argument}, answer)
        return row | {"@": argument}

    def change(self, kind: Kind, row: Row, changed: Row) -> None:
        """An updater call; flags are JSON booleans in calls and 0 or 1 in rows."""
        assert kind.updater is not None
        stored = row | {name: int(value) if isinstance(value, bool) else value for name, value in changed.items()}
        stored.pop("@", None)
        self.call(kind.updater, {kind.key: row[kind.key], **changed}, shown(stored))

    def new_values(self, kind: Kind, tool: Tool, *, most: int = 2, without: frozenset[str] = frozenset()) -> Row:
        """New values for some columns that the tool takes."""
        names = [name for name in tool.parameters if name in kind.columns and name not in without | {kind.key}]
        chosen = set(self.rng.sample(names, min(len(names), self.rng.choice((1, 1, 1, most)))))
        return {name: self.value(kind, name) for name in tool.parameters if name in chosen}

    def value(self, kind: Kind, column: str) -> str | int | bool:
        """A value of the column's kind; sometimes a name where an id belongs, for people ask so too: it is quoted."""
        value = self.values.of(kind.columns[column])
        if kind.columns[column] == "id" and self.rng.random() < 0.15:
            return self.values.of("title")
        return bool(value) if kind.columns[column] == "flag" else value


def policy(values: Values) -> str:
    """Rules and prose of any length; they carry no information, as the model must find out."""
    rng = values.rng
    sentences = rng.sample(_RULES, rng.randint(0, 8))
    for _ in range(rng.choice((0, 1, 2, 4, 8))):
        sentences.append(soup(values, rng.randint(3, 12)).capitalize() + ".")
    rng.shuffle(sentences)
    return " ".join(sentences) or "Use the tools."


def soup(values: Values, num_words: int) -> str:
    """Words without sense."""
    sources = (_PROSE, _TASK_WORDS, ())
    chosen = (values.rng.choices(sources, (0.4, 0.4, 0.2))[0] for _ in range(num_words))
    return " ".join(values.rng.choice(source) if source else values.word() for source in chosen)


def write(script: Script, request: str, *, distractors: int) -> list[Segment]:
    rng = script.rng
    tools = {tool.name: tool for tool in script.tools}
    for _ in range(distractors):
        kind = invented(script.values)
        others = [tool for tool in (kind.lister, kind.updater, kind.creator, *(t for t, _ in kind.finders)) if tool]
        tool = rng.choice(csm().tools) if rng.random() < 0.6 else rng.choice(others)
        tools.setdefault(tool.name, tool)
    listed = list(tools.values())
    rng.shuffle(listed)
    system = policy(script.values) + "\n\n# Tools\n" + "\n".join(tool.signature for tool in listed)
    head = f"<|im_start|>system\n{system}{END}\n{USER}{request}{END}\n{ASSISTANT}"
    segments: list[Segment] = [(head, False)]
    for tool, arguments, answer in script.exchanges:
        block = call_text(tool.name, arguments)
        if rng.random() < 0.02:  # nothing found, or a mistake: no way on
            dead_end = rng.choice(_DEAD_ENDS).format(tool=tool.name, name=rng.choice(list(arguments)))
            segments += [(block, True), (f"{END}\n{reply(dead_end)}{ASSISTANT}", False)]
            break
        if rng.random() < 0.015:  # a block that was no call, and not the model's to learn
            slip = block.replace(rng.choice(('": ', '", "', '"arguments"', "}}")), rng.choice(("", " ", '"')), 1)
            segments += [(slip, False), (f"{END}\n{reply(rng.choice(_SLIPS))}{ASSISTANT}", False)]
        if rng.random() < 0.03:  # a call that did not happen is made again
            failure = rng.choice(_FAILURES).format(tool=tool.name)
            segments += [(block, True), (f"{END}\n{reply(failure)}{ASSISTANT}", False)]
        segments += [(block, True), (f"{END}\n{reply(answer)}{ASSISTANT}", False)]
    segments.append((f"Done.{END}", True))
    return segments
