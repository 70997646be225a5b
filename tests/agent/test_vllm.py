"""The vLLM policy on a tiny random Qwen3 against plain forward passes of the same weights."""

from __future__ import annotations

import asyncio
import importlib.util

import pytest
from tiny_qwen3 import IM_END, VOCAB, logprobs_of, tiny_model

from robustops.agent.policy import Prompt, Sampling
from robustops.core.errors import ConfigError, PolicyError

pytestmark = [
    pytest.mark.vllm,
    pytest.mark.skipif(importlib.util.find_spec("vllm") is None, reason="vllm is not installed"),
]


def prompt(case: int, num_tokens: int, turn: int = 0) -> Prompt:
    ids = tuple((case * 31 + k * 37) % (VOCAB - 10) for k in range(num_tokens))
    return Prompt(case_id=f"case-{case}", task_id="t", turn=turn, token_ids=ids, messages=(), tools=())


async def load(policy, seed: int, version: int):
    model = tiny_model(seed)
    await policy.load_weights(((name, tensor.detach()) for name, tensor in model.named_parameters()), version)
    return model


def gap(model, prompt_ids, sample) -> float:
    expected = logprobs_of(model, prompt_ids, sample.token_ids)
    return max(abs(a - b) for a, b in zip(sample.logprobs, expected, strict=True))


@pytest.fixture
def policy(vllm_policies):
    return vllm_policies["continuous"]


async def test_sampled_logprobs_are_those_of_the_model_in_fp32(policy):
    model = await load(policy, seed=0, version=1)
    prompts = [prompt(case, 20 + 7 * case) for case in range(6)]
    samples = await asyncio.gather(*(policy.act(p, Sampling(max_tokens=16, seed=p.turn)) for p in prompts))
    for p, sample in zip(prompts, samples, strict=True):
        assert len(sample.logprobs) == len(sample.token_ids) > 0
        assert gap(model, p.token_ids, sample) < 1e-4
        assert sample.weight_version == 1


async def test_logprobs_are_tempered_as_the_sampling_distribution_is(policy):
    model = await load(policy, seed=0, version=1)
    p = prompt(3, 40)
    sample = await policy.act(p, Sampling(temperature=0.5, max_tokens=8, seed=1))
    sharpened = tiny_model(0)
    sharpened.lm_head = model.lm_head  # logits / 0.5 = doubled final norm
    sharpened.model.norm.weight.data.mul_(2.0)
    assert gap(sharpened, p.token_ids, sample) < 2e-4


async def test_logprobs_follow_new_weights_through_the_prefix_cache(policy):
    p = prompt(1, 150)
    await load(policy, seed=0, version=1)
    await policy.act(p, Sampling(max_tokens=4, seed=0))
    warm = await policy.act(p, Sampling(max_tokens=4, seed=0))
    assert warm.cached_tokens >= 96, "the test needs a prompt that is served from the cache"
    for version, seed in ((2, 5), (3, 6)):
        model = await load(policy, seed=seed, version=version)
        sample = await policy.act(p, Sampling(max_tokens=16, seed=0))
        assert sample.cached_tokens == 0
        assert gap(model, p.token_ids, sample) < 1e-4
        assert sample.weight_version == version
        again = await policy.act(p, Sampling(max_tokens=16, seed=3))
        assert again.cached_tokens >= 96
        assert gap(model, p.token_ids, again) < 1e-4


async def test_without_a_cache_reset_the_logprobs_betray_old_keys(policy):
    p = prompt(2, 150)
    await load(policy, seed=0, version=1)
    await policy.act(p, Sampling(max_tokens=4, seed=0))
    model = tiny_model(7)
    policy._engine.load_weights(((name, tensor.detach()) for name, tensor in model.named_parameters()), 2)
    sample = await policy.act(p, Sampling(max_tokens=16, seed=0))
    assert gap(model, p.token_ids, sample) > 0.01


async def test_score_gives_each_prompt_token_its_logprob(policy):
    model = await load(policy, seed=4, version=9)
    ids = prompt(5, 60).token_ids
    expected = logprobs_of(model, ids[:1], ids[1:])
    assert policy.score(ids) == pytest.approx(expected, abs=1e-4)


async def test_a_sample_ends_with_its_stop_token_and_keeps_it(policy):
    await load(policy, seed=0, version=1)
    model = tiny_model(0)
    # The closing tag is the likeliest token everywhere once its embedding is parallel to the final state's mean.
    samples = await asyncio.gather(*(policy.act(prompt(c, 30), Sampling(max_tokens=200, seed=c)) for c in range(24)))
    stopped = [sample for sample in samples if sample.finish == "stop"]
    assert stopped, "no sample stopped in 24 x 200 tokens of a 262-word vocabulary"
    for sample in samples:
        body, last = sample.token_ids[:-1], sample.token_ids[-1]
        assert not {257, 259} & set(body)
        assert (last in (257, 259)) == (sample.finish == "stop")
        assert sample.text.split()[-1] == str(last)
    assert model.config.eos_token_id == IM_END


async def test_greedy_equals_the_argmax_of_plain_forward_passes(policy):
    model = await load(policy, seed=0, version=1)
    p = prompt(4, 50)
    sample = await policy.act(p, Sampling(temperature=0.0, max_tokens=12))
    for k, token in enumerate(sample.token_ids):
        best = max(range(VOCAB), key=lambda t: logprobs_of(model, (*p.token_ids, *sample.token_ids[:k]), (t,))[0])
        assert token == best
        if k == 2:
            break


async def test_equal_seeds_give_equal_samples_and_other_seeds_others(policy):
    await load(policy, seed=0, version=1)
    p = prompt(6, 40)
    one, two, other = [await policy.act(p, Sampling(max_tokens=12, seed=s)) for s in (1, 1, 2)]
    assert one.token_ids == two.token_ids != other.token_ids


async def test_an_overlong_prompt_is_refused_in_one_line_and_the_engine_goes_on(policy):
    with pytest.raises(PolicyError) as caught:
        await policy.act(prompt(7, 600), Sampling(max_tokens=4))
    assert str(caught.value).startswith("case-7 turn 0: the engine refused the request: ")
    assert "\n" not in str(caught.value)
    sample = await policy.act(prompt(7, 20), Sampling(max_tokens=4, seed=0))
    assert len(sample.token_ids) == 4


async def test_a_cancelled_request_leaves_the_engine(policy):
    task = asyncio.create_task(policy.act(prompt(8, 20), Sampling(max_tokens=400, seed=0)))
    await policy.act(prompt(9, 20), Sampling(max_tokens=3, seed=0))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await load(policy, seed=0, version=1)  # refuses while anything is running


async def test_weights_cannot_change_under_a_running_request(policy):
    await load(policy, seed=0, version=3)
    task = asyncio.create_task(policy.act(prompt(8, 20), Sampling(max_tokens=50, seed=0)))
    await asyncio.sleep(0)
    with pytest.raises(PolicyError, match="weights 4: requests are still running"):
        await load(policy, seed=1, version=4)
    assert (await task).weight_version == 3


async def multi_turn(policy, order, *, turns: int = 3):
    """Each case's next prompt is its last one plus the sample plus a fixed reply."""

    async def episode(case: int):
        ids, samples = prompt(case, 40 + 11 * case).token_ids, []
        for turn in range(turns):
            p = Prompt(case_id=f"case-{case}", task_id="t", turn=turn, token_ids=ids, messages=(), tools=())
            sample = await policy.act(p, Sampling(max_tokens=5 + 4 * (case % 3)))
            samples.append(sample)
            ids = (*ids, *sample.token_ids, 7, 8, 9)
        return samples

    episodes = await asyncio.gather(*(episode(case) for case in order))
    return dict(zip(order, episodes, strict=True))


async def test_deterministic_results_do_not_depend_on_the_order_of_arrival(vllm_policies):
    policy = vllm_policies["deterministic"]
    runs = []
    for order in ([0, 1, 2, 3, 4], [4, 2, 0, 3, 1]):
        await load(policy, seed=0, version=1)
        runs.append(await multi_turn(policy, order))
    for case in range(5):
        for one, two in zip(runs[0][case], runs[1][case], strict=True):
            assert one.token_ids == two.token_ids
            assert one.logprobs == two.logprobs, "bit-equal, not just close"


def test_a_missing_folder_is_a_config_error(tmp_path, policy, vllm_policy):
    with pytest.raises(ConfigError, match=r"model.path: no config.json in .*nowhere"):
        vllm_policy(tmp_path / "nowhere", stop_ids=(1,), decode=str)


async def test_more_seeded_prompts_than_one_step_can_prefill_all_get_their_samples(policy):
    """The CPU build of vLLM dies of a seeded prompt that is prefilled in parts."""
    await load(policy, seed=0, version=2)
    prompts = [prompt(case, 311) for case in range(9)]
    samples = await asyncio.gather(*(policy.act(p, Sampling(max_tokens=4, seed=1)) for p in prompts))
    assert all(sample.logprobs for sample in samples)
