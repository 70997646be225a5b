"""Show a demonstration with its mask: supervised text in colour, the rest with the reason why it carries no loss."""

from __future__ import annotations

import argparse
import html
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.console import Console
from rich.text import Text

from robustops.agent.codec import Codec
from robustops.compose.show.options import add_model
from robustops.core.errors import TableError
from robustops.core.files import write_atomically
from robustops.data.sft import SAMPLES, MaskReason, MaskSpan, SftSample, load_samples

# Colours that stay apart for colour-blind readers: blue and green teach, orange and red are kept out for cause.
COLOURS: dict[MaskReason, str] = {
    "call": "#0072b2",
    "final_answer": "#009e73",
    "grounded_narration": "#56b4e9",
    "narration": "#e69f00",
    "planning": "#e69f00",
    "unsupported": "#d55e00",
    "malformed": "#d55e00",
    "invalid_call": "#d55e00",
    "repeated_read": "#cc79a7",
    "forced_stop": "#cc79a7",
}
GREY = "#777777"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, metavar="FILE", help="an SFT file (sft.jsonl), or a collect run folder")
    parser.add_argument("--source", default="", metavar="TEXT", help="show those whose source holds this text")
    parser.add_argument("--limit", type=int, default=1, metavar="N", help="how many to show (default: 1)")
    add_model(parser)
    parser.add_argument("--html", type=Path, metavar="OUT", help="write a page instead")


def run(options: argparse.Namespace) -> None:
    path = options.file / SAMPLES if options.file.is_dir() else options.file
    _, samples = load_samples(path)
    chosen = [sample for sample in samples if options.source in sample.source][: options.limit]
    if not chosen:
        raise TableError(f"{path}: no source among its {len(samples)} holds {options.source!r}")
    codec = Codec.load(options.model, tool_schema="full")
    _require_tokens(codec, chosen, path)
    if options.html is None:
        for sample in chosen:
            draw(Console(), sample, codec)
        return
    write_atomically(options.html, page(chosen, codec).encode())
    print(options.html)


def _require_tokens(codec: Codec, samples: Sequence[SftSample], path: Path) -> None:
    highest = max(max(sample.token_ids) for sample in samples)
    if highest >= codec.vocabulary_size:
        raise TableError(
            f"{path}: token id {highest}, but this model has {codec.vocabulary_size} tokens; say whose they are: "
            "--model FOLDER"
        )


def pieces(sample: SftSample, codec: Codec) -> Iterator[tuple[MaskSpan, str]]:
    """The text of each span."""
    for span in sample.spans:
        yield span, codec.decode(sample.token_ids[span.start : span.end])


def heading(sample: SftSample) -> str:
    supervised = sum(span.num_tokens for span in sample.spans if span.is_supervised)
    facts = [sample.facts.domain, sample.facts.tool_mode, sample.facts.fault or sample.facts.condition]
    return (
        f"{sample.source} ({', '.join(filter(None, facts)) or 'no facts'}): {len(sample.token_ids)} tokens, "
        f"{supervised} supervised in {sample.num_decisions} decisions"
    )


def draw(console: Console, sample: SftSample, codec: Codec) -> None:
    console.rule(Text(heading(sample), style="bold"))
    weights = sample.weights
    for span, text in pieces(sample, codec):
        if span.reason == "context":
            console.print(Text(text, style=GREY), end="", soft_wrap=True)
            continue
        colour = COLOURS.get(span.reason, GREY)
        style = f"bold {colour}" if span.is_supervised else f"{colour} strike"
        console.print(Text(text, style=style), end="", soft_wrap=True)
        note = f" [{span.reason}, {span.num_tokens} tokens of {weights[span.start]:.5f}]"
        console.print(Text(note, style=f"reverse {colour}"))
    console.print()


def page(samples: Sequence[SftSample], codec: Codec) -> str:
    """One page without scripts; every text is escaped."""
    legend = "".join(f'<span style="border-color:{colour}">{reason}</span> ' for reason, colour in COLOURS.items())
    body = "".join(_article(sample, codec) for sample in samples)
    return (
        "<!doctype html><html lang=en><meta charset=utf-8><title>Demonstrations</title><style>"
        ":root{color-scheme:light dark}@media(prefers-color-scheme:dark){mark,del{filter:brightness(1.6)}}"
        "body{font:15px/1.5 system-ui;margin:2em auto;max-width:70em}pre{white-space:pre-wrap;font:13px/1.6 monospace}"
        f"pre{{color:{GREY}}}pre mark{{background:none;font-weight:bold}}h2{{font-size:1.1em}}"
        "pre del{text-decoration-thickness:1px}"
        "small{border:1px solid;border-radius:3px;padding:0 3px;font:11px system-ui}"
        "p span{border-left:1em solid;padding-left:.4em}</style>"
        f"<h1>Demonstrations</h1><p>Bold text is supervised; struck text stays in the context without loss.</p>"
        f"<p>{legend}</p>{body}</html>\n"
    )


def _article(sample: SftSample, codec: Codec) -> str:
    weights = sample.weights
    parts = [f"<h2>{html.escape(heading(sample))}</h2><pre>"]
    for span, text in pieces(sample, codec):
        shown = html.escape(text)
        if span.reason != "context":
            tag = "mark" if span.is_supervised else "del"
            note = f"<small>{span.reason} {span.num_tokens} x {weights[span.start]:.5f}</small>"
            colour = COLOURS.get(span.reason, GREY)
            shown = f'<{tag} style="color:{colour}">{shown} {note}</{tag}>\n'
        parts.append(shown)
    return "".join((*parts, "</pre>"))
