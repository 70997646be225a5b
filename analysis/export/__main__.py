"""A run folder in, one file in another project's format out.

    python -m analysis.export eval_rl --format telemetry --out turns.jsonl
    python -m analysis.export eval_rl --format atif --out trajectories.atif.jsonl
    python -m analysis.export eval_rl --format inspect --out eval_rl.json

telemetry: a JSON line a turn, with the benchmark's 21 fields and six more. atif: the agent trajectory interchange
format, a trajectory a line. inspect: a log that `inspect view` opens. Reads result files only.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from analysis.arguments import answer, command_parser, parse
from analysis.export.atif import atif_lines
from analysis.export.inspect_log import inspect_log
from analysis.export.telemetry import telemetry_lines
from analysis.source import Source, open_sources
from robustops.core.errors import UserError
from robustops.core.files import write_atomically

LINES: Mapping[str, Callable[[Source, Sequence[str]], Iterable[Mapping[str, Any]]]] = {
    "telemetry": telemetry_lines,
    "atif": atif_lines,
}


def main(arguments: Sequence[str] | None = None) -> int:
    return answer(lambda: _run(_parse(arguments)))


def _run(args: argparse.Namespace) -> None:
    (source,) = open_sources([args.run])
    conditions = (args.condition,) if args.condition else ("clean", "fault")
    if args.format == "inspect":
        log = inspect_log(source, conditions)
        text, count = json.dumps(log, ensure_ascii=False, indent=1) + "\n", len(log["samples"])
    else:
        lines = [json.dumps(line, ensure_ascii=False) for line in LINES[args.format](source, conditions)]
        text, count = "".join(line + "\n" for line in lines), len(lines)
    _write(args.out, text)
    print(f"{args.out}: {count} {'turns' if args.format == 'telemetry' else 'episodes'}")


def _write(path: Path, text: str) -> None:
    try:
        write_atomically(path, text.encode())
    except OSError as error:
        raise UserError(f"{path}: cannot write there ({error.strerror}); give another file with --out") from error


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = command_parser("analysis.export", __doc__)
    parser.add_argument("run", type=Path, metavar="RUN", help="run folder of an evaluation")
    parser.add_argument("--format", required=True, choices=(*LINES, "inspect"))
    parser.add_argument("--out", required=True, type=Path, metavar="FILE")
    parser.add_argument("--condition", choices=("clean", "fault"), help="only those cases (default: both)")
    return parse(parser, arguments)


if __name__ == "__main__":
    sys.exit(main())
