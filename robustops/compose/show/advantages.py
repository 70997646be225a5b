"""Show one training episode with its token advantages: what each token was rewarded or blamed with, and why.

Everything is computed again from the record, by the functions of training: all groups of the step are scored and
judged, the accepted ones normalised together, and the result spread over tokens.
"""

from __future__ import annotations

import argparse
import html
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from robustops.agent.codec import Codec
from robustops.compose.show.options import add_model
from robustops.core.episode import Episode, EpisodeGroup
from robustops.core.errors import TableError
from robustops.core.files import read_json, write_atomically
from robustops.core.json_lines import read_lines
from robustops.learn.batch import CreditRules, training_batch
from robustops.learn.credit import BAD_CAP, STOP_CAP, CallTags, Span, spans
from robustops.learn.sampler import judge
from robustops.rollout.run_folder import RUN, TRAJECTORIES
from robustops.rollout.score import Evidence, RewardWeights, Score, score
from robustops.rollout.trajectory import load_episode

GREY, REWARDED, BLAMED, NEUTRAL = "#777777", "#0072b2", "#d55e00", "#000000"  # apart for colour-blind readers
Group = list[Episode]


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """Consecutive tokens alike. `advantage` None: no loss there."""

    text: str
    advantage: float | None
    note: str


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, metavar="EPISODE", help="trajectories.jsonl of an RL run, or its folder")
    parser.add_argument(
        "--slot", default="", metavar="SLOT", help="which group, such as 3/fault/12 (default: the first)"
    )
    parser.add_argument("--member", type=int, default=0, metavar="N", help="which of the group (default: 0)")
    add_model(parser)
    parser.add_argument("--html", type=Path, metavar="OUT", help="write a page instead")


def run(options: argparse.Namespace) -> None:
    path = options.file / TRAJECTORIES if options.file.is_dir() else options.file
    groups = read_groups(path)
    rules = rules_of(path.parent / RUN)
    accepted = {slot: found for slot, group in groups.items() if (found := _accepted(group, rules))}
    slot = options.slot or next(iter(accepted), "")
    if slot not in accepted:
        known = ", ".join(list(accepted)[:5]) or "none"
        reason = "has no signal, or a member that cannot be scored" if slot in groups else "is not there"
        raise TableError(f"{path}: --slot {slot!r} {reason}; accepted ones: {known}")
    if not 0 <= options.member < len(groups[slot]):
        raise TableError(f"--member {options.member}: the group has members 0 to {len(groups[slot]) - 1}")
    codec = Codec.load(options.model, tool_schema="full")
    tags = CallTags(open_id=codec.call_open_id, close_id=codec.call_close_id)
    episode, found = groups[slot][options.member], accepted[slot][options.member]
    advantages = advantages_of(slot, episode, {name: groups[name] for name in accepted}, rules, tags)
    title = _title(slot, options.member, episode, found, advantages)
    shown = list(pieces(episode, found.evidence, advantages, codec, tags))
    if options.html is None:
        draw(Console(), title, shown)
        return
    write_atomically(options.html, page(title, shown).encode())
    print(options.html)


def read_groups(path: Path) -> dict[str, Group]:
    """By slot. Raises TableError for a file without groups: an evaluation plays each case alone."""
    if not path.is_file():
        raise TableError(f"{path}: no such file; give trajectories.jsonl of an RL run, or its folder")
    groups: dict[str, Group] = {}
    for line in read_lines(path):
        slot = line["source"].get("slot")
        if slot is None:
            raise TableError(f"{path}: {line['case_id']} belongs to no group; only RL episodes have advantages")
        groups.setdefault(slot, []).append(load_episode(line))
    return groups


def rules_of(path: Path) -> CreditRules:
    """From a finished run's run.json; the defaults before it is there."""
    config: Mapping[str, Mapping[str, Any]] = read_json(path).get("config", {}) if path.is_file() else {}
    if not config:
        return CreditRules()
    success, progress, quality = config["reward"]["weights"]
    return CreditRules(
        weights=RewardWeights(success=success, progress=progress, quality=quality),
        progress=config["reward"]["progress"],
        norm=config["reward_norm"]["kind"],
        quality_credit=config["reward_norm"]["quality_credit"],
        local_credit=bool(config["algorithm"].get("local_credit", True)),
        length_weight=float(config["reward"].get("length_weight", 0.0)),
    )


def _accepted(group: Group, rules: CreditRules) -> list[Score]:
    """The scores of a group that training took; empty for one that it did not."""
    scores = [score(episode, progress=rules.progress) for episode in group]
    if judge(scores, group_size=len(group), weights=rules.weights, norm=rules.norm) is not None or len(group) < 2:
        return []
    return [found for found in scores if found is not None]


def advantages_of(
    slot: str, episode: Episode, accepted: Mapping[str, Group], rules: CreditRules, tags: CallTags
) -> list[float]:
    """Of each trained token of the episode; the groups of its step are one batch."""
    step = slot.split("/")[0]
    batch = [
        EpisodeGroup(group_id=name, condition=group[0].case.condition, episodes=tuple(group))
        for name, group in accepted.items()
        if name.split("/")[0] == step
    ]
    rows = training_batch(batch, rules, tags).trajectories
    case_id = episode.case.case_id
    row = next((row for row in rows if (row.group_id, row.case_id) == (slot, case_id)), None)
    return [] if row is None else row.advantage_T[row.is_trained_T].tolist()


def pieces(
    episode: Episode, evidence: Evidence, advantages: Sequence[float], codec: Codec, tags: CallTags
) -> Iterator[Piece]:
    """The whole sequence in order: context without loss, sampled tokens by equal advantage."""
    notes = _notes(episode, evidence, tags, len(advantages))
    offset = 0
    for turn in episode.turns:
        inherited = () if turn.generated else turn.sampled_ids
        yield Piece(text=codec.decode([*turn.context_ids, *inherited]), advantage=None, note="")
        if not turn.generated:
            continue
        places = range(offset, offset + len(turn.sampled_ids))
        offset = places.stop
        for (advantage, note), run in groupby(places, key=lambda place: (advantages[place], notes[place])):
            ids = [turn.sampled_ids[place - places.start] for place in run]
            yield Piece(text=codec.decode(ids), advantage=advantage, note=note)


def _notes(episode: Episode, evidence: Evidence, tags: CallTags, num_tokens: int) -> list[str]:
    """Why a cap applies to a trained token, in the order in which caps win."""
    notes = [""] * num_tokens
    marked = spans(episode, evidence, tags)

    def write(span: Span, note: str) -> None:
        notes[span.start : span.stop] = [note] * (span.stop - span.start)

    is_failed = episode.end is not None and not episode.end.strict
    if marked.native_stop is not None and is_failed:
        write(marked.native_stop, f"stop of a failure, at most {STOP_CAP:g}")
    for span in marked.repeated:
        write(span, f"repeated read, at most {BAD_CAP:g}")
    for call, span in zip(evidence.bad, marked.bad, strict=True):
        write(span, f"bad call: {call.reason.replace('_', ' ')}, at most {BAD_CAP:g}")
    return notes


def _title(slot: str, member: int, episode: Episode, found: Score, advantages: Sequence[float]) -> str:
    mean = sum(advantages) / max(1, len(advantages))
    return (
        f"{slot}, member {member}: {episode.case.case_id}, S {int(found.success)}, P {found.progress}, "
        f"Q {found.quality}, {len(advantages)} trained tokens of mean advantage {mean:+.3f}"
    )


def _colour(advantage: float | None) -> str:
    if advantage is None:
        return GREY
    return REWARDED if advantage > 0 else BLAMED if advantage < 0 else NEUTRAL


def _label(piece: Piece) -> str:
    return f"{piece.advantage:+.3f}" + (f" {piece.note}" if piece.note else "")


def draw(console: Console, title: str, shown: Sequence[Piece]) -> None:
    console.rule(Text(title, style="bold"))
    for piece in shown:
        if piece.advantage is None:
            console.print(Text(piece.text, style=GREY), end="", soft_wrap=True)
            continue
        style = "bold" if piece.advantage == 0 else f"bold {_colour(piece.advantage)}"
        console.print(
            Text(piece.text, style=style), Text(f"[{_label(piece)}]", style=f"reverse {style}"), soft_wrap=True
        )
    console.print()


def page(title: str, shown: Sequence[Piece]) -> str:
    """One page without scripts; every text is escaped. The stronger the colour, the larger the advantage."""
    largest = max((abs(piece.advantage) for piece in shown if piece.advantage is not None), default=1.0) or 1.0
    body = []
    for piece in shown:
        text = html.escape(piece.text)
        if piece.advantage is not None:
            strength = round(255 * 0.5 * abs(piece.advantage) / largest)
            style = f"background:{_colour(piece.advantage)}{strength:02x}"
            text = f'<mark style="{style}">{text}</mark><small>{html.escape(_label(piece))}</small>'
        body.append(text)
    return (
        "<!doctype html><html lang=en><meta charset=utf-8><title>Advantages</title><style>"
        "body{font:15px/1.5 system-ui;margin:2em auto;max-width:70em}"
        f"pre{{white-space:pre-wrap;font:13px/1.6 monospace;color:{GREY}}}mark{{color:#000}}"
        "small{border:1px solid;border-radius:3px;padding:0 3px;margin:0 3px;font:11px system-ui}</style>"
        f"<h1>Token advantages</h1><p>{html.escape(title)}</p><p>Blue was made likelier, orange less likely; grey text "
        f"carries no loss.</p><pre>{''.join(body)}</pre></html>\n"
    )
