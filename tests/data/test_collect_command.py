"""The collect command whole: by the scripted expert and by an endpoint, and its exports in every format."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from hydra import compose
from pyarrow import parquet
from transformers import AutoTokenizer

from robustops.compose.collect import run
from robustops.compose.demonstrations import EXPORT, read_conversations
from robustops.compose.scene import build_scene
from robustops.compose.spending import SPEND
from robustops.config import RunConfig, typed
from robustops.core.errors import ConfigError, TableError
from robustops.core.files import read_json
from robustops.core.folders import sole_writer
from robustops.data.formats import FORMATS
from robustops.data.formats import read_conversations as read_format
from robustops.data.guidance import EXECUTION, RECOVERY
from robustops.data.sft import SAMPLES, load_samples
from tests.data.teacher_server import served_expert

pytestmark = pytest.mark.usefixtures("hydra_knows_the_tree")

NUM_TASKS = 9
SIZES = (f"split.num_train={NUM_TASKS}", "split.num_val=3", "split.num_test=3", "split.domains=[csm,itsm,hr]")


@dataclass(frozen=True)
class Collected:
    config: RunConfig
    folder: Path
    bodies: list[dict]


def configured(root: Path, *overrides: str) -> RunConfig:
    config = typed(compose("collect", overrides=[*SIZES, f"split.root={root}", "run.dir=x", *overrides]))
    assert isinstance(config, RunConfig)
    return config


def collect(folder: Path, root: Path, *overrides: str) -> RunConfig:
    config = configured(root, *overrides)
    folder.mkdir()
    run(config, folder)
    return config


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tasks") / "set"


@pytest.fixture(scope="module")
def scripted(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Collected:
    folder = tmp_path_factory.mktemp("scripted") / "run"
    return Collected(config=collect(folder, root), folder=folder, bodies=[])


@pytest.fixture(scope="module")
def served(root: Path, scripted: Collected, tmp_path_factory: pytest.TempPathFactory) -> Collected:
    """The same collection, asked for over HTTP; the task set exists by then."""
    folder = tmp_path_factory.mktemp("served") / "run"
    prices = ("model.api.usd_per_million_input=2", "model.api.usd_per_million_output=10")
    with served_expert(root, narration="Let me see what comes next.") as (url, endpoint):
        names = (f"model.api.base_url={url}", "model.api.model=expert", "collection.teacher=api")
        config = collect(folder, root, *names, *prices)
        return Collected(config=config, folder=folder, bodies=endpoint.bodies)


@pytest.mark.skipif(sys.platform == "win32", reason="folders cannot be locked there")
def test_a_second_collection_in_the_folder_of_a_running_one_is_refused(scripted, root, tmp_path):
    with sole_writer(tmp_path / "run"), pytest.raises(TableError, match="another run is writing there"):
        run(configured(root), tmp_path / "run")


def test_one_command_collects_successes_of_three_domains_clean_and_after_faults(scripted):
    header, samples = load_samples(scripted.folder / SAMPLES)
    assert (header.split.partition("@")[0], len(samples)) == ("train", 2 * NUM_TASKS)
    assert {sample.facts.domain for sample in samples} == {"csm", "itsm", "hr"}
    assert {sample.facts.condition for sample in samples} == {"clean", "fault"}
    assert all(bool(sample.facts.fault) == (sample.facts.condition == "fault") for sample in samples)


def test_an_endpoint_is_guided_and_the_student_s_input_is_the_unguided_prompt_token_for_token(scripted, served):
    """The scripted expert was never guided. Its prompts, and what a served one leaves behind, are the same ids."""
    systems = [body["messages"][0]["content"] for body in served.bodies]
    assert all(EXECUTION in system for system in systems)
    assert any(system.endswith(RECOVERY) for system in systems)
    ours = {s.source: s for s in load_samples(scripted.folder / SAMPLES)[1]}
    theirs = {s.source: s for s in load_samples(served.folder / SAMPLES)[1]}
    assert ours.keys() == theirs.keys()
    for source, sample in theirs.items():
        first = sample.spans[0]
        assert first.reason == "context"
        assert sample.token_ids[: first.end] == ours[source].token_ids[: ours[source].spans[0].end], source


def test_words_that_only_announce_carry_no_loss_and_the_calls_do(served):
    for sample in load_samples(served.folder / SAMPLES)[1]:
        reasons = [span.reason for span in sample.spans if span.reason != "context"]
        assert reasons[:2] == ["planning", "call"], sample.source
        assert reasons[-1] == "final_answer"


def test_what_an_endpoint_cost_is_counted_reply_by_reply(served):
    """100 tokens in at $2 and 20 out at $10 a million: $0.0004 a reply."""
    spend = read_json(served.folder / SPEND)
    assert spend["num_replies"] == len(served.bodies)
    assert spend["cost_usd"] == pytest.approx(0.0004 * len(served.bodies))


def test_the_same_command_again_asks_for_nothing_and_forgets_no_cost(served, root):
    spend, samples = read_json(served.folder / SPEND), (served.folder / SAMPLES).read_text()
    with served_expert(root) as (_, endpoint):
        run(served.config, served.folder)
        assert endpoint.bodies == []
    assert read_json(served.folder / SPEND) == spend
    assert (served.folder / SAMPLES).read_text() == samples


@pytest.fixture(scope="module")
def exported(scripted: Collected, root: Path) -> Collected:
    config = configured(root, "do=export")
    run(config, scripted.folder)
    return Collected(config=config, folder=scripted.folder, bodies=[])


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_is_read_back_without_loss(exported, name):
    scene = build_scene(exported.config, "train")
    conversations = read_conversations(scene, exported.folder)
    assert len(conversations) == 2 * NUM_TASKS
    assert read_format(exported.folder / EXPORT / FORMATS[name].file, name) == conversations


def test_exports_hold_no_line_of_the_guidance(exported, served, root):
    run(configured(root, "do=export"), served.folder)
    lines = [line for line in (*EXECUTION.splitlines(), *RECOVERY.splitlines()) if line]
    for folder in (exported.folder, served.folder):
        for path in (folder / SAMPLES, *(folder / EXPORT).iterdir()):
            content = path.read_bytes().decode(errors="ignore")
            assert not any(line in content or json.dumps(line)[1:-1] in content for line in lines), path


def test_the_chat_template_renders_exported_messages_to_the_sample_s_tokens(exported):
    tokenizer = AutoTokenizer.from_pretrained(exported.config.model.path)
    with (exported.folder / EXPORT / "hf.jsonl").open() as file:
        rows = [json.loads(line) for line in file]
    for row in rows:
        ids = tokenizer.apply_chat_template(row["messages"], tokenize=True, return_dict=False)
        assert ids[: len(row["token_ids"])] == row["token_ids"], row["source"]


def test_arguments_are_text_in_the_files_and_objects_inside(exported):
    path = exported.folder / EXPORT / "hf.jsonl"
    row = json.loads(path.read_text().splitlines()[0])
    (call,) = row["messages"][2]["tool_calls"]
    assert isinstance(call["function"]["arguments"], str)
    inside = read_format(path, "hf")[0].messages[2]["tool_calls"][0]["function"]["arguments"]
    assert inside == json.loads(call["function"]["arguments"])


def test_weights_stand_beside_the_spans_and_add_up_to_one(exported):
    row = json.loads((exported.folder / EXPORT / "hf.jsonl").read_text().splitlines()[0])
    assert sum((span["end"] - span["start"]) * span["weight"] for span in row["spans"]) == pytest.approx(1)


def test_no_check_and_no_expected_value_is_in_an_export(exported):
    for path in (exported.folder / EXPORT).iterdir():
        assert b"SELECT COUNT" not in path.read_bytes(), path


@pytest.mark.parametrize("name", FORMATS)
def test_a_row_that_is_no_conversation_is_named(tmp_path, name):
    path = tmp_path / FORMATS[name].file
    path.write_text('{"a": 1}\n')
    with pytest.raises(TableError, match=r"not a (conversation|Parquet file)"):
        read_format(path, name)
    with pytest.raises(TableError, match="no such file"):
        read_format(tmp_path / "missing", name)


def test_full_tool_schemas_survive_every_format(root, tmp_path):
    """In the full view the template renders the schemas, so the rows hold them."""
    overrides = ("model.tool_schema=full", "model.max_context_tokens=30000", "split.limit=3", "fault_policy=none")
    collect(tmp_path / "run", root, *overrides)
    config = configured(root, "do=export", *overrides)
    run(config, tmp_path / "run")
    conversations = read_conversations(build_scene(config, "train"), tmp_path / "run")
    assert all(tool["function"]["parameters"]["type"] == "object" for c in conversations for tool in c.tools)
    for name, item in FORMATS.items():
        assert read_format(tmp_path / "run" / EXPORT / item.file, name) == conversations, name
    assert all(conversation.tools for conversation in conversations)
    tokenizer = AutoTokenizer.from_pretrained(config.model.path)
    for row in parquet.read_table(tmp_path / "run" / EXPORT / "verl.parquet").to_pylist():
        assert "tools" not in row, "verl would hand them to the template as they are"
        ids = tokenizer.apply_chat_template(row["messages"], tokenize=True, return_dict=False)
        assert ids[: len(row["token_ids"])] == row["token_ids"], row["source"]


def test_tools_that_no_system_message_holds_are_not_lost_silently(exported, tmp_path):
    (made, *_) = read_format(exported.folder / EXPORT / "hf.jsonl", "hf")
    tool = {"type": "function", "function": {"name": "find_case", "description": "", "parameters": {}}}
    with pytest.raises(ValueError, match="tools, but no system message that holds them"):
        FORMATS["verl"].write(tmp_path / "verl.parquet", [replace(made, tools=(tool,))])


def test_prompts_of_another_view_than_the_collection_s_are_refused(scripted, root):
    scene = build_scene(configured(root, "do=export", "model.tool_schema=full"), "train")
    with pytest.raises(TableError, match="export with the settings of the collection"):
        read_conversations(scene, scripted.folder)


def test_a_job_that_collect_does_not_have_is_refused(scripted, root):
    with pytest.raises(ConfigError, match="collect has play and export"):
        run(configured(root, "do=graphs"), scripted.folder)
