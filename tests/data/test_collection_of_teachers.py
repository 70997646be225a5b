"""A collection: its stages and their order, second attempts, what a kill costs, and what is never in it."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest

from robustops.agent.policy import Prompt, Sampling
from robustops.compose.collect import run
from robustops.config.tree import FaultPolicyConfig, GrpoConfig, RunConfig, SplitConfig
from robustops.core.episode import Episode
from robustops.core.episode_row import EpisodeRow
from robustops.core.errors import ConfigError, PolicyError
from robustops.core.json_lines import read_lines
from robustops.data.collect import AGAIN, num_faults
from robustops.data.recorded import Recorded
from robustops.data.splits import share_by_id
from robustops.faults.catalogue import subtypes_of
from robustops.rollout.run_folder import TRAJECTORIES
from robustops.rollout.trajectory import read_trajectories
from tests.agent.chat_folder import QWEN3_LIKE, write_chat_folder
from tests.data.teachers import Killed, Stage, Watched, build_stage

NUM_TASKS = 12


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Stage:
    root = tmp_path_factory.mktemp("teacher")
    return build_stage(root / "set", write_chat_folder(root / "chat", QWEN3_LIKE), NUM_TASKS)


def watched(stage: Stage, **changes) -> Watched:
    return Watched(policy=stage.expert, codec=stage.codec, **changes)


def episodes(folder: Path) -> dict:
    return {episode.case.case_id: episode for episode in read_trajectories(folder / TRAJECTORIES)}


@dataclass(frozen=True)
class Collected:
    rows: list[EpisodeRow]
    folder: Path
    teacher: Watched


@pytest.fixture(scope="module")
def collected(stage: Stage, tmp_path_factory: pytest.TempPathFactory) -> Collected:
    """One collection that nothing disturbed, one episode at a time."""
    folder, teacher = tmp_path_factory.mktemp("collected"), watched(stage)
    rows = asyncio.run(stage.collection(folder, teacher, concurrency=1).run())
    return Collected(rows=rows, folder=folder, teacher=teacher)


def test_clean_trajectories_come_first_then_one_fault_each_balanced_over_the_training_kinds(collected):
    rows = collected.rows
    assert [row.condition for row in rows] == ["clean"] * NUM_TASKS + ["fault"] * NUM_TASKS
    assert len({row.domain for row in rows}) == 3
    assert all(row.success_strict for row in rows)
    struck = Counter(row.fault_subtype for row in rows if row.condition == "fault")
    assert set(struck) <= set(subtypes_of("train"))
    assert "dropped_filter" not in struck, "the family ignored_filter is for evaluation alone"
    assert max(struck.values()) - min(struck.values()) <= 2
    assert all(row.fault_hit for row in rows if row.condition == "fault")


def test_the_teacher_is_never_asked_for_a_decision_it_has_made(collected):
    """A continuation asks from the turn after the fault on; what stands before it is executed from the record."""
    teacher, found = collected.teacher, episodes(collected.folder)
    for case_id, episode in found.items():
        first = 0
        if episode.case.condition == "fault":
            first = 1 + next(index for index, turn in enumerate(episode.turns) if turn.fault is not None)
        asked = [turn for case, turn, _ in teacher.asked if case == case_id]
        assert asked == list(range(first, len(episode.turns))), case_id
    assert len({(case, turn) for case, turn, _ in teacher.asked}) == len(teacher.asked)


def test_a_continuation_repeats_its_clean_trajectory_up_to_the_fault(collected):
    found = episodes(collected.folder)
    for episode in (e for e in found.values() if e.case.condition == "fault"):
        clean = found[episode.case.case_id.replace("|fault|", "|clean|")]
        struck = next(index for index, turn in enumerate(episode.turns) if turn.fault is not None)
        assert told(episode, struck) == told(clean, struck)
        assert episode.turns[struck].sampled_ids == clean.turns[struck].sampled_ids


async def test_what_fails_is_tried_once_more_and_warmer_and_then_left(stage, tmp_path):
    """One task fails at temperature 0 alone, one always; the others never."""
    once, always, *others = stage.tasks
    teacher = watched(
        stage,
        fails=lambda p, s: p.turn == 0 and (p.task_id == always or (p.task_id == once and s.temperature == 0)),
    )
    rows = await stage.collection(tmp_path, teacher, fault_share=0.0, retry_temperature=0.6).run()
    tried = {task: [(r.attempt, r.success_strict) for r in rows if r.task_id == task] for task in stage.tasks}
    assert tried[once] == [(0, False), (1, True)]
    assert tried[always] == [(0, False), (1, False)]
    assert all(tried[task] == [(0, True)] for task in others)
    assert {s for case, _, s in teacher.asked if case.endswith("|1")} == {0.6}
    assert {s for case, _, s in teacher.asked if case.endswith("|0")} == {0.0}


async def test_a_second_attempt_after_a_fault_starts_from_the_very_same_boundary(stage, tmp_path):
    teacher = watched(stage, fails=lambda p, s: "|fault|0" in p.case_id)
    rows = await stage.collection(tmp_path, teacher, retry_temperature=0.6).run()
    struck = [row for row in rows if row.condition == "fault"]
    again = [row for row in struck if row.attempt == AGAIN]
    assert {row.task_id for row in again} == {r.task_id for r in struck if r.attempt == 0 and not r.success_strict}
    assert len(again) > NUM_TASKS / 2, "who gives up at once is solved only where the fault had hidden the last write"
    found = episodes(tmp_path)
    for row in again:
        second, first = found[row.case_id], found[row.case_id[:-1] + "0"]
        struck = next(index for index, turn in enumerate(first.turns) if turn.fault is not None)
        assert second.plan == first.plan
        assert told(second, struck + 1) == told(first, struck + 1)
        assert next(turn for case, turn, _ in teacher.asked if case == row.case_id) == struck + 1


def told(episode: Episode, num_turns: int) -> list[tuple]:
    """What was decided and shown, and the state it left; not how long it took."""
    return [
        (turn.context_ids, turn.sampled_ids, turn.shown and turn.shown.text, turn.fault, turn.hash_after)
        for turn in episode.turns[:num_turns]
    ]


async def test_without_a_retry_temperature_nothing_is_tried_again(stage, tmp_path):
    teacher = watched(stage, fails=lambda p, s: p.turn == 0)
    rows = await stage.collection(tmp_path, teacher, retry_temperature=None).run()
    assert len(rows) == NUM_TASKS, "and a failed clean case is no start for a fault"
    assert {row.attempt for row in rows} == {0}


@pytest.mark.parametrize("share_done", [0.05, 0.5, 0.9])
async def test_a_killed_collection_goes_on_and_asks_for_nothing_twice(stage, collected, tmp_path, share_done):
    first = watched(stage, stop_after=round(share_done * len(collected.teacher.asked)))
    with pytest.raises(Killed):
        await stage.collection(tmp_path / "parts", first, concurrency=1).run()
    finished = {line["case_id"] for line in _lines(tmp_path / "parts")}
    second = watched(stage)
    await stage.collection(tmp_path / "parts", second, concurrency=1).run()
    assert not finished & {case for case, _, _ in second.asked}, "a finished case was played again"
    lines = _lines(tmp_path / "parts")
    assert [line["case_id"] for line in lines] == [row.case_id for row in collected.rows]
    assert all(line["turns"] and line["end"] for line in lines), "a row without an episode was made up"
    plans = {line["case_id"]: line["plan"] for line in _lines(collected.folder)}
    assert {line["case_id"]: line["plan"] for line in lines} == plans


def _lines(folder: Path) -> list[dict]:
    path = folder / TRAJECTORIES
    return list(read_lines(path)) if path.is_file() else []


async def test_progress_counts_what_is_done_and_what_of_it_is_solved(stage, tmp_path):
    seen = []
    failing = next(iter(stage.tasks))
    teacher = watched(stage, fails=lambda p, s: p.task_id == failing)
    await stage.collection(tmp_path, teacher, on_progress=seen.append).run()
    last = seen[-1]
    assert (last.done, last.solved) == (2 * NUM_TASKS, 2 * (NUM_TASKS - 1)), "11 clean, 11 fault, one failed twice"
    assert [counts.done for counts in seen] == sorted(counts.done for counts in seen)


async def test_a_record_does_not_answer_another_task_s_prompt(collected):
    one, two, *_ = episodes(collected.folder).values()
    ids = two.turns[0].context_ids
    prompt = Prompt(case_id="c", task_id="t", turn=0, token_ids=ids, messages=(), tools=())
    with pytest.raises(PolicyError, match="not the recorded one"):
        await Recorded(one.turns).act(prompt, Sampling())
    with pytest.raises(PolicyError, match="was never recorded"):
        await Recorded(()).act(prompt, Sampling())


@pytest.mark.parametrize(("clean", "share", "faults"), [(10, 0.5, 10), (10, 0.0, 0), (9, 0.25, 3), (10, 0.9, 10)])
def test_faults_are_a_share_of_all_and_one_a_task_at_most(clean, share, faults):
    assert num_faults(clean, share) == faults


def test_four_fifths_of_the_tasks_are_chosen_by_their_ids_alone():
    domains = {f"csm-{n}": "csm" for n in range(60)} | {f"hr-{n}": "hr" for n in range(40)}
    chosen = share_by_id(domains, 0.8)
    assert Counter(domains[task] for task in chosen) == {"csm": 48, "hr": 32}
    assert share_by_id(dict(reversed(domains.items())), 0.8) == chosen
    assert share_by_id(domains, 0.5) < chosen, "a smaller share is part of the larger one"
    assert share_by_id(domains, 1.0) == set(domains)


def test_kinds_that_evaluation_keeps_for_itself_are_refused_before_anything_is_played(tmp_path):
    split = SplitConfig(root=str(tmp_path / "never made"))
    config = RunConfig(algorithm=GrpoConfig(), fault_policy=FaultPolicyConfig(name="all"), split=split, do="play")
    with pytest.raises(ConfigError, match=r"fault_policy=all: .* is for evaluation alone"):
        run(config, tmp_path)
    assert list(tmp_path.iterdir()) == []
