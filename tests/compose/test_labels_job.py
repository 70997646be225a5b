"""`prepare do=labels`: every task once, kept as it is made, by rule or from an endpoint."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from robustops.compose.completion import build_completion
from robustops.compose.labels import LabelJournal, all_tasks, label_all, make_labels
from robustops.compose.scene import build_scene
from robustops.config.tree import (
    ApiConfig,
    EngineConfig,
    FaultPolicyConfig,
    GrpoConfig,
    LabelsConfig,
    ModelConfig,
    RunConfig,
    SplitConfig,
)
from robustops.core.errors import ManifestError, PolicyError, TableError
from robustops.core.files import read_json
from robustops.core.listing import set_name
from robustops.data.task_set import TaskSet
from robustops.faults.labels import read_labels
from robustops.llm.spend import Spend
from tests.llm.fake_endpoint import FakeEndpoint, chat_reply, served

TINY = Path(__file__).resolve().parents[2] / "robustops" / "assets" / "models" / "tiny-base"
MADE_BY = {"selector": "m, asked", "set": "s"}
GOOD = chat_reply(json.dumps({"candidates": []}))


def configured(folder: Path, *, url: str = "", **groups: Any) -> RunConfig:
    kind = "llm" if url else "rules"
    return RunConfig(
        algorithm=GrpoConfig(),
        model=ModelConfig(name="tiny", path=str(TINY), api=ApiConfig(base_url=url, model="m")),
        split=SplitConfig(root=str(folder / "set"), num_train=3, num_val=2, num_test=2, generator_seed=5),
        engine=EngineConfig(kind="scripted", concurrency=1),
        labels=LabelsConfig(kind=kind, max_tries=1),
        **groups,
    )


def test_rules_label_every_part_of_the_set(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = configured(tmp_path)
    make_labels(config, tmp_path / "run")
    split = TaskSet.load(tmp_path / "set").split
    name = set_name("synthetic", split.sha256)
    labels = read_labels(tmp_path / "run" / "labels.jsonl", split=name, task_ids=split.entries)
    assert set(labels.allowed) == set(split.entries)
    assert len(labels.allowed) == 7
    assert all(pairs for pairs in labels.allowed.values())
    assert "7 tasks" in capsys.readouterr().out
    first = (tmp_path / "run" / "labels.jsonl").read_text()
    make_labels(config, tmp_path / "run")  # nothing is left to do
    assert (tmp_path / "run" / "labels.jsonl").read_text() == first
    narrowed = configured(tmp_path, fault_policy=FaultPolicyConfig(labels=str(tmp_path / "run" / "labels.jsonl")))
    assert build_scene(narrowed, "train").labels == labels
    other = configured(tmp_path / "b", fault_policy=narrowed.fault_policy)
    other.split.generator_seed = 6
    with pytest.raises(ManifestError, match="made for task set 'synthetic@"):
        build_scene(other, "train")


async def labelled(config: RunConfig, journal: LabelJournal) -> list[str]:
    scene = build_scene(config, "train")
    completion = build_completion(config)
    return await label_all(scene, all_tasks(scene), journal, completion)


def asked_about(endpoint: FakeEndpoint) -> int:
    return len(endpoint.bodies)


async def test_an_interrupted_or_failed_job_asks_only_for_what_is_missing(tmp_path: Path) -> None:
    async with served(GOOD, GOOD, chat_reply("no"), GOOD, chat_reply("no"), GOOD) as endpoint:
        journal = LabelJournal(tmp_path / "run", MADE_BY)
        problems = await labelled(configured(tmp_path, url=endpoint.url), journal)
        assert asked_about(endpoint) == 7
    assert len(problems) == 2
    assert "no usable answer in 1 tries" in problems[0]
    with (tmp_path / "run" / "labels.partial.jsonl").open("a") as file:
        file.write('{"task_id": "cut')  # killed while writing
    async with served(GOOD) as endpoint:
        resumed = LabelJournal(tmp_path / "run", MADE_BY)
        assert set(resumed.rows) == set(journal.rows)
        assert await labelled(configured(tmp_path, url=endpoint.url), resumed) == []
        assert asked_about(endpoint) == 2
    assert len(resumed.rows) == 7


def test_rows_of_another_selector_are_not_mixed_in(tmp_path: Path) -> None:
    LabelJournal(tmp_path, MADE_BY).add({"task_id": "t", "tools": {}})
    with pytest.raises(TableError, match=r"made by .*'m, asked'.*; give an empty run\.dir"):
        LabelJournal(tmp_path, {"selector": "rules", "set": "s"})


class DeadCompletion:
    """An endpoint that never answers, and one request that it was billed for."""

    spend = Spend(num_replies=1, prompt_tokens=10, cost_usd=0.5)

    async def complete(self, messages: Any, **settings: Any) -> Any:
        raise PolicyError("nobody answers")

    async def close(self) -> None:
        pass


def test_tasks_without_labels_are_an_error_and_what_was_spent_adds_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("robustops.compose.labels.build_completion", lambda config: DeadCompletion())
    config = configured(tmp_path, url="http://nowhere/v1")
    for number_of_run in (1, 2):
        with pytest.raises(PolicyError, match="7 of 7 tasks have no labels, the first: nobody answers"):
            make_labels(config, tmp_path / "run")
        spend = read_json(tmp_path / "run" / "spend.json")
        assert (spend["num_replies"], spend["prompt_tokens"]) == (number_of_run, 10 * number_of_run)
        assert spend["cost_usd"] == 0.5 * number_of_run
    assert not (tmp_path / "run" / "labels.jsonl").exists()
