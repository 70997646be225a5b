"""The transformers policy on a tiny random Qwen3 against plain forward passes of the same weights."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
import torch
from tiny_qwen3 import CALL_END, IM_END, VOCAB, decode, logprobs_of, tiny_model

from robustops.agent.engine_policy import EnginePolicy
from robustops.agent.hf import HfOptions, hf_policy
from robustops.agent.policy import Prompt, Sample, Sampling
from robustops.core.errors import ConfigError, PolicyError


def prompt(case: int, num_tokens: int, turn: int = 0) -> Prompt:
    ids = tuple((case * 31 + k * 37) % (VOCAB - 10) for k in range(num_tokens))
    return Prompt(case_id=f"case-{case}", task_id="t", turn=turn, token_ids=ids, messages=(), tools=())


def build(folder: Path, *, deterministic: bool = False, max_num_seqs: int = 32, seed: int = 0) -> EnginePolicy:
    options = HfOptions(max_model_len=512, max_num_seqs=max_num_seqs, device="cpu", seed=seed)
    stop_ids = (IM_END, CALL_END)
    return hf_policy(folder, stop_ids=stop_ids, decode=decode, options=options, deterministic=deterministic)


@pytest.fixture
def policy(tiny_folder):
    return build(tiny_folder)


@pytest.fixture(scope="module")
def model():
    """The weights of `tiny_folder`, loaded by nobody but the test."""
    return tiny_model(0)


def gap(model, prompt_ids, sample: Sample) -> float:
    expected = logprobs_of(model, prompt_ids, sample.token_ids)
    return max(abs(a - b) for a, b in zip(sample.logprobs, expected, strict=True))


def argmax_loop(model, ids: tuple[int, ...], num_tokens: int) -> tuple[int, ...]:
    sampled: list[int] = []
    with torch.no_grad():
        while len(sampled) < num_tokens and not {IM_END, CALL_END} & set(sampled):
            sampled.append(int(model(torch.tensor([[*ids, *sampled]])).logits[0, -1].argmax()))
    return tuple(sampled)


async def test_greedy_equals_the_argmax_of_plain_forward_passes(policy, model):
    prompts = [prompt(case, 10 + 13 * case) for case in range(4)]
    samples = await asyncio.gather(*(policy.act(p, Sampling(temperature=0.0, max_tokens=12)) for p in prompts))
    for p, sample in zip(prompts, samples, strict=True):
        assert sample.token_ids == argmax_loop(model, p.token_ids, 12)
        assert gap(model, p.token_ids, sample) < 1e-4


async def test_sampled_logprobs_are_those_of_the_model(policy, model):
    prompts = [prompt(case, 20 + 7 * case) for case in range(6)]
    samples = await asyncio.gather(*(policy.act(p, Sampling(max_tokens=16, seed=1)) for p in prompts))
    for p, sample in zip(prompts, samples, strict=True):
        assert len(sample.logprobs) == len(sample.token_ids) > 0
        assert gap(model, p.token_ids, sample) < 1e-4


async def test_logprobs_are_tempered_as_the_sampling_distribution_is(policy):
    p = prompt(3, 40)
    sample = await policy.act(p, Sampling(temperature=0.5, max_tokens=8, seed=1))
    sharpened = tiny_model(0)
    sharpened.model.norm.weight.data.mul_(2.0)  # logits / 0.5 = doubled final norm
    assert gap(sharpened, p.token_ids, sample) < 2e-4


async def test_tokens_come_as_often_as_their_probability_says(policy, model):
    """One token after one prompt, 2,000 seeds: a chi-square over the likely tokens and the rest in one cell."""
    p, num = prompt(2, 9), 2000
    samples = await asyncio.gather(*(policy.act(p, Sampling(max_tokens=1, seed=s)) for s in range(num)))
    expected = torch.tensor([logprobs_of(model, p.token_ids, (token,))[0] for token in range(VOCAB)]).exp() * num
    counts = torch.bincount(torch.tensor([sample.token_ids[0] for sample in samples]), minlength=VOCAB)
    is_likely = expected >= 20
    cells = [(float(counts[t]), float(expected[t])) for t in range(VOCAB) if is_likely[t]]
    cells.append((float(counts[~is_likely].sum()), float(expected[~is_likely].sum())))
    assert len(cells) >= 5, "the test needs a distribution with several likely tokens"
    statistic = sum((seen - wanted) ** 2 / wanted for seen, wanted in cells)
    degrees = len(cells) - 1
    assert statistic < degrees + 4 * (2 * degrees) ** 0.5


async def test_a_row_does_not_depend_on_the_rows_beside_it(policy):
    """Lengths differ, rows end at different steps, and a late request joins rows that are already decoding."""
    prompts = [prompt(case, length) for case, length in enumerate((3, 90, 31, 60))]
    sampling = [Sampling(max_tokens=length, seed=length) for length in (30, 5, 18, 40)]
    alone = [await policy.act(p, s) for p, s in zip(prompts, sampling, strict=True)]

    async def late() -> Sample:
        for _ in range(6):
            await asyncio.sleep(0)
        return await policy.act(prompts[3], sampling[3])

    together = await asyncio.gather(*(policy.act(p, s) for p, s in zip(prompts[:3], sampling[:3], strict=True)), late())
    for one, other in zip(alone, together, strict=True):
        assert one.token_ids == other.token_ids
        assert one.logprobs == pytest.approx(other.logprobs, abs=1e-4)


async def test_equal_prompts_share_a_prefill_and_still_draw_for_themselves(policy, model):
    p = prompt(1, 50)
    samples = await asyncio.gather(*(policy.act(p, Sampling(max_tokens=20, seed=s)) for s in range(4)))
    assert len({sample.token_ids for sample in samples}) == 4
    assert max(gap(model, p.token_ids, sample) for sample in samples) < 1e-4


async def test_a_sample_ends_with_its_stop_token_and_keeps_it(policy):
    samples = await asyncio.gather(*(policy.act(prompt(c, 30), Sampling(max_tokens=200, seed=c)) for c in range(24)))
    assert {sample.finish for sample in samples} == {"stop", "length"}
    for sample in samples:
        assert not {IM_END, CALL_END} & set(sample.token_ids[:-1])
        assert (sample.token_ids[-1] in (IM_END, CALL_END)) == (sample.finish == "stop")
        assert (len(sample.token_ids) == 200) or sample.finish == "stop"
        assert sample.text == decode(sample.token_ids)


async def test_new_weights_change_samples_logprobs_and_version(policy):
    p = prompt(1, 60)
    before = await policy.act(p, Sampling(max_tokens=16, seed=0))
    other = tiny_model(5)
    await policy.load_weights(((name, tensor.detach().double()) for name, tensor in other.named_parameters()), 7)
    after = await policy.act(p, Sampling(max_tokens=16, seed=0))
    assert (before.weight_version, after.weight_version, policy.weight_version) == (0, 7, 7)
    assert gap(other, p.token_ids, after) < 1e-4
    assert gap(other, p.token_ids, before) > 0.1


async def test_a_weight_that_is_missing_unknown_or_misshapen_is_refused(policy):
    weights = dict(tiny_model(1).named_parameters())
    norm = weights.pop("model.norm.weight")
    with pytest.raises(PolicyError, match=r"weights 2: 1 of .* did not arrive, among them model.norm.weight"):
        await policy.load_weights(weights.items(), 2)
    with pytest.raises(PolicyError, match=r"weights 2: model.norms.weight \(64,\); expected a weight of this model"):
        await policy.load_weights([("model.norms.weight", norm)], 2)
    with pytest.raises(PolicyError, match=r"weights 2: model.norm.weight \(3,\); expected \(64,\)"):
        await policy.load_weights([("model.norm.weight", norm[:3])], 2)
    assert policy.weight_version == 0


def test_score_gives_each_prompt_token_its_logprob(policy, model):
    ids = prompt(5, 60).token_ids
    assert policy.score(ids) == pytest.approx(logprobs_of(model, ids[:1], ids[1:]), abs=1e-4)


async def test_equal_seeds_give_equal_samples_and_other_seeds_others(policy):
    p = prompt(6, 40)
    one, two, other = [await policy.act(p, Sampling(max_tokens=12, seed=s)) for s in (1, 1, 2)]
    assert one == two
    assert one.token_ids != other.token_ids


async def test_without_seeds_the_policy_s_own_seed_decides(tiny_folder):
    async def two_samples(seed: int) -> list[tuple[int, ...]]:
        policy = build(tiny_folder, seed=seed)
        return [(await policy.act(prompt(6, 40), Sampling(max_tokens=12))).token_ids for _ in range(2)]

    first, again, other = [await two_samples(seed) for seed in (3, 3, 4)]
    assert first == again
    assert first[0] != first[1]
    assert set(first).isdisjoint(other)


async def test_deterministic_results_do_not_depend_on_the_order_of_arrival(tiny_folder):
    async def run(order: list[int]) -> dict[int, Sample]:
        policy = build(tiny_folder, deterministic=True, max_num_seqs=3)
        samples = await asyncio.gather(*(policy.act(prompt(c, 20 + 11 * c), Sampling(max_tokens=9)) for c in order))
        return dict(zip(order, samples, strict=True))

    assert await run([0, 1, 2, 3, 4]) == await run([4, 2, 0, 3, 1])


async def test_more_requests_than_seats_are_all_answered(tiny_folder, model):
    policy = build(tiny_folder, max_num_seqs=2)
    prompts = [prompt(case, 10 + case) for case in range(7)]
    samples = await asyncio.gather(*(policy.act(p, Sampling(max_tokens=3 + p.turn, seed=1)) for p in prompts))
    assert max(gap(model, p.token_ids, s) for p, s in zip(prompts, samples, strict=True)) < 1e-4


async def test_an_impossible_request_is_refused_in_one_line_and_the_engine_goes_on(policy):
    with pytest.raises(PolicyError) as caught:
        await policy.act(prompt(7, 600), Sampling(max_tokens=4))
    assert str(caught.value).startswith("case-7 turn 0: the engine refused the request: a prompt of 600 tokens")
    assert "\n" not in str(caught.value)
    with pytest.raises(PolicyError, match="max_tokens >= 1"):
        await policy.act(prompt(7, 20), Sampling(max_tokens=0))
    sample = await policy.act(prompt(7, 505), Sampling(max_tokens=40, temperature=0.0))
    assert len(sample.token_ids) <= 7, "512 tokens is all there is room for"


async def test_a_cancelled_request_leaves_the_engine(policy):
    task = asyncio.create_task(policy.act(prompt(8, 20), Sampling(max_tokens=400, temperature=0.0)))
    await policy.act(prompt(9, 20), Sampling(max_tokens=3, seed=0))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    policy.score(prompt(1, 5).token_ids)  # refuses while anything is running


async def test_weights_cannot_change_under_a_running_request(policy):
    task = asyncio.create_task(policy.act(prompt(8, 20), Sampling(max_tokens=5, seed=0)))
    await asyncio.sleep(0)
    with pytest.raises(PolicyError, match="weights 4: requests are still running"):
        await policy.load_weights([], 4)
    assert (await task).weight_version == 0


async def test_a_broken_model_is_an_error_and_no_sample(policy):
    broken = tiny_model(0)
    broken.model.norm.weight.data.fill_(float("nan"))
    await policy.load_weights(broken.named_parameters(), 1)
    with pytest.raises(PolicyError, match="case-1 turn 0: the engine gave no sample: the logits hold values that are"):
        await policy.act(prompt(1, 8), Sampling(max_tokens=4, seed=0))


async def test_a_closed_policy_fails_what_is_waiting(policy):
    task = asyncio.create_task(policy.act(prompt(8, 20), Sampling(max_tokens=400, temperature=0.0)))
    await asyncio.sleep(0)
    await policy.close()
    with pytest.raises(PolicyError, match="closed"):
        await task


def test_a_missing_folder_is_a_config_error_and_a_damaged_one_a_policy_error(tmp_path):
    with pytest.raises(ConfigError, match=r"model.path: no config.json in .*nowhere"):
        build(tmp_path / "nowhere")
    (tmp_path / "config.json").write_text('{"model_type": "qwen3"}')
    with pytest.raises(PolicyError, match=r"transformers could not load '.*': .+") as caught:
        build(tmp_path)
    assert "\n" not in str(caught.value)
