"""Weights on their way to vLLM servers: versions, waits, refusals; against one that plays their part."""

from __future__ import annotations

import logging
import os
import signal
import threading

import pytest
from safetensors.torch import save_file
from vllm_clients import Clock, FakeProcess, load, policy_of, weights

from robustops.agent.vllm_remote import Weights
from robustops.agent.vllm_server import ServerOptions, ServerPolicy
from robustops.agent.vllm_worker import WeightsFromFolder
from robustops.core.errors import PolicyError


def test_weights_reach_every_server_and_their_caches_are_emptied(servers, tmp_path):
    policy = policy_of(servers, tmp_path)
    for version in (1, 2):
        load(policy, float(version), version)
    for server in servers:
        assert server.version == "2"
        assert float(server.weights["a.weight"][0, 0]) == 2.0
        assert server.resets == 2
    assert [path.name for path in (tmp_path / "weights").iterdir()] == ["version-000002"]


def test_a_server_that_keeps_another_version_is_refused(servers, tmp_path):
    servers[1].ignores_updates = True
    with pytest.raises(PolicyError, match=r"holds weights 'default' after an update to 3"):
        load(policy_of(servers, tmp_path), 1.0, 3)


def test_a_worker_that_does_not_see_the_weights_says_so_and_asks_no_hub(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"must see engine\.weights_folder"):
        WeightsFromFolder().load_policy_weights(str(tmp_path))


def test_a_server_that_is_away_when_weights_are_loaded_is_waited_for_and_gets_them(servers, tmp_path, caplog):
    """Gone for five tries two seconds apart, then up but not ready for two: each server's wait is one line."""
    caplog.set_level(logging.WARNING, "robustops.agent")
    clock, (first, second) = Clock(), servers
    policy = policy_of(servers, tmp_path, clock=clock, poll_s=2.0, patience_s=60.0)
    load(policy, 1.0, 1)
    second.restart()
    second.hang_ups, second.unhealthy_polls = 5, 2
    load(policy, 2.0, 2)
    assert clock.now_s == 2.0 * (5 + 2)
    for server in (first, second):
        assert server.version == "2"
        assert float(server.weights["a.weight"][0, 0]) == 2.0
    begun, ended = (record.getMessage() for record in caplog.records)
    assert second.url in begun
    assert "waiting up to 60 s" in begun
    assert ended == f"{second.url}: there again after 14 s"


def test_a_server_that_holds_the_same_number_of_another_run_gets_the_weights_all_the_same(servers, tmp_path):
    servers[0].version = "4"
    load(policy_of(servers[:1], tmp_path), 3.0, 4)
    assert float(servers[0].weights["a.weight"][0, 0]) == 3.0


def test_weights_wait_no_longer_than_the_patience_and_the_way_on_is_named(servers, tmp_path):
    """Sixty seconds in steps of two: the thirty-first wait would be longer."""
    clock = Clock()
    servers[0].hang_ups = 1000
    policy = policy_of(servers[:1], tmp_path, clock=clock, poll_s=2.0, patience_s=60.0)
    with pytest.raises(PolicyError) as caught:
        load(policy, 1.0, 1)
    assert clock.now_s == 62.0
    message = str(caught.value)
    assert message.startswith(f"{servers[0].url}: not there for 60 s")
    assert "engine.server_patience_s" in message
    assert message.endswith("start the server again and run the same command")
    assert len(message.splitlines()) == 1


def test_a_server_that_is_well_and_refuses_the_weights_is_not_waited_for(servers, tmp_path):
    """As one that does not see the folder: its worker's FileNotFoundError is a status 500."""
    clock = Clock()
    servers[0].rpc_status = 500
    with pytest.raises(PolicyError, match=r"/collective_rpc: status 500"):
        load(policy_of(servers[:1], tmp_path, clock=clock), 1.0, 3)
    assert clock.now_s == 0.0


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_one_ctrl_c_ends_the_wait_for_a_server_that_is_away(servers, tmp_path):
    servers[0].hang_ups = 10_000
    policy = policy_of(servers[:1], tmp_path, patience_s=30.0)
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        load(policy, 1.0, 1)
    timer.join()


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_one_ctrl_c_ends_the_wait_for_a_server_that_takes_its_time_over_the_weights(servers, tmp_path, monkeypatch):
    answer, may_answer, answered = servers[0].answer, threading.Event(), []

    def slowly(path, body):
        if path == "/collective_rpc":
            os.kill(os.getpid(), signal.SIGINT)
            may_answer.wait(timeout=10)
            answered.append(path)
        return answer(path, body)

    monkeypatch.setattr(servers[0], "answer", slowly)
    with pytest.raises(KeyboardInterrupt):
        load(policy_of(servers[:1], tmp_path), 1.0, 1)
    assert answered == []
    may_answer.set()


def test_weights_of_a_load_that_was_given_up_do_not_pass_for_those_that_are_wanted(servers, tmp_path):
    """Its call goes on in a thread, and ends after the next weights were asked for."""
    [server] = servers[:1]
    policy = policy_of([server], tmp_path)
    held = policy._servers[0]
    old, new = (Weights(folder=tmp_path / name, version=version) for version, name in enumerate(("old", "new"), 1))
    for value, known in enumerate((old, new)):
        known.folder.mkdir()
        save_file(dict(weights(float(value))), known.folder / "model.safetensors")
    held.want(new)
    held._load(old)
    assert held.trouble() is None
    assert server.version == "2"
    assert float(server.weights["a.weight"][0, 0]) == 1.0


def test_a_server_of_our_own_that_cannot_start_names_its_log(servers, tmp_path):
    servers[0].hang_ups = 1000
    options = ServerOptions(urls=(servers[0].url,), model="m", weights_folder=tmp_path / "weights", patience_s=6.0)
    clock = Clock()
    policy = ServerPolicy(
        options, stop_ids=(6,), decode=str, process=FakeProcess(servers[0]), clock=clock, sleep=clock.sleep
    )
    with pytest.raises(PolicyError, match=r"\(see vllm-server\.log\): not there for 6 s"):
        load(policy, 1.0, 1)


def test_a_later_absence_has_the_whole_patience_again(servers, tmp_path):
    clock = Clock()
    policy = policy_of(servers[:1], tmp_path, clock=clock, poll_s=2.0, patience_s=60.0)
    for version in (1, 2):
        servers[0].hang_ups = 25
        load(policy, 1.0, version)
    assert servers[0].version == "2"
    assert clock.now_s == 2 * 25 * 2.0


def test_a_cache_that_could_not_be_emptied_is_no_update(servers, tmp_path):
    servers[0].empties_cache = False
    with pytest.raises(PolicyError, match="prefix cache could not be reset"):
        load(policy_of(servers, tmp_path, clock=Clock(), poll_s=2.0, patience_s=6.0), 1.0, 3)


def test_a_server_without_our_worker_is_named_with_the_command_that_starts_one(servers, tmp_path):
    servers[0].rpc_status = 404
    with pytest.raises(PolicyError, match=r"status 404.*python -m robustops\.serve do=model"):
        load(policy_of(servers, tmp_path), 1.0, 3)


def test_an_address_that_answers_as_something_else_is_named_with_the_command(servers, tmp_path, monkeypatch):
    monkeypatch.setattr(servers[0], "answer", lambda path, body: (200, {"welcome": "to a proxy"}))
    with pytest.raises(PolicyError, match=r"/reset_prefix_cache: no success in .*proxy.*serve do=model"):
        load(policy_of(servers[:1], tmp_path), 1.0, 3)
