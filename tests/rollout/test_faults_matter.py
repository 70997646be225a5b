"""The experiment that compares careful and careless scripts: its demands can fail, and a small run says who loses."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from robustops.data.synth.generate import generate

SCRIPT = Path(__file__).resolve().parents[2] / "experiments" / "faults_matter" / "table.py"


@pytest.fixture(scope="module")
def table() -> ModuleType:
    spec = importlib.util.spec_from_file_location("faults_matter_table", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # its dataclasses look themselves up there
    spec.loader.exec_module(module)
    return module


def measured(table: ModuleType, name: str, *, n: int = 120, expert: int = 120, naive: int = 0, hasty: int = 0):
    def solved(num: int) -> list[bool]:
        return [index < num for index in range(n)]

    return table.Measured(
        name=name,
        num_added=0,
        expert=solved(expert),
        naive=solved(naive),
        hasty=solved(hasty),
        honest=solved(expert),
    )


@pytest.mark.parametrize(
    ("name", "counts", "failure"),
    [
        ("throttled", {}, None),
        ("throttled", {"n": 99, "expert": 99}, "n = 99"),
        ("throttled", {"expert": 117}, "expert 97.5%"),  # 118 of 120 are 98.3%
        ("throttled", {"naive": 97}, "difference +19.2"),  # 23 of 120
        ("throttled", {"naive": 96}, None),  # 24 of 120 are 20 points
        ("throttled", {"hasty": 120}, None),  # not the script that it is aimed at
        ("lost_ack", {"naive": 120}, None),
        ("lost_ack", {"hasty": 120}, "difference 0.0"),
        ("silent_noop", {"expert": 0}, None),  # the stress pack has no demands
    ],
)
def test_a_demand_that_is_not_met_is_named(table: ModuleType, name: str, counts: dict, failure: str | None) -> None:
    found = measured(table, name, **counts).failures
    assert len(found) == (failure is not None)
    if failure is not None:
        assert failure in found[0]


async def test_a_small_run_shows_who_loses_by_what(table: ModuleType, tmp_path: Path) -> None:
    generate(tmp_path, domains=["csm"], num_train=0, num_val=0, num_test=14, seed=7)
    stage = table.Stage(tmp_path, 12)
    throttled = await stage.measure("throttled", ("throttled",), 0)
    assert (throttled.expert, throttled.naive, throttled.hasty) == ([True] * 14, [False] * 14, [True] * 14)
    assert throttled.num_added == 2  # twelve are the split; the others are drawn for want of a hundred
    probe = await stage.measure("timeout_not_committed", ("timeout_not_committed",), 0)
    assert (sum(probe.expert), sum(probe.naive), sum(probe.hasty)) == (14, 0, 14)
    assert await stage.measure("stale_read", ("stale_read",), 0) is None
    lines = table.as_markdown([throttled, probe]).splitlines()
    assert lines[2].startswith("| `throttled` | 14 (2) | 100.0% | **0.0%** | 100.0% |")
