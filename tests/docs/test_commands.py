"""Every command that a page shows is one that the program takes: it composes, or its parser accepts it."""

from __future__ import annotations

import importlib
import re
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
import yaml
from hydra import compose
from hydra.core.override_parser.overrides_parser import OverridesParser

from robustops import show
from robustops.config import known_keys, typed
from robustops.config.reference import reference
from robustops.config.tree import RunConfig

pytestmark = pytest.mark.usefixtures("hydra_knows_the_tree")

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    *ROOT.glob("README*.md"),
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "experiments").glob("*/README.md")),
    *sorted((ROOT / "robustops" / "assets").rglob("README.md")),
]
SWEEPS = sorted((ROOT / "experiments").glob("ablations/*.yaml"))
JOBS = ("train", "evaluate", "collect", "prepare", "serve", "plan")  # each has a primary configuration of its name
SHELL = ("sh", "bash", "console")
INLINE = re.compile(r"`((?:\.venv/bin/)?python -m [^`]+|make [a-z-]+)`")


def shell_lines(text: str) -> Iterator[str]:
    """What stands in shell blocks, a line continued by a backslash as one."""
    language = None
    for line in text.replace("\\\n", " ").splitlines():
        if line.strip().startswith("```"):
            language = None if language is not None else line.strip().removeprefix("```")
        elif language in SHELL:
            yield line.split("  #")[0].strip()


def commands() -> Iterator[tuple[str, str]]:
    """(page, command), from shell blocks and from inline code that is a whole command."""
    for page in PAGES:
        text = page.read_text()
        inline = [found.replace("\n", " ") for found in INLINE.findall(text)]
        for command in dict.fromkeys([*shell_lines(text), *inline]):
            if command and not command.startswith("#"):
                yield str(page.relative_to(ROOT)), command


COMMANDS = [found for found in commands() if re.search(r"python -m|^make |experiments/", found[1])]


def one_at_a_time(choices: list[list[str]]) -> Iterator[list[str]]:
    """The first values of all, then every other value beside the first ones."""
    first = [values[0] for values in choices]
    yield first
    for place, values in enumerate(choices):
        for value in values[1:]:
            yield [*first[:place], value, *first[place + 1 :]]


def without_plugins(folder: Path, overrides: list[str]) -> list[str]:
    """Options of a folder of their own may need a sweeper that is not installed: their keys must be known ones."""
    rest = []
    for text in overrides:
        group, _, option = text.lstrip("+").partition("=")
        path = folder / group / f"{option}.yaml"
        if not (folder / group).is_dir():
            rest.append(text)
            continue
        keys = set(yaml.safe_load(path.read_text())["hydra"]["sweeper"]["params"])
        assert keys <= set(known_keys())
    return rest


def composes(job: str, words: list[str]) -> None:
    """With every value of a sweep, each varied alone; flags of Hydra itself are taken as they are."""
    overrides = [word for word in words if "=" in word and not word.startswith("-")]
    if "--config-dir" in words:
        overrides = without_plugins(ROOT / words[words.index("--config-dir") + 1], overrides)
    parsed = OverridesParser.create().parse_overrides(overrides)
    choices = [
        [f"{item.get_key_element()}={value}" for value in item.sweep_string_iterator()]
        if item.is_sweep_override()
        else [text]
        for item, text in zip(parsed, overrides, strict=True)
    ]
    for chosen in one_at_a_time(choices):
        place = [] if any(text.startswith("run.dir=") for text in chosen) or job == "serve" else ["run.dir=somewhere"]
        composed(job, (*chosen, *place))


@cache
def composed(job: str, overrides: tuple[str, ...]) -> None:
    """Several pages show the same command."""
    typed(compose(job, overrides=list(overrides)))


def accepts(words: list[str]) -> None:
    name, *rest = words
    if name.startswith("robustops."):
        job = name.removeprefix("robustops.")
        if job == "show":
            assert rest[0] in show.VIEWS or rest == ["--help"]
        elif "--help" not in rest and "..." not in rest:
            assert job in JOBS
            composes(job, rest)
        return
    module = importlib.import_module(name)
    if name.startswith("analysis.") and rest and "..." not in rest and "--help" not in rest:
        if not hasattr(module, "_parse"):
            module = importlib.import_module(f"{name}.__main__")
        module._parse(rest)


def test_there_are_commands_to_look_at() -> None:
    assert len(COMMANDS) > 40
    assert {page for page, _ in COMMANDS} >= {"README.md", "README.zh.md", "docs/quickstart.md", "docs/evaluation.md"}


@pytest.mark.parametrize(("page", "command"), COMMANDS, ids=[f"{page}: {command[:60]}" for page, command in COMMANDS])
def test_a_command_of_a_page_is_one_that_the_program_takes(page: str, command: str) -> None:
    words = [word for word in shlex.split(command, comments=True) if not re.fullmatch(r"[A-Z_]+=\S*", word)]
    if words[0] == "make":
        targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
        assert set(words[1:]) <= set(targets)
    elif "-m" in words[:3]:
        accepts([word for word in words[words.index("-m") + 1 :] if word != "\\"])
    else:
        files = [word for word in words if word.startswith("experiments/")]
        assert files
        assert all((ROOT / file).exists() for file in files)


@pytest.mark.parametrize("path", SWEEPS, ids=lambda path: path.stem)
def test_every_value_of_a_wandb_sweep_composes(path: Path) -> None:
    sweep = yaml.safe_load(path.read_text())
    assert sweep["program"] == "robustops.train"
    assert path.name in (path.parent / "README.md").read_text()
    fixed = [word for word in sweep["command"] if "=" in word]
    choices = [
        [f"{key}={str(value).lower()}" for value in entry["values"]] for key, entry in sweep["parameters"].items()
    ]
    for chosen in one_at_a_time(choices[:-1]):  # the last are the seeds
        composes("train", [*fixed, *chosen])


def test_the_configuration_reference_names_every_key_with_its_default_and_note() -> None:
    text = reference()
    assert "| `split.limit` | int \\| None | `None` | a seeded sample stratified by domain, never the first N |" in text
    assert "| `algorithm.delay_steps` | int | `10` | RL steps before a case without signal may return |" in text
    assert "| `model.api.key_env` | str | `''` |" in text
    for name in RunConfig.__dataclass_fields__:
        assert f"## {name}" in text or f"`{name}`" in text


def test_links_between_pages_lead_somewhere() -> None:
    made = {"configuration.md", "decisions/index.md"}  # by docs/hooks.py
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
            path = (page.parent / target).resolve()
            is_made = any(path == ROOT / "docs" / name for name in made)
            assert is_made or path.exists(), f"{page}: {target}"
