"""The demo's own logic: what is repeated, what is resumed, what is thrown away. The phases themselves are faked."""

from __future__ import annotations

from pathlib import Path

from robustops.demo import Journal, Phase, phases, play


def phase(name: str, *arguments: str) -> Phase:
    return Phase(name=name, title=name, arguments=arguments, expected_s=1)


class Runner:
    """Leaves a file in the phase's folder and fails where told to."""

    def __init__(self, folder: Path, *, fails: str = "") -> None:
        self.folder, self.fails = folder, fails
        self.ran: list[str] = []
        self.found: list[bool] = []  # whether the phase's folder held something when it began

    def __call__(self, arguments: tuple[str, ...]) -> int:
        name = arguments[0]
        self.ran.append(name)
        self.found.append((self.folder / name).exists())
        (self.folder / name).mkdir(exist_ok=True)
        return 130 if name == self.fails else 0


PLAN = [phase("a", "a", "seed=0"), phase("b", "b", "seed=0"), phase("report", "report")]


def test_finished_phases_are_not_repeated_but_the_report_is(tmp_path: Path) -> None:
    assert play(PLAN, Journal(tmp_path), run=Runner(tmp_path)) == 0
    again = Runner(tmp_path)
    assert play(PLAN, Journal(tmp_path), run=again) == 0
    assert again.ran == ["report"]


def test_an_interrupted_phase_goes_on_in_its_folder(tmp_path: Path) -> None:
    assert play(PLAN, Journal(tmp_path), run=Runner(tmp_path, fails="b")) == 130
    again = Runner(tmp_path)
    assert play(PLAN, Journal(tmp_path), run=again) == 0
    assert (again.ran, again.found) == (["b", "report"], [True, False])


def test_a_changed_phase_and_all_after_it_begin_from_nothing(tmp_path: Path) -> None:
    play(PLAN, Journal(tmp_path), run=Runner(tmp_path))
    again = Runner(tmp_path)
    changed = [phase("a", "a", "seed=1"), *PLAN[1:]]
    assert play(changed, Journal(tmp_path), run=again) == 0
    assert (again.ran, again.found) == (["a", "b", "report"], [False, False, False])


def test_an_interrupted_phase_of_another_seed_is_not_resumed(tmp_path: Path) -> None:
    play(PLAN, Journal(tmp_path), run=Runner(tmp_path, fails="a"))
    again = Runner(tmp_path)
    play([phase("a", "a", "seed=1"), *PLAN[1:]], Journal(tmp_path), run=again)
    assert again.found[0] is False


def test_every_phase_writes_into_the_folder_of_its_name(tmp_path: Path) -> None:
    for one in phases(tmp_path, seed=3):
        place = f"--out {tmp_path}/report" if one.name == "report" else f"run.dir={tmp_path}/{one.name}"
        assert place in " ".join(one.arguments)
        assert one.name == "report" or "seed=3" in one.arguments
