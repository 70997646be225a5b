"""An optional second opinion on narration: words that the rules leave unproven in, a language model's verdicts out.

Every verdict is stored with its words and its reason, one JSON line each, so that an export can be repeated and
questioned; what is stored is not asked again. A reply that cannot be read leaves the words unproven.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from robustops.core.json_lines import append_line, read_lines
from robustops.data.narration import Support, history_of, judge
from robustops.data.supervision import Demonstration, words_of
from robustops.llm.completion import Completion, Message
from robustops.rollout.concurrency import run_bounded

_SYSTEM = (
    "You check what an assistant wrote before one of its tool calls. You see the task, the replies that the assistant "
    "had seen by then, and its words. Say `supported` only if each statement in the words is shown by a reply or given "
    "by the task, and each action it says it did is shown by a reply. Say `unsupported` otherwise. Words that only "
    "announce what comes next are `planning`. Answer with one JSON object and nothing else: "
    '{"verdict": "supported" | "unsupported" | "planning", "reason": "one sentence"}'
)
_VERDICTS = ("supported", "unsupported", "planning")
MAX_TOKENS = 512


@dataclass(frozen=True, slots=True, kw_only=True)
class _Question:
    source: str
    turn: int
    words: str
    messages: tuple[Message, ...]


def load_reviews(path: Path) -> dict[str, dict[int, Support]]:
    """Verdicts by source and turn; none where nothing was reviewed."""
    found: dict[str, dict[int, Support]] = defaultdict(dict)
    for row in read_lines(path) if path.is_file() else ():
        found[row["source"]][row["turn"]] = row["verdict"]
    return dict(found)


async def review(
    demonstrations: Iterable[Demonstration], completion: Completion, path: Path, *, model: str, concurrency: int
) -> int:
    """Ask about all unproven words that have no verdict yet; returns how many were asked about."""
    known = load_reviews(path)
    questions = [q for d in demonstrations for q in _questions(d) if q.turn not in known.get(q.source, {})]

    async def ask(question: _Question) -> None:
        reply = await completion.complete(question.messages, temperature=0.0, max_tokens=MAX_TOKENS)
        verdict, reason = read_verdict(reply.text)
        row = {"source": question.source, "turn": question.turn, "words": question.words}
        append_line(path, {**row, "verdict": verdict, "reason": reason, "reviewer": model})

    await run_bounded(questions, ask, concurrency=concurrency)
    return len(questions)


def _questions(demonstration: Demonstration) -> Iterator[_Question]:
    turns = demonstration.episode.turns
    for index, turn in enumerate(turns):
        words = words_of(turn)
        history = history_of(turns[:index], demonstration.given)
        if turn.call is None or not turn.generated or not words or judge(words, history) != "unproven":
            continue
        replies = "\n".join(history.replies) or "(none)"
        text = f"# Task\n{history.given}\n\n# Replies so far\n{replies}\n\n# Words\n{words}"
        messages = ({"role": "system", "content": _SYSTEM}, {"role": "user", "content": text})
        yield _Question(source=demonstration.source, turn=index, words=words, messages=messages)


def read_verdict(text: str) -> tuple[Support, str]:
    """The verdict and its reason; `unproven` for a reply that holds none."""
    for match in re.finditer(r"\{[^{}]*\}", text):
        try:
            value: Mapping[str, object] = json.loads(match.group())
        except ValueError:
            continue
        if value.get("verdict") in _VERDICTS:
            return cast(Support, value["verdict"]), str(value.get("reason", ""))
    return "unproven", "the reviewer's reply could not be read"


def with_reviews(demonstrations: Sequence[Demonstration], path: Path) -> list[Demonstration]:
    """The same demonstrations with what was stored about them."""
    reviews = load_reviews(path)
    return [
        Demonstration(
            source=d.source,
            episode=d.episode,
            domain=d.domain,
            given=d.given,
            reviews=reviews.get(d.source, {}),
        )
        for d in demonstrations
    ]
