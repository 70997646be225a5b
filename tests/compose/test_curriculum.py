"""A curriculum list says which tasks RL draws, and in which order."""

from __future__ import annotations

from pathlib import Path

import pytest

from robustops.compose.rl import curriculum_of
from robustops.config.tree import RunConfig, SplitConfig
from robustops.core.errors import ConfigError

KNOWN = ["a", "b", "c"]


def config_of(path: Path | None) -> RunConfig:
    return RunConfig(split=SplitConfig(root="data", curriculum=None if path is None else str(path)))


def test_the_lists_order_is_kept_and_remarks_are_left_out(tmp_path):
    path = tmp_path / "list.txt"
    path.write_text("# easy first\nc\n\n a  # then this\n")
    assert curriculum_of(config_of(path), KNOWN) == ["c", "a"]
    assert curriculum_of(config_of(None), KNOWN) == KNOWN


@pytest.mark.parametrize(
    ("text", "reason"),
    [("a\nd\n", "'d' is not among the 3"), ("a\nb\na\n", "3 ids, 2 of them different"), ("# none\n", "0 ids")],
)
def test_a_list_that_cannot_be_followed_is_refused(tmp_path, text, reason):
    path = tmp_path / "list.txt"
    path.write_text(text)
    with pytest.raises(ConfigError, match=reason):
        curriculum_of(config_of(path), KNOWN)


def test_a_missing_list_is_named(tmp_path):
    with pytest.raises(ConfigError, match=r"split\.curriculum: .*none\.txt does not exist"):
        curriculum_of(config_of(tmp_path / "none.txt"), KNOWN)
