"""vLLM servers elsewhere, against one that plays their part: weights, versions, failures, restarts."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from fake_vllm import FakeVllm
from safetensors.torch import save_file

from robustops.agent.policy import Prompt, Sampling
from robustops.agent.vllm_endpoint import ServerDown, call
from robustops.agent.vllm_remote import Weights
from robustops.agent.vllm_server import ServerOptions, ServerPolicy
from robustops.agent.vllm_worker import WeightsFromFolder
from robustops.core.errors import PolicyError
from robustops.learn.journal import StepJournal


@pytest.fixture
def servers() -> Iterator[list[FakeVllm]]:
    found = [FakeVllm(), FakeVllm()]
    yield found
    for server in found:
        server.http.shutdown()
        server.http.server_close()


class Clock:
    """Nothing but waiting takes time."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s

    async def sleep(self, seconds: float) -> None:
        self.now_s += seconds


def policy_of(servers, tmp_path, *, clock: Clock | None = None, **options) -> ServerPolicy:
    chosen = ServerOptions(
        urls=tuple(server.url for server in servers),
        model="m",
        weights_folder=tmp_path / "weights",
        **{"poll_s": 0.01, **options},
    )
    timing = {} if clock is None else {"clock": clock, "sleep": clock.sleep}
    return ServerPolicy(chosen, stop_ids=(6, 7), decode=lambda ids: " ".join(map(str, ids)), **timing)


def prompt(case: str = "case") -> Prompt:
    return Prompt(case_id=case, task_id="task", turn=3, token_ids=(1, 2, 3), messages=(), tools=())


def act(policy: ServerPolicy, *cases: str):
    async def run():
        try:
            wanted = Sampling(temperature=0.7, max_tokens=9, seed=4)
            return await asyncio.gather(*(policy.act(prompt(case), wanted) for case in cases or ("case",)))
        finally:
            await policy.close()

    return asyncio.run(run())


def weights(value: float) -> list[tuple[str, torch.Tensor]]:
    return [("a.weight", torch.full((2, 3), value))]


def load(policy: ServerPolicy, value: float, version: int) -> None:
    asyncio.run(policy.load_weights(weights(value), version))


def test_a_sample_has_its_ids_logprobs_and_version_and_the_full_distribution_was_asked_for(servers, tmp_path):
    policy = policy_of(servers[:1], tmp_path)
    load(policy, 1.0, 12)
    [sample] = act(policy)
    assert (sample.token_ids, sample.logprobs, sample.finish) == ((5, 6), (-0.5, -0.25), "stop")
    assert (sample.text, sample.weight_version) == ("5 6", 12)
    [body] = servers[0].bodies
    assert body["prompt"] == [1, 2, 3]
    assert (body["temperature"], body["max_tokens"], body["seed"]) == (0.7, 9, 4)
    assert (body["top_p"], body["top_k"], body["min_p"], body["stop_token_ids"]) == (1.0, 0, 0.0, [6, 7])
    assert body["return_token_ids"] is True
    assert body["logprobs"] == 0


def test_a_sample_in_the_journal_is_not_asked_of_a_server_again(servers, tmp_path):
    first, second = policy_of(servers[:1], tmp_path), policy_of(servers[:1], tmp_path)
    first.remember(StepJournal(tmp_path, 0, "w"))
    [known] = act(first, "a")
    assert len(servers[0].bodies) == 1
    second.remember(StepJournal(tmp_path, 0, "w"))
    assert act(second, "a", "b") == [known, known], "the fake answers b as it answered a"
    assert len(servers[0].bodies) == 2


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


def test_a_restarted_server_gets_the_weights_again_before_it_answers(servers, tmp_path):
    server = servers[0]
    policy = policy_of([server], tmp_path)
    load(policy, 7.0, 5)
    server.statuses, server.unhealthy_polls = [500], 3
    [sample] = act(policy)
    assert sample.weight_version == 5
    assert server.version == "5"
    assert float(server.weights["a.weight"][0, 0]) == 7.0
    completions = [index for index, path in enumerate(server.calls) if path == "/v1/completions"]
    reloads = [index for index, path in enumerate(server.calls) if path == "/collective_rpc"]
    assert completions[0] < reloads[-1] < completions[1]


def test_a_server_that_stays_away_ends_the_run_with_its_address(servers, tmp_path):
    gone = servers[0]
    gone.http.shutdown()
    gone.http.server_close()
    with pytest.raises(PolicyError, match=rf"{gone.url}: not there for 0 s"):
        act(policy_of([gone], tmp_path, patience_s=0.05))


@pytest.mark.parametrize(
    "choice",
    [
        {"token_ids": [5], "finish_reason": "stop", "logprobs": None},
        {"finish_reason": "stop", "logprobs": {"token_logprobs": [-0.5]}},
        {"token_ids": [5, 6], "finish_reason": "stop", "logprobs": {"token_logprobs": [-0.5]}},
    ],
)
def test_an_answer_without_ids_or_logprobs_is_refused(servers, tmp_path, choice):
    servers[0].choice = choice
    with pytest.raises(PolicyError, match=r"case turn 3"):
        act(policy_of(servers[:1], tmp_path))


def test_a_request_that_the_server_refuses_is_not_tried_again(servers, tmp_path):
    servers[0].statuses = [400, 200]
    with pytest.raises(PolicyError, match="status 400"):
        act(policy_of(servers[:1], tmp_path))
    assert len(servers[0].bodies) == 1


def test_cases_are_spread_over_servers_and_each_stays_with_its_own(servers, tmp_path):
    policy = policy_of(servers, tmp_path)
    act(policy, *(f"case-{number}" for number in range(6)))
    assert [len(server.bodies) for server in servers] == [3, 3]


def test_servers_sleep_and_wake_only_where_the_trainer_shares_their_gpu(servers, tmp_path):
    policy_of(servers, tmp_path).sleep()
    assert not servers[0].calls
    policy = policy_of(servers, tmp_path, can_sleep=True)
    policy.sleep()
    policy.wake_up()
    assert servers[0].calls == servers[1].calls == ["/sleep?level=1", "/wake_up"]


def test_a_worker_that_does_not_see_the_weights_says_so_and_asks_no_hub(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"must see engine\.weights_folder"):
        WeightsFromFolder().load_policy_weights(str(tmp_path))


def test_a_server_that_was_restarted_unseen_gets_the_weights_before_it_is_asked(servers, tmp_path, monkeypatch):
    """Between two phases of a run no request is there to fail."""
    monkeypatch.setattr("robustops.agent.vllm_server.RESTART_S", 0.0)
    [server] = servers[:1]
    policy = policy_of([server], tmp_path)
    load(policy, 7.0, 5)
    act(policy)
    server.restart()
    server.calls.clear()
    act(policy)
    assert server.version == "5"
    assert server.calls.index("/collective_rpc") < server.calls.index("/v1/completions")


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


def test_a_server_that_dies_in_the_middle_of_a_rollout_gets_the_weights_and_every_request_again(servers, tmp_path):
    policy = policy_of(servers[:1], tmp_path)
    load(policy, 7.0, 5)
    act(policy)  # it is known to be there now, so the next requests go to it at once
    servers[0].restart()
    servers[0].hang_ups = 4
    samples = act(policy, "a", "b", "c")
    assert [sample.weight_version for sample in samples] == [5, 5, 5]
    assert servers[0].version == "5"
    assert len(servers[0].bodies) == 1 + 3


class TickingClock(Clock):
    """A second passes whenever somebody looks."""

    def __call__(self) -> float:
        self.now_s += 1.0
        return self.now_s


def test_all_requests_share_one_wait_for_a_server_that_stays_away(servers, tmp_path, caplog):
    """Each with a wait of its own would reach the deadline of its episode first, and look like a slow policy."""
    servers[0].hang_ups = 1000
    clock, num = TickingClock(), 10
    policy = policy_of(servers[:1], tmp_path, clock=clock, patience_s=20.0)

    async def run():
        wanted = Sampling(temperature=0.7, max_tokens=9, seed=4)
        cases = (policy.act(prompt(f"case {number}"), wanted) for number in range(num))
        try:
            return await asyncio.gather(*cases, return_exceptions=True)
        finally:
            await policy.close()

    caplog.set_level(logging.WARNING, "robustops.agent")
    failures = asyncio.run(run())
    assert [type(failure) for failure in failures] == [PolicyError] * num
    assert clock.now_s < 2 * 20.0 + 2 * num
    assert sum("waiting up to 20 s" in record.getMessage() for record in caplog.records) == 1


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


def test_an_answer_that_is_cut_off_counts_as_a_server_that_is_down():
    """A server that is killed while it answers has promised more bytes than come."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def answer() -> None:
            connection, _ = listening.accept()
            with connection:
                connection.recv(4096)
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{")

        threading.Thread(target=answer, daemon=True).start()
        with pytest.raises(ServerDown, match="IncompleteRead"):
            call(f"http://127.0.0.1:{listening.getsockname()[1]}/weight_info", timeout_s=5)


class FakeProcess:
    """A server that ended, and is there again once it was asked to start."""

    def __init__(self, server: FakeVllm) -> None:
        self.server, self.revived = server, 0
        self.has_ended, self.log_file = True, Path("vllm-server.log")

    def revive(self) -> None:
        self.revived += 1
        self.has_ended = False
        self.server.unhealthy_polls = 0

    def make_ready(self) -> None:
        self.revive()

    def close(self) -> None:
        pass


def test_a_server_of_our_own_that_ended_while_the_trainer_worked_is_there_before_its_weights(servers, tmp_path):
    server = servers[0]
    process = FakeProcess(server)
    options = ServerOptions(urls=(server.url,), model="m", weights_folder=tmp_path / "weights", can_sleep=True)
    policy = ServerPolicy(options, stop_ids=(6,), decode=str, process=process)
    policy.wake_up()
    assert (process.revived, server.calls) == (1, ["/wake_up"])


def test_a_server_of_our_own_that_ended_before_it_was_put_to_sleep_does_not_end_the_run(servers, tmp_path):
    options = ServerOptions(urls=(servers[0].url,), model="m", weights_folder=tmp_path / "weights", can_sleep=True)
    process = FakeProcess(servers[0])
    policy = ServerPolicy(options, stop_ids=(6,), decode=str, process=process)
    servers[0].hang_ups = 1
    policy.sleep()
    policy.wake_up()
    assert (process.revived, servers[0].calls) == (1, ["/wake_up"])
    servers[0].hang_ups = 1
    with pytest.raises(PolicyError, match="/sleep"):
        policy.sleep()  # it lives, so its memory is not given back
    elsewhere = ServerPolicy(options, stop_ids=(6,), decode=str)
    servers[0].hang_ups = 1
    with pytest.raises(PolicyError, match="/sleep"):
        elsewhere.sleep()


def test_a_server_of_our_own_that_ended_is_started_again(servers, tmp_path, monkeypatch):
    monkeypatch.setattr("robustops.agent.vllm_server.RESTART_S", 0.0)
    server = servers[0]
    process = FakeProcess(server)
    options = ServerOptions(urls=(server.url,), model="m", weights_folder=tmp_path / "weights", poll_s=0.01)
    policy = ServerPolicy(options, stop_ids=(6,), decode=str, process=process)
    load(policy, 2.0, 1)
    server.restart()
    server.unhealthy_polls = 1000
    [sample] = act(policy)
    assert process.revived == 1
    assert (server.version, sample.weight_version) == ("1", 1)
