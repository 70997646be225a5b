"""The fault manifest: what is frozen comes back, and every kind of wrong file is refused by name."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from robustops.core.episode import FaultPlan
from robustops.core.errors import ManifestError
from robustops.core.listing import write_listing
from robustops.core.task import Case
from robustops.faults.manifest import KIND, read_manifest, write_manifest

PLAN = FaultPlan(subtype="lost_ack", tool="create_case", signature='create_case{"account_id":1}', cap=1, seed=9)
ROW = {"case": "csm/1|oracle", "fault": {"subtype": "lost_ack", "tool": "t", "signature": "t{}", "cap": 1, "seed": 2}}
IDS = {"csm/1", "csm/2"}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "faults.jsonl"
    write_manifest(path, {"csm/1|oracle": PLAN, "csm/2|oracle": None}, split="csm/test", source="expert")
    return path


def test_what_is_frozen_comes_back(path: Path) -> None:
    manifest = read_manifest(path, split="csm/test", task_ids=IDS)
    assert manifest.plan_for(Case(task_id="csm/1", condition="fault")) == PLAN
    assert manifest.plan_for(Case(task_id="csm/1", condition="fault", attempt=4)) == PLAN
    assert manifest.plan_for(Case(task_id="csm/2", condition="fault")) is None
    assert json.loads(path.read_text().splitlines()[2])["reason"] == "no_opportunity"
    assert manifest.sha256 == json.loads(path.read_text().splitlines()[0])["sha256"]


def test_the_hash_depends_on_the_faults_and_not_on_their_order(tmp_path: Path) -> None:
    plans = {"csm/1|oracle": PLAN, "csm/2|oracle": None}
    one = write_manifest(tmp_path / "a", plans, split="s", source="x").sha256
    two = write_manifest(tmp_path / "b", dict(reversed(plans.items())), split="s", source="x").sha256
    other = write_manifest(tmp_path / "c", {**plans, "csm/2|oracle": PLAN}, split="s", source="x").sha256
    assert one == two != other


def test_a_manifest_of_another_split_is_refused(path: Path) -> None:
    with pytest.raises(
        ManifestError, match=r"faults\.jsonl: was built for split 'csm/test', this run evaluates 'csm/val'"
    ):
        read_manifest(path, split="csm/val", task_ids=IDS)


def test_a_stale_hash_is_refused(path: Path) -> None:
    path.write_text(path.read_text().replace('"cap": 1', '"cap": 2'))
    with pytest.raises(ManifestError, match="rows hash to"):
        read_manifest(path, split="csm/test", task_ids=IDS)


def test_a_task_outside_the_split_is_refused(path: Path) -> None:
    with pytest.raises(ManifestError, match=r"task 'csm/2' is not in split 'csm/test' \(1 ids\)"):
        read_manifest(path, split="csm/test", task_ids={"csm/1"})


def test_a_case_that_the_base_run_did_not_cover_is_refused(path: Path) -> None:
    manifest = read_manifest(path, split="csm/test", task_ids=IDS)
    with pytest.raises(ManifestError, match=r"no row for case 'csm/1\|plus5'"):
        manifest.plan_for(Case(task_id="csm/1", tool_mode="plus5", condition="fault"))


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({**ROW, "fault": {**ROW["fault"], "subtype": "gremlin"}}, "unknown fault subtype 'gremlin'"),  # type: ignore[dict-item]
        ({**ROW, "fault": {**ROW["fault"], "cap": 0}}, "expected at least 1, got 0"),  # type: ignore[dict-item]
        ({**ROW, "fault": {**ROW["fault"], "cap": "1"}}, "fault.cap: expected int, got '1'"),  # type: ignore[dict-item]
        ({**ROW, "fault": {"subtype": "lost_ack"}}, "must hold exactly"),
        ({"case": "csm/1|oracle"}, "expected 'case'"),
    ],
)
def test_a_row_that_is_none_is_refused_with_its_line(tmp_path: Path, row: dict[str, Any], message: str) -> None:
    path = tmp_path / "bad.jsonl"
    write_listing(path, [row], kind=KIND, split="s", source="x")
    with pytest.raises(ManifestError, match=message) as refusal:
        read_manifest(path, split="s", task_ids=IDS)
    assert "bad.jsonl:2" in str(refusal.value)


def test_a_second_row_for_a_case_is_refused(tmp_path: Path) -> None:
    write_listing(tmp_path / "twice", [ROW, ROW], kind=KIND, split="s", source="x")
    with pytest.raises(ManifestError, match="second row"):
        read_manifest(tmp_path / "twice", split="s", task_ids=IDS)


def test_a_missing_file_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match="no such file"):
        read_manifest(tmp_path / "none.jsonl", split="s", task_ids=IDS)


def test_a_manifest_of_another_set_with_the_same_ids_is_refused(tmp_path: Path) -> None:
    write_manifest(tmp_path / "m", {"csm/1|oracle": PLAN}, split="test@abcdef012345", source="expert")
    assert read_manifest(tmp_path / "m", split="test", task_ids=IDS, set_sha256="abcdef0123456789").split == "test"
    with pytest.raises(ManifestError, match="was built for the task set abcdef012345, this run has 999999999999"):
        read_manifest(tmp_path / "m", split="test", task_ids=IDS, set_sha256="9" * 64)
    with pytest.raises(ManifestError, match="was built for split 'test', this run evaluates 'val'"):
        read_manifest(tmp_path / "m", split="val", task_ids=IDS, set_sha256="abcdef0123456789")


def test_a_row_may_be_for_one_attempt_and_fix_an_intensity(tmp_path: Path) -> None:
    mild = replace(PLAN, intensity=0.25)
    plans = {"csm/1|oracle|0": mild, "csm/1|oracle|1": None, "csm/2|oracle": PLAN}
    write_manifest(tmp_path / "m", plans, split="test", source="expert")
    manifest = read_manifest(tmp_path / "m", split="test", task_ids=IDS)
    assert manifest.plan_for(Case(task_id="csm/1", condition="fault")) == mild
    assert manifest.plan_for(Case(task_id="csm/1", condition="fault", attempt=1)) is None
    assert manifest.plan_for(Case(task_id="csm/2", condition="fault", attempt=5)) == PLAN
    with pytest.raises(ManifestError, match=r"no row for case 'csm/1\|oracle', attempt 2"):
        manifest.plan_for(Case(task_id="csm/1", condition="fault", attempt=2))


def test_an_impossible_intensity_is_refused(tmp_path: Path) -> None:
    row = {"case": "csm/1|oracle", "fault": {**ROW["fault"], "intensity": 2.0}, "reason": ""}
    write_listing(tmp_path / "m", [row], kind=KIND, split="test", source="s")
    with pytest.raises(ManifestError, match=r"fault\.intensity: expected a number from 0 to 1, got 2\.0"):
        read_manifest(tmp_path / "m", split="test", task_ids=IDS)
