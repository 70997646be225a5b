"""Run folders in, a report out: a table in the terminal, report.html (self-contained) and report.md.

    python -m analysis.report eval_base eval_sft eval_rl --training rl --out report

Give the runs in the order Base, SFT, RL: each is compared with the one before it. `--check` first works every verdict
out again from the recorded check values; `--viewer` links cases to their trajectories. Reads result files only.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from analysis.align import align, load_run
from analysis.arguments import answer, command_parser, parse
from analysis.build import build
from analysis.check import check_run
from analysis.document import Document
from analysis.render import to_html, to_markdown, to_terminal
from analysis.sections.training import Curve, read_curves
from robustops.core.errors import TableError, UserError
from robustops.core.files import write_atomically


def main(arguments: Sequence[str] | None = None) -> int:
    return answer(lambda: _run(_parse(arguments)))


def _run(args: argparse.Namespace) -> None:
    runs = [load_run(folder) for folder in args.runs]
    if args.check:
        for run in runs:
            checked = check_run(run.folder)
            print(
                f"{run.folder}: {checked.num_episodes} episodes, {checked.num_values} check values "
                f"({checked.num_judged} without an expected value): every row follows from them"
            )
    alignment = align(runs)
    out = args.out or args.runs[-1] / "report"
    curves = _curves(args.runs, args.training)
    document = build(alignment, title=args.title, curves=curves, viewer=_viewer(args.viewer, out))
    write(document, out)
    to_terminal(document, Console(width=None if sys.stdout.isatty() else 130))
    print(f"report: {out / 'report.html'}\n        {out / 'report.md'}")


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = command_parser("analysis.report", __doc__)
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUN", help="run folder, in the order Base, SFT, RL")
    parser.add_argument(
        "--training", nargs="+", type=Path, default=[], metavar="RUN", help="training run whose metrics.csv is drawn"
    )
    parser.add_argument(
        "--out", type=Path, metavar="DIR", help="where the report goes (default: report/ in the last run)"
    )
    parser.add_argument("--viewer", type=Path, metavar="DIR", help="viewer of these runs; discordant cases link to it")
    parser.add_argument("--title", default="Base, SFT and RL, paired case by case", help="headline of the report")
    parser.add_argument("--check", action="store_true", help="work every verdict out again from trajectories.jsonl")
    return parse(parser, arguments)


def _viewer(folder: Path | None, out: Path) -> str | None:
    """Address of the viewer's page as seen from the report."""
    if folder is None:
        return None
    page = folder / "index.html"
    if not page.is_file():
        raise TableError(
            f"{page}: no such file; write the viewer first: python -m analysis.viewer RUN... --out {folder}"
        )
    return os.path.relpath(page.resolve(), out.resolve())


def _curves(runs: Sequence[Path], training: Sequence[Path]) -> dict[str, list[Curve]]:
    """From the training runs named, which must have metrics, and from evaluated runs that happen to have some."""
    for folder in training:
        if not (folder / "metrics.csv").is_file():
            raise TableError(f"{folder}: no metrics.csv in it; give a folder that `python -m robustops.train` wrote")
    folders = [*training, *(folder for folder in runs if (folder / "metrics.csv").is_file())]
    return {folder.resolve().name: read_curves(folder / "metrics.csv") for folder in folders}


def write(document: Document, out: Path) -> None:
    """Raises UserError where the folder cannot be written."""
    try:
        for section in document.sections:
            for figure in section.figures:
                write_atomically(out / "figures" / f"{figure.name}.svg", figure.svg.encode())
        write_atomically(out / "report.html", to_html(document).encode())
        write_atomically(out / "report.md", to_markdown(document, figures="figures").encode())
    except OSError as error:
        raise UserError(
            f"{out}: cannot write the report there ({error.strerror}); give another folder with --out"
        ) from error


if __name__ == "__main__":
    sys.exit(main())
