"""Command lines of analysis: mistakes in one line, as everywhere else, and a hint at the flag that was meant."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from typing import NoReturn

from robustops.core.errors import UserError


def command_parser(module: str, description: str | None) -> argparse.ArgumentParser:
    """A parser of `python -m MODULE` that raises UserError instead of printing its usage."""
    return _OneLineParser(
        prog=f"python -m {module}",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )


def parse(parser: argparse.ArgumentParser, arguments: Sequence[str] | None) -> argparse.Namespace:
    args, unknown = parser.parse_known_args(arguments)
    if unknown:
        flags = re.findall(r"--[a-z-]+", parser.format_help())
        close = get_close_matches(unknown[0], flags, n=1)
        parser.error(f"unknown argument {unknown[0]!r}; " + (f"did you mean {close[0]}?" if close else "see --help"))
    return args


def answer(command: Callable[[], None], mistakes: tuple[type[Exception], ...] = (UserError,)) -> int:
    """Run a command: 0 when it is done, 2 and one line for a person's mistake."""
    try:
        command()
    except mistakes as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


class _OneLineParser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UserError(f"{message} ({self.prog} --help)")
