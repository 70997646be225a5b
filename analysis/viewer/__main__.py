"""Run folders in, a page to look into their episodes out; it needs a browser, no server and no network.

    python -m analysis.viewer eval_base eval_rl --out viewer

Opens with the first two runs side by side on one case. Up to 200 episodes are one single file; more become data files
beside it, loaded as they are looked at. Reads result files only.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from analysis.arguments import answer, command_parser, parse
from analysis.source import open_sources
from analysis.viewer.pages import write_pages

MAX_MB = 100


def main(arguments: Sequence[str] | None = None) -> int:
    return answer(lambda: _run(_parse(arguments)))


def _run(args: argparse.Namespace) -> None:
    out = args.out or args.runs[-1] / "viewer"
    pages = write_pages(open_sources(args.runs), out, max_bytes=int(args.max_mb * 1_000_000))
    cut = f"; texts cut at {pages.text_limit:,} characters to fit" if pages.text_limit else ""
    print(f"viewer: {out / 'index.html'}\n{pages.num_episodes} episodes, {pages.num_bytes / 1e6:.1f} MB{cut}")


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = command_parser("analysis.viewer", __doc__)
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUN", help="run folder of an evaluation or a training")
    parser.add_argument("--out", type=Path, metavar="DIR", help="where it goes (default: viewer/ in the last run)")
    parser.add_argument("--max-mb", type=float, default=MAX_MB, metavar="MB", help="longer texts are cut to fit")
    return parse(parser, arguments)


if __name__ == "__main__":
    sys.exit(main())
