"""`show faults`: every call of a task, what each kind would show, and the examples of the documentation."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from robustops.data.synth.generate import generate
from robustops.faults.catalogue import KINDS
from robustops.show import main

DOCS = Path(__file__).resolve().parents[2] / "docs" / "faults.md"
TASK = "csm-test-00006"


@pytest.fixture(scope="module")
def tasks(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The beginning of the default test split."""
    root = tmp_path_factory.mktemp("synthetic")
    generate(root, domains=["csm"], num_train=0, num_val=0, num_test=7, seed=7)
    return str(root)


def test_the_examples_of_the_documentation_are_what_the_command_prints(
    tasks: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["faults", TASK, "--tasks", tasks, "--markdown", "--chars", "200"]) == 0
    printed = capsys.readouterr().out.strip()
    written = re.search("<!-- examples -->\n(.*)<!-- end of examples -->", DOCS.read_text(), re.DOTALL)
    assert written is not None
    assert written.group(1).strip() == printed
    shown = re.findall(r"^\*\*`(\w+)`\*\*", printed, re.MULTILINE)
    assert shown == [name for name in KINDS if name != "stale_read"]  # the task reads nothing that it has written


def test_every_call_is_shown_with_what_could_hit_it(tasks: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["faults", TASK, "--tasks", tasks, "--subtype", "lost_ack", "--subtype", "partial_list"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "1. find_account" in printed
    assert "2. find_contracts" in printed
    assert "3. update_contract" in printed
    assert printed.count("lost_ack (explicit, transient; written)") == 1
    assert printed.count("partial_list (explicit, transient; a read)") == 1
    assert printed.count("not: ") == 3  # each call is hit by one of the two at most
    assert "throttled" not in printed


def test_a_page_holds_the_same_in_colour(tasks: str, tmp_path: Path) -> None:
    page = tmp_path / "faults.html"
    assert main(["faults", TASK, "--tasks", tasks, "--html", str(page)]) == 0
    text = page.read_text()
    assert "schema_drift" in text
    assert "#d55e00" in text  # the colour of what does not announce itself


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--subtype", "lost_akc"], "--subtype: got 'lost_akc', expected one of throttled"),
        (["--intensity", "2"], "--intensity: got 2.0, expected 0 to 1"),
    ],
)
def test_a_mistake_is_one_line(
    tasks: str, arguments: list[str], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["faults", TASK, "--tasks", tasks, *arguments]) == 2
    said = capsys.readouterr().err
    assert expected in said
    assert said.count("\n") == 1
