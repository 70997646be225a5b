"""Look at one thing, in the terminal in colour or as an HTML page: `python -m robustops.show --help`.

Each view is a module of `robustops.compose.show` with `add_arguments(parser)` and `run(options)`; only the one that is
asked for is imported.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence

from robustops.core.errors import RobustopsError

VIEWS: dict[str, str] = {
    "advantages": "The advantage of every token of a training episode, and why.",
    "faults": "Where faults could hit a task, and what each would show.",
    "graph": "A task's checks and which is a prerequisite of which.",
    "trajectory": "What of a demonstration is supervised, and why the rest is not.",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Show what the arguments name; 0 done, 2 a mistake of the user."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    parser = argparse.ArgumentParser(
        prog="python -m robustops.show",
        description="Look at one thing in the terminal in colour or as an HTML page. `VIEW --help` says more.",
    )
    views = parser.add_subparsers(dest="view", required=True, metavar="VIEW")
    for name, summary in VIEWS.items():
        view = views.add_parser(name, help=summary, description=summary)
        if words[:1] == [name]:
            module = importlib.import_module(f"robustops.compose.show.{name}")
            module.add_arguments(view)
            view.set_defaults(run=module.run)
    options = parser.parse_args(words)
    try:
        options.run(options)
    except RobustopsError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
