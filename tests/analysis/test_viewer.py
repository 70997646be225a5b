"""The viewer in a real browser: it opens from disk, searches, filters, opens and compares; recorded text stays text."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from analysis.source import open_sources
from analysis.viewer.__main__ import main
from analysis.viewer.pages import script_json, write_pages
from tests.analysis.browser import Browser, find_chromium
from tests.analysis.run_folders import MakeRun, faulted, outcomes, row, trajectory, write_run

EVIL = "</script><script>window.hacked = 1</script><img src=x onerror='window.hacked = 1'>\u2028]]>"


@pytest.fixture
async def browser() -> AsyncIterator[Browser]:
    program = find_chromium()
    if program is None:
        pytest.skip("no Chromium on this machine: install it (Debian: apt install chromium) to test the viewer")
    async with Browser(program) as opened:
        yield opened


def two_runs(make_run: MakeRun) -> list[Path]:
    clean_a, clean_b = outcomes("1100"), outcomes("1010")
    return [make_run("base", [*clean_a, *faulted(clean_a)]), make_run("rl", [*clean_b, *faulted(clean_b)])]


def rewrite(folder: Path, change: Any) -> None:
    """Apply `change` to every trajectory of a run folder."""
    path = folder / "trajectories.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for line in lines:
        change(line)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


async def count_of(browser: Browser) -> str:
    return await browser.run("byId('count').textContent")


async def choose(browser: Browser, name: str, value: str, event: str = "change") -> None:
    await browser.run(f"byId('{name}').value = {json.dumps(value)}; byId('{name}').dispatchEvent(new Event('{event}'))")


async def test_search_filter_open_and_compare_in_a_browser(make_run: MakeRun, tmp_path: Path, browser: Browser) -> None:
    runs = two_runs(make_run)
    rewrite(runs[1], lambda line: line.update(answer="Closed the ticket." if "t002" in line["case_id"] else ""))
    assert main([*map(str, runs), "--out", str(tmp_path / "viewer")]) == 0
    assert [path.name for path in (tmp_path / "viewer").iterdir()] == ["index.html"]  # a small run is a single file
    await browser.open(tmp_path / "viewer" / "index.html")
    await browser.until("document.querySelectorAll('.episode').length === 2")
    assert await count_of(browser) == "8 of 8 cases"
    assert await browser.run("[...document.querySelectorAll('.episode h2')].map((e) => e.textContent)") == [
        "Base",
        "RL",
    ]

    await choose(browser, "outcome", "onlyb")  # B alone solves t002, clean and under fault
    assert await count_of(browser) == "2 of 8 cases"
    await choose(browser, "condition", "fault")
    assert await count_of(browser) == "1 of 8 cases"
    await browser.run("document.querySelector('.case').click()")
    await browser.until("location.hash.includes('t002')")
    await browser.until("document.querySelector('h1').textContent === 't002|oracle|fault|0'")
    verdicts = "[...document.querySelectorAll('.facts b')].map((e) => e.textContent)"
    assert await browser.run(verdicts) == ["not solved", "solved"]
    values = "[...document.querySelectorAll('.checks td:last-child')].map((e) => e.textContent)"
    assert await browser.run(values) == ["✓ 3", "✗ closed", "✓ 3", "✓ open"]

    await browser.run("byId('clear').click()")
    await choose(browser, "search", "closed TICKET", "input")
    assert await count_of(browser) == "2 of 8 cases"
    assert browser.errors == []


async def test_an_address_opens_its_case_with_its_two_runs(make_run: MakeRun, tmp_path: Path, browser: Browser) -> None:
    runs = two_runs(make_run)
    main([*map(str, runs), "--out", str(tmp_path)])
    await browser.open(tmp_path / "index.html", "#case=t001%7Coracle%7Cclean%7C0&a=RL&b=Base")
    await browser.until("document.querySelector('h1')?.textContent === 't001|oracle|clean|0'")
    assert await browser.run("[...document.querySelectorAll('.episode h2')].map((e) => e.textContent)") == [
        "RL",
        "Base",
    ]


async def test_recorded_text_can_neither_run_nor_break_the_page(
    make_run: MakeRun, tmp_path: Path, browser: Browser
) -> None:
    run = make_run("base", outcomes("10"))

    def poison(line: dict[str, Any]) -> None:
        line["answer"] = line["error"] = EVIL
        turn = line["turns"][0]
        turn["text"], turn["call"] = EVIL, {"name": EVIL, "arguments": {EVIL: EVIL}}
        reply = {"text": EVIL, "observation": EVIL, "is_error": False, "executed": True, "latency_s": 0.0}
        turn["shown"], turn["native"] = reply, {**reply, "text": EVIL + "!"}
        line["end"]["checks"][0]["value"] = EVIL

    rewrite(run, poison)
    asked = {
        "task_id": "t000",
        "request": EVIL,
        "policy": EVIL,
        "template": EVIL,
        "checks": [{"index": 0, "query": EVIL}],
    }
    (run / "tasks.jsonl").write_text(json.dumps(asked) + "\n")
    main([str(run), "--out", str(tmp_path)])
    await browser.open(tmp_path / "index.html")
    await browser.until("document.querySelector('.turn')")
    assert await browser.run("window.hacked === undefined && document.images.length === 0")
    assert await browser.run("document.querySelector('blockquote').textContent") == EVIL
    assert await browser.run("document.querySelector('.turn header code').textContent") == EVIL
    assert browser.errors == []


async def test_five_thousand_episodes_open_and_scroll_without_freezing(
    tmp_path: Path, browser: Browser, sized: Callable[..., int]
) -> None:
    """At full size: twenty turns each with replies of two thousand characters, and all in 100 MB."""
    num_turns = sized(20, 3)
    max_bytes = num_turns * 5_000_000
    folder = tmp_path / "big"
    write_run(folder, "base", [replace(case, tool_calls=num_turns - 1) for case in outcomes("10" * 2500)], {})
    text = ('{"case_id": 1234, "state": "new"}, ' * 60)[:2000]
    rewrite(folder, lambda line: [turn["shown"].update(text=text) for turn in line["turns"][:-1]])
    pages = write_pages(open_sources([folder]), tmp_path / "viewer", max_bytes=max_bytes)
    assert pages.num_episodes == 5000
    on_disk = sum(path.stat().st_size for path in (tmp_path / "viewer").rglob("*") if path.is_file())
    assert on_disk == pages.num_bytes <= max_bytes
    assert pages.text_limit is not None  # the replies alone are twice as large, so they were cut
    await browser.open(tmp_path / "viewer" / "index.html", "#case=t4321%7Coracle%7Cclean%7C0")
    await browser.until("document.querySelector('h1')?.textContent === 't4321|oracle|clean|0'")
    assert await browser.run("document.querySelectorAll('.turn').length") == num_turns
    assert await browser.run("document.querySelectorAll('.case').length") < 60  # only visible rows are in the page
    timed = "(() => { const start = performance.now(); %s; return performance.now() - start; })()"
    for step in (
        "search.value = 't49'; filterCases(everything)",
        "clear.click()",
        "list.scrollTop = 150000; drawRows()",
    ):
        assert await browser.run(timed % step) < 500  # milliseconds
    assert browser.errors == []


def test_script_data_keep_their_meaning_and_hold_no_markup() -> None:
    text = script_json({"text": EVIL})
    assert json.loads(text) == {"text": EVIL}
    assert not set(text) & set("<>&\u2028\u2029")


async def test_token_advantages_of_a_training_run_are_coloured(
    make_run: MakeRun, tmp_path: Path, browser: Browser
) -> None:
    run = make_run("rl", outcomes("1"))
    rewrite(run, lambda line: line.update(source={"slot": "0/clean/1", "member": 1, "group": "g"}))
    turns = [{"pieces": ["<b>", "c"], "advantages": [0.5, -0.25]}, {"pieces": [], "advantages": []}]
    (run / "advantages.jsonl").write_text(json.dumps({"group": "g", "member": 1, "turns": turns}) + "\n")
    main([str(run), "--out", str(tmp_path / "viewer")])
    await browser.open(tmp_path / "viewer" / "index.html")
    await browser.until("document.querySelector('.tokens span')")
    shown = "[...document.querySelectorAll('.tokens span')].map((e) => [e.textContent, e.title])"
    assert await browser.run(shown) == [["<b>", "advantage +0.5"], ["c", "advantage -0.25"]]


def test_a_folder_that_is_no_run_and_a_place_that_cannot_be_written_are_one_line(
    make_run: MakeRun, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(tmp_path / "nothing")]) == 2
    assert "not a finished run" in capsys.readouterr().err
    (tmp_path / "file").write_text("")
    assert main([str(make_run("base", outcomes("1"))), "--out", str(tmp_path / "file" / "viewer")]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "--out" in error
    assert main([str(tmp_path), "--uot", "x"]) == 2
    assert "did you mean --out?" in capsys.readouterr().err


def test_a_row_without_trajectory_and_a_trajectory_without_row_are_told(make_run: MakeRun, capsys: Any) -> None:
    run = make_run("base", outcomes("11"))
    stray = trajectory(outcomes("1", prefix="x")[0], "base")
    with (run / "trajectories.jsonl").open("a") as file:
        file.write(json.dumps(stray) + "\n")
    assert main([str(run)]) == 2
    assert row(outcomes("1", prefix="x")[0], "base").case_id in capsys.readouterr().err
