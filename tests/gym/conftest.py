"""Prints, at the end of a run, how many tools of each domain were executed, and how."""

from __future__ import annotations

import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reports = [report for kind in ("passed", "failed") for report in terminalreporter.stats.get(kind, [])]
    lines = [value for report in reports for name, value in report.user_properties if name == "executed_tools"]
    if lines:
        terminalreporter.section("tools executed")
        for line in lines:
            terminalreporter.line(line)
