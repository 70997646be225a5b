"""What every test may use: the sizes of long tests, and the table of the long ones."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hydra import initialize_config_dir
from hypothesis import HealthCheck, settings
from omegaconf import OmegaConf

from robustops import cli
from robustops.config import register

ROOT = Path(__file__).resolve().parents[1]
IS_FULL_SIZE = os.environ.get("ROBUSTOPS_TEST_SIZE") == "full"

# A busy machine makes no test fail: nothing is judged by its seconds.
settings.register_profile("unhurried", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("unhurried")


@pytest.fixture(scope="session")
def shared() -> Path:
    """The design notes and public benchmark data beside the checkout; the test is skipped where they are absent."""
    folder = ROOT.parent / "shared"
    if not folder.is_dir():
        pytest.skip("the shared benchmark data is not beside this checkout")
    return folder


@pytest.fixture(scope="session")
def sized():
    """Give a long test its size: `sized(200)` is 200 under `make test-all` and 20 otherwise."""
    return lambda full, least=1: full if IS_FULL_SIZE else max(least, full // 10)


@pytest.fixture(scope="module")
def hydra_knows_the_tree() -> Iterator[None]:
    """Configurations can be composed in this process, from any folder."""
    register()
    OmegaConf.register_new_resolver("robustops_assets", lambda name: str(cli.PACKAGE / "assets" / name), replace=True)
    OmegaConf.register_new_resolver("robustops_groups", cli.list_groups, replace=True)
    with initialize_config_dir(str(cli.conf_dir()), version_base="1.3"):
        yield


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--report-table", metavar="FILE", help="write each test's outcome and seconds to a Markdown table")


def pytest_terminal_summary(terminalreporter, exitstatus, config) -> None:
    path = config.getoption("--report-table")
    if not path:
        return
    reports = [report for kind in ("passed", "failed", "skipped") for report in terminalreporter.stats.get(kind, [])]
    rows = sorted((report.nodeid, report.outcome, f"{report.duration:.1f}") for report in reports)
    table = ["| test | outcome | seconds |", "|---|---|---|", *(f"| {' | '.join(row)} |" for row in rows)]
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text("\n".join(table) + "\n")
