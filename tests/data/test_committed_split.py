"""The committed manifest is what the generator makes today."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import get_args

import pytest

from robustops.config.tree import SplitConfig
from robustops.core.errors import SplitError
from robustops.core.listing import read_listing
from robustops.core.task import Part
from robustops.data.splits import SplitManifest
from robustops.data.synth.generate import DOMAINS, draw, split_row
from robustops.data.task_set import COMMITTED_SPLIT

DEFAULTS = SplitConfig(root="")


@pytest.fixture(scope="module")
def manifest() -> SplitManifest:
    return SplitManifest.load(COMMITTED_SPLIT)


@pytest.mark.parametrize("part", get_args(Part))
def test_regenerating_the_beginning_of_a_part_gives_the_committed_rows(manifest, part):
    """Enough for every template of the part, and for two databases."""
    for name in DEFAULTS.domains:
        for task in draw(DOMAINS[name], part, 14, seed=DEFAULTS.generator_seed):
            assert asdict(manifest.entry(task.task_id)) == split_row(task)


def test_the_manifest_is_about_the_default_set(manifest):
    found = Counter(entry.part for entry in manifest.entries.values())
    assert found == {"train": DEFAULTS.num_train, "val": DEFAULTS.num_val, "test": DEFAULTS.num_test}
    assert {entry.domain for entry in manifest.entries.values()} == set(DEFAULTS.domains)
    assert f"seed={DEFAULTS.generator_seed} " in read_listing(COMMITTED_SPLIT, kind="split")[0].source


def test_training_refuses_each_of_the_others(manifest):
    manifest.require(manifest.select("train"), part="train")
    for part in ("val", "test"):
        for task_id in manifest.select(part):
            with pytest.raises(SplitError, match=f"is in part '{part}', but only 'train' may be used"):
                manifest.require([f"{task_id}|oracle|clean|0"], part="train")


def test_held_out_templates_are_in_test_alone_and_say_so(manifest):
    held_out = [entry for entry in manifest.entries.values() if entry.held_out]
    assert {entry.part for entry in held_out} == {"test"}
    assert {entry.rule for entry in held_out} == {"held-out template"}
    others = {entry.template for entry in manifest.entries.values() if not entry.held_out}
    assert not others & {entry.template for entry in held_out}
