"""Every deliberate defect of mutations.py is noticed by the test that is named for it."""

from __future__ import annotations

import importlib.util
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest
from mutations import MUTATIONS

ROOT = Path(__file__).resolve().parents[2]


@cache
def load(path: str) -> ModuleType:
    """A copy of a test module of our own, so that patches in it never reach the tests that pytest collected."""
    name = f"mutated_{Path(path).stem}"
    spec = importlib.util.spec_from_file_location(name, ROOT / path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def run(name: str, request: pytest.FixtureRequest) -> None:
    mutation = MUTATIONS[name]
    path, test = mutation.test.split("::")
    function = getattr(load(path), test)
    wanted = function.__code__.co_varnames[: function.__code__.co_argcount]
    given = dict(zip([name for name in wanted if name != "caplog"], mutation.arguments, strict=True))
    if "caplog" in wanted:
        given["caplog"] = request.getfixturevalue("caplog")
    function(**given)


@pytest.mark.parametrize("name", MUTATIONS)
def test_defect_is_noticed_and_its_absence_is_not(
    name: str, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    run(name, request)
    with monkeypatch.context() as patched:
        MUTATIONS[name].patch(patched, load(MUTATIONS[name].test.split("::")[0]))
        with pytest.raises((Exception, pytest.fail.Exception)):
            run(name, request)
