"""vLLM servers elsewhere, against one that plays their part: requests, failures, restarts, sleep."""

from __future__ import annotations

import asyncio
import logging
import socket
import threading

import pytest
from vllm_clients import Clock, FakeProcess, act, load, policy_of, prompt

from robustops.agent.policy import Sampling
from robustops.agent.vllm_endpoint import ServerDown, call
from robustops.agent.vllm_server import ServerOptions, ServerPolicy
from robustops.core.errors import PolicyError
from robustops.learn.journal import StepJournal


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
