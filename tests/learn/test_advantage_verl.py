"""Our advantages against those of verl's GDPO estimator, whose outputs benchmarks/advantages.py has written down."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path

import pytest

from robustops.learn.advantage import normalise
from robustops.rollout.score import Evidence, RewardWeights, Score

GOLDEN = json.loads(Path(__file__).with_name("verl_gdpo.json").read_text())
NO_EVIDENCE = Evidence(num_calls=0, bad=(), repeated_turns=())


@pytest.mark.parametrize("number", range(len(GOLDEN["batches"])))
def test_advantages_are_verls_up_to_the_documented_factor(number: int) -> None:
    """verl whitens over B rows of T equal tokens, robustops over B trajectories: another sample deviation."""
    batch = GOLDEN["batches"][number]
    scores = [
        Score(success=bool(s), progress=Fraction(*p), quality=Fraction(*q), evidence=NO_EVIDENCE)
        for s, p, q in batch["members"]
    ]
    size = batch["group_size"]
    groups = [scores[start : start + size] for start in range(0, len(scores), size)]
    success, progress, quality = GOLDEN["weights"]
    weights = RewardWeights(success=success, progress=progress, quality=quality)
    found = normalise(groups, weights=weights).total_N

    rows = len(scores)
    tokens = rows * batch["num_tokens"]
    factor = math.sqrt((tokens - 1) / tokens * rows / (rows - 1))
    assert (found * factor).tolist() == pytest.approx(batch["advantages"], abs=2e-5)
    assert max(map(abs, batch["advantages"])) > 0.5
