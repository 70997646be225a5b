"""Prints, at the end of a run, how many tools of each domain were executed, and how far recorded runs agree."""

from __future__ import annotations

import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reports = [report for kind in ("passed", "failed") for report in terminalreporter.stats.get(kind, [])]
    for wanted, title in (("executed_tools", "tools executed"), ("agreement", "agreement with recorded runs")):
        lines = [value for report in reports for name, value in report.user_properties if name == wanted]
        if lines:
            terminalreporter.section(title)
            for line in lines:
                terminalreporter.line(line)
