"""Models and the expert as endpoints: what is started, and what is refused."""

from __future__ import annotations

import importlib.util
import shlex
import socket
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from transformers import AutoTokenizer

from robustops.compose.serve import run, template_without_tools
from robustops.config.check import check_serving
from robustops.config.gym import ServeConfig
from robustops.config.model import ModelConfig
from robustops.core.errors import ConfigError
from robustops.data.expert_endpoint import listening

TINY = Path(__file__).resolve().parents[2] / "robustops" / "assets" / "models" / "tiny-base"
MESSAGES = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello."}]
TOOLS = [{"type": "function", "function": {"name": "find_user", "description": "", "parameters": {"type": "object"}}}]


@pytest.mark.vllm
@pytest.mark.skipif(importlib.util.find_spec("vllm") is None, reason="vllm is not installed")
def test_a_dry_run_prints_a_command_with_all_that_training_and_chats_need(capsys, tmp_path):
    model = ModelConfig(name="tiny", path=str(TINY), dtype="float32", max_context_tokens=1536, tool_schema="full")
    run(ServeConfig(do="model", model=model, port=8123, served_name="tiny", kv_cache_mib=1, dry_run=True), tmp_path)
    words = shlex.split(capsys.readouterr().out)
    pairs = dict(pairwise(words))
    assert "VLLM_SERVER_DEV_MODE=1" in words
    assert (pairs["--model"], pairs["--served-model-name"], pairs["--port"]) == (str(TINY), "tiny", "8123")
    assert pairs["--worker-extension-cls"] == "robustops.agent.vllm_worker.WeightsFromFolder"
    assert (pairs["--logprobs-mode"], pairs["--generation-config"]) == ("processed_logprobs", "vllm")
    assert pairs["--tool-call-parser"] == "hermes"
    assert pairs["--kv-cache-memory-bytes"] == "1048576"


@pytest.mark.vllm
@pytest.mark.skipif(importlib.util.find_spec("vllm") is None, reason="vllm is not installed")
def test_a_dry_run_says_whether_it_is_compiled_and_its_blocks_and_the_compiler_may_be_elsewhere(
    capsys, tmp_path, monkeypatch
):
    monkeypatch.setattr("os.execve", lambda *command: None)
    monkeypatch.setenv("CXX", "none-here")
    monkeypatch.setattr("robustops.agent.vllm_options.is_cpu_build", lambda: True)
    model = ModelConfig(name="tiny", path=str(TINY), max_context_tokens=1536)
    with pytest.raises(ConfigError, match="no C\\+\\+ compiler 'none-here' here"):
        run(ServeConfig(do="model", model=model, compiled=True), tmp_path)
    run(ServeConfig(do="model", model=model, compiled=True, block_tokens=128, dry_run=True), tmp_path)
    words = shlex.split(capsys.readouterr().out)
    assert "--no-enforce-eager" in words
    assert dict(pairwise(words))["--block-size"] == "128"


def test_a_compact_model_s_endpoint_does_not_list_the_tools_again():
    tokenizer = AutoTokenizer.from_pretrained(str(TINY))
    plain = tokenizer.apply_chat_template(MESSAGES, tokenize=False)
    template = template_without_tools(TINY)
    assert tokenizer.apply_chat_template(MESSAGES, tools=TOOLS, chat_template=template, tokenize=False) == plain
    assert tokenizer.apply_chat_template(MESSAGES, tools=TOOLS, tokenize=False) != plain


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (ServeConfig(do="modle"), r"do: got 'modle'.*Did you mean 'model'"),
        (ServeConfig(do="model", concurrency=0), "concurrency: got 0"),
        (ServeConfig(do="model", port=99_999), "port: got 99999, expected 0 to 65535"),
        (ServeConfig(do="model", kv_cache_mib=-3), "kv_cache_mib: got -3, expected at least 1"),
        (ServeConfig(do="model", block_tokens=0), "block_tokens: got 0, expected at least 1"),
        (ServeConfig(do="model", gpu_memory_utilization=7), "gpu_memory_utilization: got 7, expected .* at most 1"),
        (ServeConfig(do="model", served_name=""), "served_name: got nothing"),
        (ServeConfig(do="model", model=ModelConfig(max_context_tokens=0)), r"model\.max_context_tokens: got 0"),
        (ServeConfig(do="model", model=ModelConfig(dtype="float8")), r"model\.dtype: got 'float8'"),
    ],
)
def test_what_cannot_be_served_is_refused(config, message):
    with pytest.raises(ConfigError, match=message):
        check_serving(config)


@pytest.fixture
def taken_port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        yield taken.getsockname()[1]


@pytest.mark.vllm
@pytest.mark.skipif(importlib.util.find_spec("vllm") is None, reason="vllm is not installed")
def test_a_port_that_is_taken_is_refused_before_vllm_starts(taken_port, tmp_path, monkeypatch):
    monkeypatch.setattr("os.execve", lambda *command: pytest.fail("vllm was started"))
    model = ModelConfig(name="tiny", path=str(TINY), max_context_tokens=1536)
    with pytest.raises(ConfigError, match=f"cannot listen on 127.0.0.1:{taken_port}"):
        run(ServeConfig(do="model", model=model, port=taken_port), tmp_path)


async def test_an_expert_on_a_port_that_is_taken_is_refused(taken_port):
    with pytest.raises(ConfigError, match=f"cannot listen on 127.0.0.1:{taken_port}"):
        async with listening(dict, "127.0.0.1", taken_port):
            pytest.fail("it listens")


def test_an_expert_without_a_task_set_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="task_set: no value"):
        run(ServeConfig(do="expert"), tmp_path)
