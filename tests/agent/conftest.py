from collections.abc import Iterator
from pathlib import Path

import pytest
from chat_folder import QWEN3_LIKE, write_chat_folder
from engine_fixtures import tiny_folder, vllm_policies, vllm_policy
from fake_vllm import FakeVllm

from robustops.agent.codec import Codec

__all__ = ["tiny_folder", "vllm_policies", "vllm_policy"]


@pytest.fixture(scope="module")
def qwen3_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_chat_folder(tmp_path_factory.mktemp("qwen3"), QWEN3_LIKE)


@pytest.fixture(scope="module")
def full(qwen3_folder: Path) -> Codec:
    return Codec.load(qwen3_folder, tool_schema="full")


@pytest.fixture(scope="module")
def compact(qwen3_folder: Path) -> Codec:
    return Codec.load(qwen3_folder, tool_schema="compact")


@pytest.fixture
def servers() -> Iterator[list[FakeVllm]]:
    found = [FakeVllm(), FakeVllm()]
    yield found
    for server in found:
        server.http.shutdown()
        server.http.server_close()
