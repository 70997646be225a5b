"""Paired evaluation: same faults for every model, files that agree with the plan, and a run that can be killed."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from desk_agent import DeskPolicy, call_text, careful, careless
from desk_gym import DeskGym, desk_task
from desk_setup import desk_setup

from robustops.agent.policy import Prompt
from robustops.core.episode_row import read_episodes
from robustops.core.errors import GymError, ManifestError, TableError
from robustops.core.files import read_json
from robustops.core.task import Case
from robustops.faults.catalogue import CapRange
from robustops.faults.manifest import Manifest, read_manifest, write_manifest
from robustops.faults.scheduler import Scheduler
from robustops.rollout.evaluate import Evaluation, paired_cases
from robustops.rollout.freeze import freeze
from robustops.rollout.progress import Progress
from robustops.rollout.rows import RunIdentity
from robustops.rollout.run_folder import RunFolder
from robustops.rollout.trajectory import read_trajectories

TASKS = {
    f"desk/{n}": desk_task(f"desk/{n}", account=name, title=f"case {n}") for n, name in ((1, "Acme"), (2, "Birch"))
}
CASES = paired_cases(list(TASKS.values()))
IDENTITY = RunIdentity(run="r1", model="desk", stage="SFT", split="desk/test", seed=5, policy_mode="greedy")


def evaluation_for(folder: Path, policy: DeskPolicy, *, gym: Any = None, **options: Any) -> Evaluation:
    settings: dict[str, Any] = {"identity": IDENTITY, "concurrency": 2, **options}
    return Evaluation(setup=desk_setup(policy, gym=gym), tasks=TASKS, folder=folder, **settings)


async def lost_ack_manifest(path: Path) -> Manifest:
    plans = await freeze(desk_setup(DeskPolicy(careful)), list(TASKS.values()), Scheduler(("lost_ack",), seed=2))
    write_manifest(path, plans, split="desk/test", source="expert")
    return read_manifest(path, split="desk/test", task_ids=TASKS)


def test_pairs_stand_beside_each_other_and_ids_are_stable() -> None:
    cases = paired_cases(list(TASKS.values()), attempts=2)
    assert [case.case_id for case in cases[:4]] == [
        "desk/1|oracle|clean|0",
        "desk/1|oracle|fault|0",
        "desk/1|oracle|clean|1",
        "desk/1|oracle|fault|1",
    ]
    assert len(cases) == 8


async def test_two_models_meet_the_same_faults_and_differ_only_in_what_they_make_of_them(tmp_path: Path) -> None:
    manifest = await lost_ack_manifest(tmp_path / "m")
    tables = {}
    for name, decide in (("careful", careful), ("careless", careless)):
        evaluation = evaluation_for(tmp_path / name, DeskPolicy(decide), manifest=manifest)
        tables[name] = {row.case_id: row for row in await evaluation.run(CASES)}
    for case in CASES:
        one, two = tables["careful"][case.case_id], tables["careless"][case.case_id]
        is_fault = case.condition == "fault"
        assert one.manifest_sha == two.manifest_sha == manifest.sha256
        for row in (one, two):
            assert (row.fault_planned, row.fault_hit, row.fault_count) == (is_fault, is_fault, int(is_fault))
            assert row.fault_subtype == ("lost_ack" if is_fault else None)
        assert (one.success_strict, two.success_strict) == (True, not is_fault)
        assert (one.bad_calls, two.bad_calls) == (0, int(is_fault))
        # S + 0.3 P + 0.1 Q: one of two checks was open at the start; a duplicate leaves it open
        assert one.reward == pytest.approx(1 + 0.3 * 0.5 + 0.1)
        assert two.reward == pytest.approx(0.0 if is_fault else 1 + 0.3 * 0.5 + 0.1)


async def test_the_folder_holds_rows_trajectories_and_facts_in_the_order_of_the_plan(tmp_path: Path) -> None:
    manifest = await lost_ack_manifest(tmp_path / "m")
    policy = DeskPolicy(careful, yields=lambda prompt: 9 if "desk/1" in prompt.case_id else 0)
    evaluation = evaluation_for(tmp_path / "run", policy, manifest=manifest, concurrency=4, about={"git": "abc"})
    rows = await evaluation.run(CASES)
    assert rows == read_episodes(tmp_path / "run" / "episodes.parquet")
    planned = [case.case_id for case in CASES]
    assert [row.case_id for row in rows] == planned
    episodes = list(read_trajectories(tmp_path / "run" / "trajectories.jsonl"))
    assert [episode.case.case_id for episode in episodes] == planned
    facts = read_json(tmp_path / "run" / "run.json")
    assert (facts["git"], facts["num_cases"], facts["manifest_sha"]) == ("abc", 4, manifest.sha256)
    assert (facts["stage"], facts["seed"], facts["schema_version"]) == ("SFT", 5, 1)
    row, episode = rows[0], episodes[0]
    assert row.completion_tokens == sum(len(turn.sampled_ids) for turn in episode.turns)
    first, second, third = episode.turns
    lengths = [len(first.context_ids), len(first.context_ids + first.sampled_ids + second.context_ids)]
    lengths.append(lengths[1] + len(second.sampled_ids) + len(third.context_ids))
    assert row.prompt_tokens == sum(lengths)
    assert (row.turns, row.tool_calls, row.cached_tokens, row.weight_version) == (3, 2, 3, 7)
    assert (row.checks_total, row.checks_scored, row.checks_passed, row.checks_gated) == (2, 2, 2, 2)


class Killed(BaseException):
    pass


def until(case: Case, prompt: Prompt) -> str:
    if prompt.case_id == case.case_id:
        raise Killed
    return careful(prompt)


async def test_a_killed_run_goes_on_where_it_was(tmp_path: Path) -> None:
    manifest = await lost_ack_manifest(tmp_path / "m")

    first = DeskPolicy(lambda prompt: until(CASES[2], prompt))
    with pytest.raises(Killed):
        await evaluation_for(tmp_path / "run", first, manifest=manifest, concurrency=1).run(CASES)
    lines = (tmp_path / "run" / "trajectories.jsonl").read_text()
    assert lines.count("\n") == 2
    (tmp_path / "run" / "trajectories.jsonl").write_text(lines + '{"schema_version": 1, "case_')  # killed in a write
    second = DeskPolicy(lambda prompt: until(CASES[3], prompt))
    with pytest.raises(Killed):
        await evaluation_for(tmp_path / "run", second, manifest=manifest, concurrency=1).run(CASES)
    assert {prompt.case_id for prompt in second.prompts} == {case.case_id for case in CASES[2:]}
    seen: list[Progress] = []
    policy = DeskPolicy(careful)
    rows = await evaluation_for(tmp_path / "run", policy, manifest=manifest, on_progress=seen.append).run(CASES)
    assert {prompt.case_id for prompt in policy.prompts} == {CASES[3].case_id}
    assert [(p.done, p.total) for p in seen] == [(3, 4), (4, 4)]
    straight = await evaluation_for(tmp_path / "straight", DeskPolicy(careful), manifest=manifest).run(CASES)
    assert [replace(row, wall_s=0) for row in rows] == [replace(row, wall_s=0) for row in straight]


async def test_a_finished_run_plays_nothing_again(tmp_path: Path) -> None:
    cases = paired_cases(list(TASKS.values()), conditions=("clean",))
    rows = await evaluation_for(tmp_path, DeskPolicy(careful)).run(cases)
    policy = DeskPolicy(careful)
    assert await evaluation_for(tmp_path, policy).run(cases) == rows
    assert policy.prompts == []


async def test_what_infrastructure_spoilt_is_a_row_and_is_played_again_next_time(tmp_path: Path) -> None:
    cases = paired_cases(list(TASKS.values()), conditions=("clean",))
    first = await evaluation_for(tmp_path, DeskPolicy(careful), gym=DeskGym(failures=1), concurrency=1).run(cases)
    assert [(row.stop_reason, row.error_kind) for row in first] == [
        ("infrastructure", "GymUnavailable"),
        ("stop", ""),
    ]
    assert (first[0].success, first[0].reward, first[0].checks_total, first[0].checks_scored) == (None, None, 2, 0)
    policy = DeskPolicy(careful)
    second = await evaluation_for(tmp_path, policy).run(cases)
    assert [row.stop_reason for row in second] == ["stop", "stop"]
    assert {prompt.case_id for prompt in policy.prompts} == {cases[0].case_id}


async def test_a_dead_gym_stops_the_evaluation_with_one_line(tmp_path: Path) -> None:
    cases = paired_cases(list(TASKS.values()), conditions=("clean",), attempts=5)
    with pytest.raises(GymError, match="4 episodes in a row failed") as failure:
        await evaluation_for(tmp_path, DeskPolicy(careful), gym=DeskGym(failures=99), max_failures=4).run(cases)
    assert "\n" not in str(failure.value)
    assert not (tmp_path / "episodes.parquet").exists()


async def test_a_folder_of_another_run_is_refused(tmp_path: Path) -> None:
    cases = paired_cases(list(TASKS.values()), conditions=("clean",))
    await evaluation_for(tmp_path, DeskPolicy(careful)).run(cases)
    with pytest.raises(TableError, match="another run \\(seed 5, this run has 6\\)"):
        await evaluation_for(tmp_path, DeskPolicy(careful), identity=replace(IDENTITY, seed=6)).run(cases)
    with pytest.raises(TableError, match="is not planned in this run"):
        await evaluation_for(tmp_path, DeskPolicy(careful)).run(cases[:1])


async def test_a_fabricated_second_result_is_refused(tmp_path: Path) -> None:
    cases = paired_cases(list(TASKS.values()), conditions=("clean",))
    await evaluation_for(tmp_path, DeskPolicy(careful)).run(cases)
    file = tmp_path / "trajectories.jsonl"
    file.write_text(file.read_text() + file.read_text())
    with pytest.raises(TableError, match="has two results"):
        await evaluation_for(tmp_path, DeskPolicy(careful)).run(cases)


async def test_an_uncovered_case_is_refused_before_anything_is_played(tmp_path: Path) -> None:
    plans = await freeze(desk_setup(DeskPolicy(careful)), [TASKS["desk/1"]], Scheduler(("lost_ack",), seed=2))
    write_manifest(tmp_path / "m", plans, split="desk/test", source="expert")
    manifest = read_manifest(tmp_path / "m", split="desk/test", task_ids=TASKS)
    policy = DeskPolicy(careful)
    with pytest.raises(ManifestError, match=r"no row for case 'desk/2\|oracle'"):
        await evaluation_for(tmp_path / "run", policy, manifest=manifest).run(CASES)
    assert policy.prompts == []


async def test_a_model_that_never_makes_the_call_is_recorded_as_not_hit(tmp_path: Path) -> None:
    manifest = await lost_ack_manifest(tmp_path / "m")
    rows = await evaluation_for(tmp_path / "run", DeskPolicy(lambda prompt: "No."), manifest=manifest).run(CASES)
    faults = [row for row in rows if row.condition == "fault"]
    assert [(row.fault_planned, row.fault_hit, row.fault_subtype) for row in faults] == [(True, False, "lost_ack")] * 2


async def test_without_a_manifest_the_run_chooses_and_freezes_its_own(tmp_path: Path) -> None:
    scheduler = Scheduler(("throttled", "lost_ack"), seed=3, caps={"throttled": CapRange(low=1, high=1)})
    rows = await evaluation_for(tmp_path / "own", DeskPolicy(careful), scheduler=scheduler).run(CASES)
    faults = [row for row in rows if row.condition == "fault"]
    assert sorted(row.fault_subtype or "" for row in faults) == ["lost_ack", "throttled"]
    assert all(row.fault_hit and row.success_strict for row in faults)
    # the pass up to the fault is the model's own: find, create, then one more call and the answer
    assert [row.turns for row in faults] == [4, 4]
    assert all(row.reward == pytest.approx(1 + 0.3 * 0.5 + 0.1) for row in faults)
    frozen = read_manifest(tmp_path / "own" / "fault_manifest.jsonl", split="desk/test", task_ids=TASKS)
    assert {row.manifest_sha for row in rows} == {frozen.sha256}
    again = await evaluation_for(tmp_path / "again", DeskPolicy(careful), manifest=frozen).run(CASES)
    strip = {"wall_s": 0.0}
    assert [replace(row, **strip) for row in again] == [replace(row, **strip) for row in rows]


async def test_every_attempt_of_a_run_that_chooses_is_frozen_with_its_own_fault(tmp_path: Path) -> None:
    cases = paired_cases([TASKS["desk/1"]], conditions=("fault",), attempts=3)
    scheduler = Scheduler(("throttled", "unavailable", "lost_ack"), seed=3)
    rows = await evaluation_for(tmp_path / "own", DeskPolicy(careful), scheduler=scheduler).run(cases)
    assert {row.fault_subtype for row in rows} == {"throttled", "unavailable", "lost_ack"}
    frozen = read_manifest(tmp_path / "own" / "fault_manifest.jsonl", split="desk/test", task_ids=TASKS)
    assert list(frozen.plans) == ["desk/1|oracle|0", "desk/1|oracle|1", "desk/1|oracle|2"]
    again = await evaluation_for(tmp_path / "again", DeskPolicy(careful), manifest=frozen).run(cases)
    assert [row.fault_subtype for row in again] == [row.fault_subtype for row in rows]
    with pytest.raises(ManifestError, match=r"no row for case 'desk/1\|oracle', attempt 3"):
        frozen.plan_for(Case(task_id="desk/1", condition="fault", attempt=3))


async def test_a_run_that_chooses_goes_on_balancing_after_a_kill(tmp_path: Path) -> None:
    def scheduler() -> Scheduler:
        return Scheduler(("throttled", "lost_ack"), seed=3)

    first = DeskPolicy(lambda prompt: until(CASES[2], prompt))
    with pytest.raises(Killed):
        await evaluation_for(tmp_path, first, scheduler=scheduler(), concurrency=1).run(CASES)
    resumed = scheduler()
    rows = await evaluation_for(tmp_path, DeskPolicy(careful), scheduler=resumed, concurrency=1).run(CASES)
    assert resumed.state()["counts"] == {"throttled": 1, "lost_ack": 1}
    assert {row.fault_subtype for row in rows} == {None, "throttled", "lost_ack"}


async def test_planned_and_written_cases_must_reconcile(tmp_path: Path) -> None:
    played = paired_cases(list(TASKS.values()), conditions=("clean",))
    await evaluation_for(tmp_path, DeskPolicy(careful)).run(played)
    folder = RunFolder(tmp_path, CASES, IDENTITY)
    with pytest.raises(TableError, match=r"4 cases planned, 2 written; missing desk/1\|oracle\|fault\|0 and others"):
        folder.finish(TASKS, manifest_sha="", about={})
    with pytest.raises(ValueError, match="planned twice"):
        RunFolder(tmp_path / "other", [*CASES, CASES[0]], IDENTITY)


async def test_fault_cases_need_a_source_of_faults(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="manifest, or a scheduler"):
        await evaluation_for(tmp_path, DeskPolicy(careful)).run(CASES)


async def test_freezing_notes_cases_without_an_eligible_call() -> None:
    def idle(prompt: Prompt) -> str:
        return "Nothing to do." if prompt.task_id == "desk/2" else careful(prompt)

    plans = await freeze(desk_setup(DeskPolicy(idle)), list(TASKS.values()), Scheduler(("lost_ack",), seed=2))
    assert plans["desk/2|oracle"] is None
    plan = plans["desk/1|oracle"]
    assert plan is not None
    assert plan.signature == 'create_case{"account_id":1,"title":"case 1"}'


async def test_freezing_over_a_broken_gym_is_an_error_with_the_case() -> None:
    with pytest.raises(GymError, match=r"clean pass of desk/1\|oracle\|fault\|0 failed"):
        await freeze(
            desk_setup(DeskPolicy(careful), gym=DeskGym(failures=1)),
            list(TASKS.values()),
            Scheduler(("lost_ack",), seed=2),
        )


async def test_every_episode_comes_back_from_its_line_without_loss(tmp_path: Path) -> None:
    def messy(prompt: Prompt) -> str:
        if prompt.turn == 0:
            return "<tool_call>\n{broken\n</tool_call>"
        return call_text("nonsense") if prompt.turn == 1 else careful(prompt)

    manifest = await lost_ack_manifest(tmp_path / "m")
    evaluation = evaluation_for(tmp_path / "run", DeskPolicy(messy), manifest=manifest)
    await evaluation.run(CASES)
    (episode,) = [e for e in read_trajectories(tmp_path / "run" / "trajectories.jsonl") if e.faults][:1]
    assert episode.turns[0].malformed
    assert episode.turns[0].native is None
    assert episode.turns[1].native == episode.turns[1].shown
    hit = next(turn for turn in episode.turns if turn.fault)
    assert hit.native is not None
    assert hit.native != hit.shown
    assert episode.plan == manifest.plan_for(Case(task_id=episode.case.task_id, condition="fault"))
    line = next(
        json.loads(text)
        for text in (tmp_path / "run" / "trajectories.jsonl").read_text().splitlines()
        if json.loads(text)["case_id"] == episode.case.case_id
    )
    assert line["turns"][0]["prompt_tokens"] == len(episode.turns[0].context_ids)
    assert line["turns"][1]["native"] == "as shown"
    assert line["source"]["run"] == "r1"
