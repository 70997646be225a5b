"""Cases that missed their fault are sampled again within a bound, and both results are kept."""

from dataclasses import replace
from pathlib import Path

import pytest
from desk_agent import DeskPolicy, careful
from desk_gym import desk_task
from desk_setup import desk_setup

from robustops.agent.policy import Prompt, Sampling
from robustops.core.episode_row import EpisodeRow
from robustops.core.errors import TableError
from robustops.core.files import read_json
from robustops.faults.manifest import Manifest, read_manifest, write_manifest
from robustops.faults.scheduler import Scheduler
from robustops.rollout.evaluate import Evaluation, paired_cases
from robustops.rollout.freeze import freeze
from robustops.rollout.rows import RunIdentity
from robustops.rollout.supplement import Supplement, extra_cases

TASKS = {f"desk/{n}": desk_task(f"desk/{n}", account=name) for n, name in ((1, "Acme"), (2, "Birch"))}
CASES = paired_cases(list(TASKS.values()))
IDENTITY = RunIdentity(run="r1", model="desk", stage="SFT", split="desk/test", seed=5, policy_mode="greedy")


async def manifest_in(path: Path) -> Manifest:
    plans = await freeze(
        desk_setup(DeskPolicy(careful), temperature=0.0), list(TASKS.values()), Scheduler(("lost_ack",), seed=2)
    )
    write_manifest(path, plans, split="desk/test", source="expert")
    return read_manifest(path, split="desk/test", task_ids=TASKS)


def evaluation_in(folder: Path, policy: DeskPolicy, manifest: Manifest, *, most: int = 3) -> Evaluation:
    setup = desk_setup(policy, temperature=0.0)
    warm = replace(setup, sampling=Sampling(temperature=1.0))
    return Evaluation(
        setup=setup,
        tasks=TASKS,
        identity=IDENTITY,
        folder=folder,
        manifest=manifest,
        concurrency=2,
        supplement=Supplement(most=most, setup=warm),
    )


def works_from(task_id: str, attempt: int) -> DeskPolicy:
    """Gives one task up without a call in its first attempts."""

    def decide(prompt: Prompt) -> str:
        is_idle = prompt.task_id == task_id and int(prompt.case_id.rsplit("|", 1)[1]) < attempt
        return "No." if is_idle and "|fault|" in prompt.case_id else careful(prompt)

    return DeskPolicy(decide)


def extras_of(rows: list[EpisodeRow]) -> list[EpisodeRow]:
    return [row for row in rows if row.supplemented]


def test_extra_cases_are_attempts_after_all_planned_ones() -> None:
    cases = paired_cases([TASKS["desk/1"]], attempts=2)
    found = extra_cases(cases, 3)
    assert [case.attempt for case in found["desk/1|oracle|fault|0"]] == [2, 3, 4]
    assert [case.attempt for case in found["desk/1|oracle|fault|1"]] == [5, 6, 7]
    assert set(found) == {"desk/1|oracle|fault|0", "desk/1|oracle|fault|1"}


async def test_a_missed_fault_is_sampled_again_until_it_is_met(tmp_path: Path) -> None:
    manifest, policy = await manifest_in(tmp_path / "m"), works_from("desk/1", 2)
    rows = await evaluation_in(tmp_path / "run", policy, manifest).run(CASES)
    assert [row.case_id for row in rows[:4]] == [case.case_id for case in CASES]
    original = rows[1]
    assert (original.fault_hit, original.success, original.supplemented) == (False, False, False)
    extras = extras_of(rows)
    assert [(row.case_id, row.fault_hit, row.success) for row in extras] == [
        ("desk/1|oracle|fault|1", False, False),
        ("desk/1|oracle|fault|2", True, True),
    ]
    assert {row.policy_mode for row in extras} == {"sampled"}
    assert {row.policy_mode for row in rows[:4]} == {"greedy"}
    temperatures = {
        (prompt.case_id, sampling.temperature)
        for prompt, sampling in zip(policy.prompts, policy.samplings, strict=True)
        if "|fault|" in prompt.case_id
    }
    assert ("desk/1|oracle|fault|0", 0.0) in temperatures
    assert ("desk/1|oracle|fault|2", 1.0) in temperatures
    facts = read_json(tmp_path / "run" / "run.json")
    assert (facts["num_cases"], facts["num_supplemented"]) == (4, 2)
    assert facts["fault_kinds"]["lost_ack"]["visibility"] == "explicit"


async def test_the_bound_is_kept(tmp_path: Path) -> None:
    rows = await evaluation_in(
        tmp_path / "run", works_from("desk/1", 99), await manifest_in(tmp_path / "m"), most=2
    ).run(CASES)
    assert [row.fault_hit for row in extras_of(rows)] == [False, False]


async def test_without_a_miss_nothing_is_sampled_again(tmp_path: Path) -> None:
    rows = await evaluation_in(tmp_path / "run", DeskPolicy(careful), await manifest_in(tmp_path / "m")).run(CASES)
    assert len(rows) == len(CASES)


async def test_an_interrupted_supplement_goes_on(tmp_path: Path) -> None:
    class Killed(BaseException):
        pass

    def decide(prompt: Prompt) -> str:
        if prompt.case_id == "desk/1|oracle|fault|2":
            raise Killed
        return works_from("desk/1", 99).decide(prompt)

    manifest = await manifest_in(tmp_path / "m")
    with pytest.raises(Killed):
        await evaluation_in(tmp_path / "run", DeskPolicy(decide), manifest).run(CASES)
    policy = works_from("desk/1", 3)
    rows = await evaluation_in(tmp_path / "run", policy, manifest).run(CASES)
    assert {prompt.case_id for prompt in policy.prompts} == {"desk/1|oracle|fault|2", "desk/1|oracle|fault|3"}
    assert [row.fault_hit for row in extras_of(rows)] == [False, False, True]
    again = DeskPolicy(careful)
    assert await evaluation_in(tmp_path / "run", again, manifest).run(CASES) == rows
    assert again.prompts == []


async def test_extra_rows_are_refused_by_a_run_that_does_not_supplement(tmp_path: Path) -> None:
    manifest = await manifest_in(tmp_path / "m")
    await evaluation_in(tmp_path / "run", works_from("desk/1", 2), manifest).run(CASES)
    plain = replace(evaluation_in(tmp_path / "run", DeskPolicy(careful), manifest), supplement=None)
    with pytest.raises(TableError, match=r"case 'desk/1\|oracle\|fault\|1' is not planned"):
        await plain.run(CASES)


def test_a_supplement_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one extra sample, got 0"):
        Supplement(most=0, setup=desk_setup(DeskPolicy(careful), temperature=0.0))
