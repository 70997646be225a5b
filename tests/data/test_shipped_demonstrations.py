"""The demonstrations that are shipped: what is collected today, of the shipped task set, in the tiny model's tokens."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from hydra import compose

from robustops import cli
from robustops.agent.vocabulary import vocabulary_sha256
from robustops.compose.collect import run
from robustops.compose.sft import read_demonstrations
from robustops.config import RunConfig, SftConfig, typed
from robustops.config.preflight import before_training
from robustops.core.errors import ConfigError, SplitError, TableError, UserError
from robustops.core.listing import Header, write_listing
from robustops.data.sft import SAMPLES, SftSample, load_samples, save_samples
from robustops.data.splits import SplitManifest
from robustops.data.task_set import COMMITTED_SPLIT
from robustops.faults.catalogue import subtypes_of
from tests.agent.chat_folder import QWEN3_LIKE, write_chat_folder

pytestmark = pytest.mark.usefixtures("hydra_knows_the_tree")

SHIPPED = cli.PACKAGE / "assets" / "demonstrations" / "synthetic.jsonl.gz"
TINY_BASE = cli.PACKAGE / "assets" / "models" / "tiny-base"
COMMITTED = SplitManifest.load(COMMITTED_SPLIT)
NUM_TASKS = 14  # enough for every template of the part


def configured(primary: str, *overrides: str) -> RunConfig:
    config = typed(compose(primary, overrides=[*overrides, "run.dir=somewhere"]))
    assert isinstance(config, RunConfig)
    return config


def default_recipe(root: Path, *overrides: str) -> RunConfig:
    """`python -m robustops.train +experiment=tiny_sft` with nothing else, but for where the tasks are."""
    return configured("train", "+experiment=tiny_sft", f"split.root={root}", *overrides)


@pytest.fixture(scope="module")
def committed_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that holds the shipped set's manifest: all that reading demonstrations asks of a task set."""
    root = tmp_path_factory.mktemp("committed")
    shutil.copy(COMMITTED_SPLIT, root / "split.jsonl")
    for kind in ("graphs", "plans"):
        write_listing(root / f"{kind}.jsonl", [], kind=kind, split="synthetic", source="none")
    return root


@pytest.fixture(scope="module")
def shipped() -> tuple[Header, tuple[SftSample, ...]]:
    return load_samples(SHIPPED)


def test_collecting_the_beginning_again_gives_the_shipped_samples_token_for_token(shipped, tmp_path: Path) -> None:
    sizes = (f"split.root={tmp_path}/set", f"split.num_train={NUM_TASKS}", "split.num_val=0", "split.num_test=0")
    folder = tmp_path / "demonstrations"
    folder.mkdir()
    run(configured("collect", *sizes), folder)
    header, made = load_samples(folder / SAMPLES)
    assert header.source == shipped[0].source
    templates = {COMMITTED.entry(sample.facts.task_id).template for sample in made}
    assert templates == {entry.template for entry in COMMITTED.entries.values() if entry.part == "train"}
    assert len(made) == 2 * NUM_TASKS
    by_source = {sample.source: sample for sample in shipped[1]}
    assert [by_source[sample.source] for sample in made] == list(made)


def test_every_training_task_is_demonstrated_clean_and_after_a_fault_of_training(shipped) -> None:
    header, samples = shipped
    assert header.split == f"train@{COMMITTED.sha256[:12]}"
    assert header.source.endswith(f"tokenizer {vocabulary_sha256(TINY_BASE)[:12]}, tools compact")
    for condition in ("clean", "fault"):
        found = [sample.facts.task_id for sample in samples if sample.facts.condition == condition]
        assert sorted(found) == sorted(COMMITTED.select("train"))
    assert {sample.facts.fault for sample in samples} - {""} == set(subtypes_of("train"))


def test_the_default_recipe_trains_from_the_shipped_set(committed_root: Path, capsys) -> None:
    config = default_recipe(committed_root)
    before_training(config)
    assert isinstance(config.algorithm, SftConfig)
    header, samples = read_demonstrations(config, config.algorithm)
    assert (header.kind, len(samples)) == ("sft", 2 * len(COMMITTED.select("train")))
    assert f"2400 demonstrations of {SHIPPED}" in capsys.readouterr().out


def refused(config: RunConfig) -> UserError:
    """What is said before torch is imported, and by the job itself: the same."""
    with pytest.raises(UserError) as early:
        before_training(config)
    assert isinstance(config.algorithm, SftConfig)
    with pytest.raises(type(early.value)) as late:
        read_demonstrations(config, config.algorithm)
    assert str(late.value) == str(early.value)
    assert "\n" not in str(early.value)
    return early.value


def test_demonstrations_of_another_task_set_are_refused(tmp_path: Path) -> None:
    for kind in ("split", "graphs", "plans"):
        write_listing(tmp_path / f"{kind}.jsonl", [], kind=kind, split="synthetic", source="another recipe")
    error = refused(default_recipe(tmp_path))
    assert isinstance(error, SplitError)
    assert f"was collected on task set {COMMITTED.sha256[:12]}" in str(error)
    assert "algorithm.demonstrations=FOLDER" in str(error)


def test_token_ids_of_another_tokenizer_are_refused(committed_root: Path, tmp_path: Path) -> None:
    other = write_chat_folder(tmp_path / "chat", QWEN3_LIKE)
    shutil.copy(TINY_BASE / "config.json", other / "config.json")
    error = refused(default_recipe(committed_root, f"model.path={other}"))
    assert isinstance(error, TableError)
    assert f"ids of tokenizer {vocabulary_sha256(TINY_BASE)[:12]}" in str(error)
    assert f"this model has {vocabulary_sha256(other)[:12]}" in str(error)


def test_another_view_of_the_tools_is_refused(committed_root: Path) -> None:
    """Compact and full schemas are different prompts: what is learnt from one says little about the other."""
    error = refused(default_recipe(committed_root, "model.tool_schema=full"))
    assert isinstance(error, TableError)
    assert f"{SHIPPED} shows tools in the compact view, this run has model.tool_schema=full" in str(error)
    assert "write model.tool_schema=compact, or collect with model.tool_schema=full" in str(error)


def test_demonstrations_of_another_part_are_refused(shipped, committed_root: Path, tmp_path: Path) -> None:
    save_samples(tmp_path / SAMPLES, shipped[1][:1], split=f"test@{COMMITTED.sha256[:12]}", source="expert")
    error = refused(default_recipe(committed_root, f"algorithm.demonstrations={tmp_path}"))
    assert "demonstrations of part 'test'; only 'train' may be trained on" in str(error)


def test_a_file_that_names_neither_set_nor_tokenizer_nor_view_is_taken_by_its_tasks(
    shipped, committed_root, tmp_path
) -> None:
    """As files of older collections are."""
    samples = shipped[1]
    save_samples(tmp_path / SAMPLES, samples[:2], split="train", source="expert")
    config = default_recipe(committed_root, f"algorithm.demonstrations={tmp_path}")
    before_training(config)
    assert len(read_demonstrations(config, config.algorithm)[1]) == 2
    save_samples(
        tmp_path / SAMPLES, [replace(samples[0], source="x/nowhere|oracle|clean|0")], split="train", source="x"
    )
    with pytest.raises(SplitError, match="'nowhere' is not in this split"):
        read_demonstrations(config, config.algorithm)


def test_a_cut_file_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / SHIPPED.name
    path.write_bytes(SHIPPED.read_bytes()[:-1000])
    with pytest.raises(TableError, match=r"synthetic\.jsonl\.gz: not a whole gzip file"):
        load_samples(path)
    path.write_text("{}\n")
    with pytest.raises(TableError, match=r"synthetic\.jsonl\.gz: not a whole gzip file"):
        load_samples(path)


def tokenizer(folder: Path, vocabulary: str, added: str) -> Path:
    folder.mkdir()
    (folder / "tokenizer.json").write_text(f'{{"model": {{"vocab": {vocabulary}}}, "added_tokens": [{added}]}}')
    return folder


def test_a_tokenizer_is_known_by_which_token_has_which_id(tmp_path: Path) -> None:
    stop = '{"content": "<stop>", "id": 2}'
    one = vocabulary_sha256(tokenizer(tmp_path / "one", '{"a": 0, "b": 1}', stop))
    same = vocabulary_sha256(tokenizer(tmp_path / "same", '{"b": 1, "a": 0, "<stop>": 2}', ""))
    swapped = vocabulary_sha256(tokenizer(tmp_path / "swapped", '{"a": 1, "b": 0}', stop))
    fewer = vocabulary_sha256(tokenizer(tmp_path / "fewer", '{"a": 0, "b": 1}', ""))
    assert one == same
    assert len({one, swapped, fewer}) == 3


def test_a_folder_without_a_vocabulary_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"tokenizer\.json: no such file"):
        vocabulary_sha256(tmp_path)
    (tmp_path / "tokenizer.json").write_text('{"model": {}}')
    with pytest.raises(ConfigError, match=r"tokenizer\.json: holds no vocabulary"):
        vocabulary_sha256(tmp_path)
