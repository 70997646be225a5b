"""The main job at its smallest, by the commands that a user types: demonstrations, SFT, RL, evaluation, report."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from robustops.core.episode_row import read_episodes
from robustops.core.files import read_json
from robustops.core.json_lines import read_lines

pytestmark = pytest.mark.slow
TASKS = ("split.root=tasks", "split.num_train=48", "split.num_val=12", "split.num_test=13")
ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "PASSIVE"}


def start(folder: Path, module: str, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", module, *arguments]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=folder, env=ENVIRONMENT, stdout=pipe, stderr=pipe, text=True)


def run(folder: Path, module: str, *arguments: str, code: int = 0) -> str:
    process = start(folder, module, *arguments)
    out, err = process.communicate(timeout=600)
    assert process.returncode == code, err[-3000:]
    return out if code == 0 else err


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A working folder with demonstrations and an SFT model of a few steps."""
    folder = tmp_path_factory.mktemp("job")
    run(folder, "robustops.collect", *TASKS, "run.dir=demonstrations")
    sft = ("+experiment=tiny_sft", "algorithm.demonstrations=demonstrations", "algorithm.epochs=1")
    run(folder, "robustops.train", *sft, *TASKS, "run.dir=sft")
    return folder


RL = (
    *("+experiment=tiny_rl", "model.path=sft/export", "algorithm.steps=2", "algorithm.clean_groups=2"),
    *("algorithm.fault_groups=2", *TASKS),
)


def test_demonstrations_are_successful_episodes_of_training_tasks(folder: Path) -> None:
    rows = read_episodes(folder / "demonstrations" / "episodes.parquet")
    assert len(rows) == 96  # every task clean, and as many under a fault
    assert all(row.success for row in rows)
    assert {row.split for row in rows} == {"train"}
    assert all(row.fault_hit for row in rows if row.condition == "fault")


def test_rl_rolls_out_trains_and_exports(folder: Path) -> None:
    out = run(folder, "robustops.train", *RL, "run.dir=rl")
    assert "RL steps: 2/2" in out
    lines = list(read_lines(folder / "rl" / "trajectories.jsonl"))
    assert lines
    sampled = [turn for line in lines for turn in line["turns"] if turn["generated"]]
    assert all(len(turn["logprobs"]) == len(turn["sampled_ids"]) for turn in sampled)
    assert len(read_episodes(folder / "rl" / "episodes.parquet")) == len(lines)
    assert (folder / "rl" / "export" / "model.safetensors").is_file()


def test_two_models_are_compared_on_the_same_cases(folder: Path) -> None:
    run(folder, "robustops.prepare", "do=manifest", *TASKS, "run.dir=manifest")
    common = ("+experiment=tiny_eval", "fault_policy.manifest=manifest/manifest.jsonl", "split.limit=6", *TASKS)
    run(folder, "robustops.evaluate", *common, "model.stage=base", "run.dir=eval_base")
    run(folder, "robustops.evaluate", *common, "model.stage=sft", "model.path=sft/export", "run.dir=eval_sft")
    base = read_episodes(folder / "eval_base" / "episodes.parquet")
    sft = read_episodes(folder / "eval_sft" / "episodes.parquet")
    assert [row.case_id for row in base] == [row.case_id for row in sft]
    assert len(base) == 12
    assert read_json(folder / "eval_base" / "run.json")["manifest_sha"] == base[0].manifest_sha != ""
    run(folder, "analysis.report", "eval_base", "eval_sft", "--check", "--out", "report")
    assert "<svg" in (folder / "report" / "report.html").read_text()


def test_a_folder_of_one_model_takes_no_results_of_another(folder: Path) -> None:
    common = ("+experiment=tiny_eval", "evaluation.conditions=[clean]", "split.limit=2", *TASKS, "run.dir=eval_mixed")
    run(folder, "robustops.evaluate", *common, "engine=scripted")
    err = run(folder, "robustops.evaluate", *common, "engine=scripted", "model.path=sft/export", code=2)
    assert "settings_sha" in err


def test_two_jobs_of_a_multirun_train_in_one_process(folder: Path) -> None:
    out = run(folder, "robustops.train", "-m", *RL, "algorithm.steps=1", "reward_norm=component,aggregate")
    exports = sorted((folder / "multirun").glob("*/*/*/export/model.safetensors"))
    assert len(exports) == 2, out
    norms = {read_json(path.parents[1] / "run.json")["config"]["reward_norm"]["kind"] for path in exports}
    assert norms == {"component", "aggregate"}


def test_rl_killed_after_a_recorded_group_repeats_no_group(folder: Path) -> None:
    process = start(folder, "robustops.train", *RL, "run.dir=killed")
    trajectories = folder / "killed" / "trajectories.jsonl"
    deadline = time.monotonic() + 300
    while not (trajectories.is_file() and trajectories.read_bytes().count(b"\n") >= 4):
        assert process.poll() is None, process.communicate()[1][-3000:]
        assert time.monotonic() < deadline, "no group was recorded"
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()
    before = [line.split('"turns"')[0] for line in trajectories.read_text().splitlines()[:4]]
    run(folder, "robustops.train", *RL, "run.dir=killed")
    lines = list(read_lines(trajectories))
    keys = [(line["source"]["slot"], line["source"]["member"]) for line in lines]
    assert len(set(keys)) == len(keys)
    assert [json.dumps(line, separators=(",", ":")).split('"turns"')[0] for line in lines[:4]] == before


@pytest.mark.parametrize(
    ("overrides", "expected"),
    [
        (("+experiment=tiny_rl", "model.path=nowhere"), "model.path"),
        (("+experiment=tiny_sft", "algorithm.demonstrations=nowhere"), "algorithm.demonstrations"),
        (("+experiment=tiny_rl", "hardware=gpu1_80g"), "hardware=gpu1_80g wants 1 GPU"),
        (("+experiment=tiny_rl", "split.part=test"), "split.part"),
        (("+experiment=tiny_rl", "fault_policy=none"), "fault_policy=none"),
        (("+experiment=tiny_rl", "engine=scripted"), "engine.kind"),
        (("+experiment=rl120", "hardware=cpu"), "model.path"),
    ],
)
def test_what_cannot_run_is_refused_in_one_line(overrides: tuple[str, ...], expected: str, tmp_path: Path) -> None:
    err = run(tmp_path, "robustops.train", *overrides, code=2)
    assert "Traceback" not in err
    (line,) = [line for line in err.splitlines() if line.startswith("error: ")]
    assert expected in line


def test_evaluation_refuses_training_cases(tmp_path: Path) -> None:
    assert "split.part" in run(tmp_path, "robustops.evaluate", "split.part=train", code=2)


def test_collection_refuses_test_cases(tmp_path: Path) -> None:
    assert "'train' alone" in run(tmp_path, "robustops.collect", "split.part=test", code=2)
