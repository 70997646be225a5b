"""Run one of the notebooks on run folders: the same notebook, with its outputs, out.

    python -m analysis.notebook results eval_base eval_rl --out results.ipynb

Notebooks: results, training, faults, tasks, equivalence (of two runs). They call this package and compute nothing of
their own; each takes its runs from the first cell, where an editor can change them.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from analysis.arguments import answer, command_parser, parse
from analysis.document import Document, Section
from analysis.render import section_html
from robustops.core.errors import UserError
from robustops.core.files import write_atomically

FOLDER = Path(__file__).resolve().parent / "notebooks"
RUNS = "ROBUSTOPS_RUNS"  # how the command tells the notebook its runs
SECONDS_PER_CELL = 600


class Shown:
    """What a notebook shows of a section or document: the report's own HTML, and text where there is no HTML."""

    def __init__(self, html: str, text: str) -> None:
        self._html, self._text = html, text

    def _repr_html_(self) -> str:
        return self._html

    def __repr__(self) -> str:
        return self._text


def show(*parts: Section | Document | None) -> Shown:
    """A section that a run has no data for (None) is passed over."""
    sections: list[Section] = []
    html = ""
    for part in parts:
        if isinstance(part, Document):
            html += "".join(f"<p>{escape(sentence)}</p>" for sentence in part.summary)
            sections += part.sections
        elif part is not None:
            sections.append(part)
    html += "".join(section_html(section) for section in sections)
    return Shown(html or "<p>These runs hold nothing to show here.</p>", ", ".join(s.title for s in sections))


def run_folders(*defaults: str) -> list[Path]:
    """The runs that the command was given, else those written in the notebook, from the repository's root."""
    given = os.environ.get(RUNS)
    if given:
        return [Path(text) for text in given.split(os.pathsep)]
    return [FOLDER.parents[1] / text for text in defaults]


def execute(name: str, runs: Sequence[Path], out: Path) -> None:
    """Raises UserError for an unknown notebook, missing tools or a cell that fails."""
    source = FOLDER / f"{name}.ipynb"
    if not source.is_file():
        known = ", ".join(sorted(path.stem for path in FOLDER.glob("*.ipynb")))
        raise UserError(f"notebook {name!r}: no such notebook; expected one of {known}")
    nbformat, nbclient = _tools()
    notebook = nbformat.read(source, as_version=4)
    os.environ[RUNS] = os.pathsep.join(str(run.resolve()) for run in runs)
    paths = [str(FOLDER.parents[1]), os.environ.get("PYTHONPATH", "")]
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    client = nbclient.NotebookClient(notebook, timeout=SECONDS_PER_CELL, kernel_name="python3")
    client.config.KernelManager.transport = "ipc"  # files of this user instead of open ports
    try:
        client.execute()
    except nbclient.exceptions.CellExecutionError as error:
        raise UserError(f"notebook {name!r}: {error.ename}: {error.evalue}") from error
    write_atomically(out, nbformat.writes(notebook).encode())


def _tools() -> tuple[Any, Any]:
    try:
        import nbclient  # here and not above: the rest of this package does without Jupyter
        import nbformat
    except ModuleNotFoundError as error:
        raise UserError(f"{error.name} is not installed; pip install nbclient ipykernel") from error
    return nbformat, nbclient


def main(arguments: Sequence[str] | None = None) -> int:
    return answer(lambda: _run(_parse(arguments)))


def _run(args: argparse.Namespace) -> None:
    out = args.out or args.runs[-1] / f"{args.name}.ipynb"
    execute(args.name, args.runs, out)
    print(f"notebook: {out}")


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = command_parser("analysis.notebook", __doc__)
    parser.add_argument("name", metavar="NAME", help="results, training, faults, tasks or equivalence")
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUN", help="run folders")
    parser.add_argument("--out", type=Path, metavar="FILE", help="executed notebook (default: in the last run)")
    return parse(parser, arguments)


if __name__ == "__main__":
    sys.exit(main())
