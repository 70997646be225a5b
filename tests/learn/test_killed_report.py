"""The command `train`, killed at random points, then evaluated and reported: the report of a run left alone."""

from __future__ import annotations

import csv
import hashlib
import random
from dataclasses import asdict
from pathlib import Path

import pytest
import torch
import train_process
from rl_forks import Ended, run_main
from safetensors.torch import load_file

from analysis.report import main as report
from robustops.core.episode_row import read_episodes
from robustops.core.files import read_json
from robustops.core.json_lines import read_lines

pytestmark = pytest.mark.slow
ENGINE = ("engine=hf", "engine.deterministic=true")
RL = (
    *(
        "+experiment=tiny_rl",
        *ENGINE,
        "algorithm.clean_groups=1",
        "algorithm.fault_groups=1",
        "algorithm.max_attempts=2",
    ),
    *("algorithm.delay_steps=1", "split.num_train=48", "split.num_val=12", "split.num_test=13"),
)
CLOCKS = ("time/", "rollout/tokens_per_s", "train/tokens_per_s", "train/peak_memory_mib")


def train(folder: Path, steps: int, kill_at: int = 0) -> Ended:
    where = (f"split.root={folder.parent / 'tasks'}",)
    return run_main(train_process.main, folder / "rl", kill_at, "train", *RL, *where, f"algorithm.steps={steps}")


def files_of_report(folder: Path) -> dict[str, str]:
    """By name; the table of the episodes holds clock readings, so its hash is replaced by that of all else in it.

    The revision of the checkout goes too: somebody may commit between two evaluations.
    """
    cases = (
        "+experiment=tiny_eval",
        *ENGINE,
        "model.stage=rl",
        f"model.path={folder / 'rl' / 'export'}",
        "split.limit=2",
    )
    assert run_main(train_process.main, folder / "eval", 0, "evaluate", *cases).result()["code"] == 0
    assert report([str(folder / "eval"), "--training", str(folder / "rl"), "--out", str(folder / "report")]) == 0
    table = folder / "eval" / "episodes.parquet"
    seen = hashlib.sha256(table.read_bytes()).hexdigest()[:16]
    timeless = hashlib.sha256(str(rows(table)).encode()).hexdigest()
    found = [folder / "report" / "report.md", *(folder / "report" / "figures").iterdir()]  # report.html shows the same
    revision = str(read_json(folder / "eval" / "run.json")["revision"])[:12]
    return {path.name: path.read_text().replace(seen, timeless).replace(f"{revision} |", "|") for path in found}


def rows(path: Path) -> list[dict]:
    return [{name: value for name, value in asdict(row).items() if name != "wall_s"} for row in read_episodes(path)]


def metrics(folder: Path) -> list[dict[str, str]]:
    with (folder / "rl" / "metrics.csv").open(newline="") as file:
        return [{name: row[name] for name in row if not name.startswith(CLOCKS)} for row in csv.DictReader(file)]


def samples(folder: Path) -> list:
    """Every sampled token with its logprob, by slot and member, in the order of the log."""
    return [
        (line["source"]["slot"], line["source"]["member"], [(t["sampled_ids"], t["logprobs"]) for t in line["turns"]])
        for line in read_lines(folder / "rl" / "trajectories.jsonl")
    ]


def test_a_run_killed_twice_gives_the_same_report_as_one_left_alone(sized, tmp_path):
    steps, rng = sized(20, least=3), random.Random("two kills")
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    for folder in (whole, killed):
        folder.mkdir()
    done = train(whole, steps).result()
    assert done["code"] == 0
    for kill_at in (rng.randint(1, done["events"] // 2), rng.randint(1, done["events"] // 3)):
        ended = train(killed, steps, kill_at)
        assert ended.exit_code == -9, ended.printed[-3000:]
    assert train(killed, steps).result()["code"] == 0

    weights = [load_file(folder / "rl" / "export" / "model.safetensors") for folder in (whole, killed)]
    assert all(torch.equal(weights[0][name], weights[1][name]) for name in weights[0])
    assert float(metrics(whole)[-1]["train/weight_version"]) > 0, "no step had an update"
    assert samples(killed) == samples(whole)
    assert rows(killed / "rl" / "episodes.parquet") == rows(whole / "rl" / "episodes.parquet")
    assert metrics(killed) == metrics(whole)
    assert files_of_report(killed) == files_of_report(whole)
