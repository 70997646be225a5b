"""Show where faults could hit a task and what each would show: every call of a clean pass, every kind of fault."""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Iterator, Sequence
from functools import partial
from io import StringIO
from pathlib import Path

from rich.console import Console
from rich.text import Text

from robustops.agent.codec import Codec
from robustops.agent.policy import Sampling
from robustops.agent.scripted import ScriptedExpert
from robustops.compose.show.options import TINY_BASE, add_task
from robustops.core.episode import ToolResult
from robustops.core.errors import TaskError, UserError
from robustops.core.files import write_atomically
from robustops.core.task import Task
from robustops.data.task_set import TaskSet
from robustops.faults.catalogue import KINDS, Kind
from robustops.faults.shapes import list_reply
from robustops.gym.embedded import EmbeddedGym
from robustops.gym.verify import verify
from robustops.rollout.exhibit import Exhibit, Showcase, Shown, exhibits_of
from robustops.rollout.play import Limits
from robustops.rollout.setup import Setup

# Colours that stay apart for colour-blind readers: what announces itself, what does not, what was done.
EXPLICIT, IMPLICIT, CALL, GREY = "#0072b2", "#d55e00", "#009e73", "#777777"
MOST_CHARS = 240


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_task(parser)
    parser.add_argument("--subtype", action="append", metavar="NAME", help="only this kind; may be given several times")
    parser.add_argument("--intensity", type=float, metavar="X", help="how bad each fault is, 0 to 1 (default: drawn)")
    parser.add_argument("--seed", type=int, default=0, help="of what is drawn (default: 0)")
    parser.add_argument(
        "--chars", type=int, default=MOST_CHARS, metavar="N", help=f"of a reply that are shown (default: {MOST_CHARS})"
    )
    parser.add_argument("--markdown", action="store_true", help="one example of each kind, before and after")
    parser.add_argument("--html", type=Path, metavar="OUT", help="write a page instead")


def run(options: argparse.Namespace) -> None:
    subtypes = tuple(options.subtype or KINDS)
    if unknown := [name for name in subtypes if name not in KINDS]:
        raise UserError(f"--subtype: got {unknown[0]!r}, expected one of {', '.join(KINDS)}")
    if options.intensity is not None and not 0 <= options.intensity <= 1:
        raise UserError(f"--intensity: got {options.intensity}, expected 0 to 1")
    task_set = TaskSet.load(options.tasks)
    task = task_set.task(options.task)
    showcase = Showcase(subtypes, seed=options.seed, intensity=options.intensity)
    asyncio.run(_play(task_set, task, showcase))
    if options.markdown:
        print("\n".join(as_markdown(showcase.exhibits, options.chars)))
        return
    is_page = options.html is not None
    console = Console(record=is_page, file=StringIO() if is_page else None)
    draw(console, task, showcase.exhibits, subtypes, options.chars)
    if is_page:
        write_atomically(options.html, console.export_html(inline_styles=True).encode())
        print(options.html)


async def _play(task_set: TaskSet, task: Task, showcase: Showcase) -> None:
    """Raises TaskError for a task that nobody here can play."""
    if task.task_id not in task_set.plans:
        raise TaskError(
            f"task {task.task_id!r}: has no plan, so that there is no clean pass to look at; "
            "give a task of a generated set"
        )
    codec = Codec.load(TINY_BASE, tool_schema="compact")
    setup = Setup(
        gym=EmbeddedGym(),
        policy=ScriptedExpert(task_set.plans, codec),
        codec=codec,
        verify=partial(verify, judge=None),
        limits=Limits(max_context_tokens=200_000, reserve_tokens=2048, max_turns=100),
        sampling=Sampling(temperature=0.0),
        seed=0,
    )
    episode = await exhibits_of(setup, task, showcase)
    if episode.error:
        raise TaskError(f"task {task.task_id!r}: its clean pass failed: {episode.error}")


def draw(console: Console, task: Task, exhibits: Sequence[Exhibit], subtypes: Sequence[str], most_chars: int) -> None:
    console.print(Text(f"{task.task_id}: ", style="bold").append(task.request, style="not bold"))
    console.print(
        Text("says that something is wrong", style=EXPLICIT)
        .append("   does not", style=IMPLICIT)
        .append("   cannot hit the call", style=GREY)
    )
    for number, exhibit in enumerate(exhibits, start=1):
        title = f"\n{number}. {exhibit.call.name} {_json(exhibit.call.arguments)}"
        console.print(Text(title, style=f"bold {CALL}").append("  a write" if exhibit.is_write else "  a read"))
        console.print(Text(f"   clean: {_cut(exhibit.native.text, most_chars)}"))
        for subtype in subtypes:
            if subtype in exhibit.faults:
                console.print(_line(subtype, exhibit.faults[subtype], most_chars))
        if impossible := [subtype for subtype in subtypes if subtype not in exhibit.faults]:
            console.print(Text(f"   not: {', '.join(impossible)}", style=GREY))


def _line(subtype: str, shown: Shown, most_chars: int) -> Text:
    kind = KINDS[subtype]
    colour = EXPLICIT if kind.visibility == "explicit" else IMPLICIT
    line = Text(f"   {subtype}", style=f"bold {colour}").append(f" ({_tags(kind)}; {shown.effect}): ", style=GREY)
    return line.append(_cut(shown.text, most_chars), style=colour)


def _tags(kind: Kind) -> str:
    pack = "" if kind.pack == "main" else f", {kind.pack}"
    return f"{kind.visibility}, {kind.persistence}{pack}"


def as_markdown(exhibits: Sequence[Exhibit], most_chars: int) -> Iterator[str]:
    """The first call of the task that each kind could hit, in the order of the catalogue."""
    for subtype in KINDS:
        exhibit = next((found for found in exhibits if subtype in found.faults), None)
        if exhibit is None:
            continue
        shown = exhibit.faults[subtype]
        yield from (
            f"**`{subtype}`** on `{exhibit.call.name} {_json(exhibit.call.arguments)}`: {shown.effect}.",
            "",
            "```text",
            f"before: {_cut(exhibit.native.text, most_chars)}",
            f"after:  {_cut(shown.text, most_chars)}",
            "```",
            "",
        )


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _cut(text: str, most_chars: int) -> str:
    """Lines joined; of a list its length first; a long middle left out, so that an end that was cut off can be seen."""
    listed = list_reply(ToolResult(text=text, observation=""))
    size = f"({len(listed.rows)} rows) " if listed is not None else ""
    line, half = " ".join(text.split()), most_chars // 2
    return size + (line if len(line) <= most_chars else f"{line[:half]} [...] {line[-half:]}")
