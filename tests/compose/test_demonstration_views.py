"""`show trajectory` and `show graph`: what is coloured, struck out and led to, and mistakes in one line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from robustops.agent.codec import Codec
from robustops.compose.show.graph import levels, page
from robustops.compose.show.options import TINY_BASE
from robustops.compose.show.trajectory import COLOURS
from robustops.core.task import Check, CheckGraph
from robustops.data.sft import MaskSpan, SampleFacts, SftSample, save_samples
from robustops.data.synth.generate import generate
from robustops.show import main


@pytest.fixture(scope="module")
def codec() -> Codec:
    return Codec.load(TINY_BASE, tool_schema="compact")


@pytest.fixture
def file(tmp_path: Path, codec: Codec) -> Path:
    """Two demonstrations: context, planning, a call, an answer; the second with a fault."""
    texts = (("context", "policy <b>"), ("planning", "let me see"), ("call", "the call"), ("final_answer", "Done."))
    samples = []
    for source, fault in (("run/t|clean", ""), ("run/t|fault", "lost_ack")):
        ids, spans = [], []
        for reason, text in texts:
            start = len(ids)
            ids += codec.encode(text)
            spans.append(MaskSpan(start=start, end=len(ids), reason=reason))
        facts = SampleFacts(task_id="t", domain="csm", tool_mode="oracle", condition="clean", fault=fault)
        samples.append(SftSample(source=source, token_ids=tuple(ids), spans=tuple(spans), facts=facts))
    save_samples(tmp_path / "sft.jsonl", samples, split="train", source="test")
    return tmp_path / "sft.jsonl"


def test_the_terminal_shows_each_text_with_the_reason_of_its_mask(file, capsys):
    assert main(["trajectory", str(file)]) == 0
    shown = capsys.readouterr().out
    assert "policy <b>" in shown
    assert re.search(r"let me see \[planning, \d+ tokens of 0\.00000\]", shown)
    assert re.search(r"the call \[call, \d+ tokens of 0\.\d*[1-9]", shown)
    assert "run/t|fault" not in shown, "one is shown unless more are asked for"


def test_the_page_marks_what_is_supervised_and_strikes_out_what_is_not(file, tmp_path):
    out = tmp_path / "page.html"
    assert main(["trajectory", str(file.parent), "--limit", "2", "--html", str(out)]) == 0
    page = out.read_text()
    assert re.search(rf'<mark style="color:{COLOURS["call"]}">the call <small>call', page)
    assert re.search(rf'<del style="color:{COLOURS["planning"]}">let me see <small>planning', page)
    assert "policy &lt;b&gt;" in page, "texts are escaped"
    assert page.count("<h2>") == 2
    assert "lost_ack" in page


def test_a_part_of_the_source_chooses(file, capsys):
    assert main(["trajectory", str(file), "--source", "fault"]) == 0
    assert "lost_ack" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--source", "nowhere"], "no source among its 2 holds 'nowhere'"),
        (["--model", "/nowhere"], "no such model folder"),
    ],
)
def test_a_mistake_is_one_line(file, capsys, arguments, message):
    assert main(["trajectory", str(file), *arguments]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert len(error.splitlines()) == 1


def test_tokens_of_another_model_are_refused(tmp_path, capsys):
    spans = (MaskSpan(start=0, end=1, reason="context"), MaskSpan(start=1, end=2, reason="call"))
    save_samples(
        tmp_path / "sft.jsonl", [SftSample(source="s", token_ids=(1, 99_999), spans=spans)], split="train", source="t"
    )
    assert main(["trajectory", str(tmp_path / "sft.jsonl")]) == 2
    assert "token id 99999, but this model has" in capsys.readouterr().err


def test_checks_stand_at_the_length_of_the_longest_way_to_them():
    """0 before 1 before 2, and 0 before 2 as well: 2 stands last. 3 has nothing before it."""
    assert levels(CheckGraph(num_checks=4, edges=((0, 1), (1, 2), (0, 2)))) == [[0, 3], [1], [2]]


@pytest.fixture(scope="module")
def tasks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("graphs") / "set"
    generate(root, domains=["csm"], num_train=16, num_val=0, num_test=0, seed=4, num_rows=12)
    return root


def with_edges(root: Path) -> str:
    text = (root / "graphs.jsonl").read_text()
    found = re.search(r'"edges": \[\[\d+, \d+\].*"task_id": "([^"]+)"', text)
    assert found
    return found.group(1)


def test_a_graph_is_drawn_with_an_arrow_for_each_edge(tasks, tmp_path, capsys):
    task = with_edges(tasks)
    assert main(["graph", task, "--tasks", str(tasks)]) == 0
    assert "needs" in capsys.readouterr().out
    assert main(["graph", task, "--tasks", str(tasks), "--html", str(tmp_path / "g.html")]) == 0
    shown = (tmp_path / "g.html").read_text()
    assert shown.count("marker-end") == 1
    assert shown.count("<rect") == 4
    assert "1 prerequisites" in shown
    assert "no evidence is stored" in shown, "why an edge is there is read without a pointer over it"


def test_an_arrow_past_a_column_runs_below_its_boxes():
    """Three columns of boxes 260 wide, 90 apart, 58 high, 22 below each other: the long arrow bends at 16 + 58 + 11."""
    checks = [Check(index=i, kind="database_state", name=f"check {i}", gym=None) for i in range(3)]
    shown = page("t", "", checks, CheckGraph(num_checks=3, edges=((0, 1), (1, 2), (0, 2))), {})
    assert re.findall(r'<path d="(M[^"]*)" class=arrow', shown) == [
        "M276,45L366,45",
        "M626,45L716,45",
        "M276,45L321,85L671,85L716,45",
    ]


def test_an_unknown_task_is_one_line(tasks, capsys):
    assert main(["graph", "csm-nowhere", "--tasks", str(tasks)]) == 2
    assert "is not in this split" in capsys.readouterr().err
