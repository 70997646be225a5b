"""transformers as an engine, for machines without a vLLM build: a model folder in, a policy that samples with it out.

It decodes one token per running row and step, so that requests enter and leave between steps. The only module of this
room that loads a transformers model.

Shapes: N running rows, V vocabulary.
"""

from __future__ import annotations

import math
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Literal

import torch
from torch import Tensor
from transformers import AutoModelForCausalLM, DynamicCache, PreTrainedModel

from robustops.agent.engine_policy import EnginePolicy, check_model_folder
from robustops.agent.kv_batch import KvBatch
from robustops.agent.policy import Sample, Sampling
from robustops.agent.pump import Finished
from robustops.core.errors import PolicyError, first_line

Dtype = Literal["float32", "bfloat16", "float16", "auto"]


@dataclass(frozen=True, slots=True, kw_only=True)
class HfOptions:
    """`max_num_seqs`: rows decoded together. `seed`: of requests that bring none."""

    max_model_len: int | None = None  # None: what the model's own config says
    max_num_seqs: int = 32
    device: str | None = None  # None: a GPU where there is one
    seed: int = 0


def hf_policy(
    folder: Path,
    *,
    stop_ids: Sequence[int],
    decode: Callable[[Sequence[int]], str],
    dtype: Dtype = "float32",
    options: HfOptions | None = None,
    deterministic: bool = False,
) -> EnginePolicy:
    """A continuous batch of transformers forward passes behind `act`.

    `stop_ids` end a sample and stay in it; `decode` turns sampled ids into the sample's text.
    Raises ConfigError for a missing model folder, PolicyError when the model cannot be loaded.
    """
    check_model_folder(folder)
    chosen = options or HfOptions()
    model = _load(folder, dtype, chosen.device or ("cuda" if torch.cuda.is_available() else "cpu"))
    engine = _HfEngine(model, stop_ids=frozenset(stop_ids), decode=decode, options=chosen)
    return EnginePolicy(engine, deterministic=deterministic, seed=chosen.seed)


def _load(folder: Path, dtype: Dtype, device: str) -> PreTrainedModel:
    try:
        model: PreTrainedModel = AutoModelForCausalLM.from_pretrained(
            str(folder), dtype=dtype if dtype == "auto" else getattr(torch, dtype), local_files_only=True
        )
        model.to(device)  # type: ignore[arg-type]
    except Exception as error:  # whatever a loader or driver throws, the run has no policy
        raise PolicyError(f"transformers could not load '{folder}': {first_line(error)}") from error
    model.train(False)
    return model


@dataclass(slots=True, kw_only=True, eq=False)
class _Row:
    request_id: str
    prompt_ids: tuple[int, ...]
    temperature: float
    max_tokens: int
    rng: Random
    token_ids: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)


class _HfEngine:
    """A `LocalEngine`: a step prefills the newcomers that fit, then decodes one token of every running row."""

    def __init__(
        self,
        model: PreTrainedModel,
        *,
        stop_ids: frozenset[int],
        decode: Callable[[Sequence[int]], str],
        options: HfOptions,
    ) -> None:
        self.model = model
        self.weight_version = 0
        self._stop_ids = stop_ids
        self._decode = decode
        self._max_model_len = options.max_model_len or int(model.config.max_position_embeddings)
        self._max_num_seqs = options.max_num_seqs
        self._rng = Random(options.seed)
        self._waiting: deque[_Row] = deque()
        self._running: list[_Row] = []
        self._kv = KvBatch()

    def add(self, request_id: str, token_ids: Sequence[int], sampling: Sampling) -> None:
        room = self._max_model_len - len(token_ids)
        if not token_ids or room < 1:
            raise ValueError(
                f"a prompt of {len(token_ids)} tokens; expected 1..{self._max_model_len - 1} "
                f"(engine max_model_len {self._max_model_len})"
            )
        if sampling.temperature < 0 or sampling.max_tokens < 1:
            raise ValueError(f"expected temperature >= 0 and max_tokens >= 1, got {sampling}")
        self._waiting.append(
            _Row(
                request_id=request_id,
                prompt_ids=tuple(token_ids),
                temperature=sampling.temperature,
                max_tokens=min(sampling.max_tokens, room),
                rng=Random(self._rng.getrandbits(64) if sampling.seed is None else sampling.seed),
            )
        )

    def abort(self, request_id: str) -> None:
        self._waiting = deque(row for row in self._waiting if row.request_id != request_id)
        self._drop({request_id})

    def has_unfinished(self) -> bool:
        return bool(self._waiting or self._running)

    @torch.inference_mode()
    def step(self) -> list[Finished]:
        return [*self._admit(), *self._advance()]

    def load_weights(self, named_tensors: Iterable[tuple[str, Tensor]], version: int) -> None:
        own = self.model.state_dict()
        arrived = set()
        with torch.no_grad():
            for name, tensor in named_tensors:
                if name not in own or own[name].shape != tensor.shape:
                    expected = tuple(own[name].shape) if name in own else "a weight of this model"
                    raise PolicyError(f"weights {version}: {name} {tuple(tensor.shape)}; expected {expected}")
                own[name].copy_(tensor)
                arrived.add(own[name].data_ptr())  # a tied weight arrives under either name
        missing = [name for name, tensor in own.items() if tensor.data_ptr() not in arrived]
        if missing:
            raise PolicyError(
                f"weights {version}: {len(missing)} of {len(own)} did not arrive, among them {missing[0]}"
            )
        self.weight_version = version

    def reset_prefix_cache(self) -> bool:
        return True  # keys and values are gone with the last request

    def sleep(self) -> None:
        """Nothing to give back."""

    def wake_up(self) -> None:
        pass

    def shutdown(self) -> None:
        pass

    @torch.inference_mode()
    def score(self, token_ids: Sequence[int]) -> tuple[float, ...]:
        ids = torch.tensor([list(token_ids)], device=self.model.device)
        logits_TV = self.model(input_ids=ids, use_cache=False).logits[0, :-1].float()
        return tuple(logits_TV.log_softmax(-1).gather(-1, ids[0, 1:, None]).squeeze(-1).tolist())

    def _admit(self) -> list[Finished]:
        """Prefill prompt by prompt: nothing is padded, no row depends on its neighbours, equal prompts run once."""
        newcomers: defaultdict[tuple[int, ...], list[_Row]] = defaultdict(list)
        for _ in range(min(len(self._waiting), self._max_num_seqs - len(self._running))):
            row = self._waiting.popleft()
            newcomers[row.prompt_ids].append(row)
        finished = []
        for prompt_ids, rows in newcomers.items():
            cache = DynamicCache()
            logits_1V = self._logits(torch.tensor([prompt_ids]), past_key_values=cache)
            self._kv.append(cache, len(prompt_ids), copies=len(rows))
            self._running += rows
            finished += self._extend(rows, logits_1V.expand(len(rows), -1))
        return finished

    def _advance(self) -> list[Finished]:
        if not self._running:
            return []
        mask = self._kv.mask_with_next(self.model.device)
        logits_NV = self._logits(
            torch.tensor([row.token_ids[-1:] for row in self._running]),
            past_key_values=self._kv.cache,
            attention_mask=mask,
            position_ids=torch.tensor(self._kv.lengths)[:, None],
        )
        self._kv.grown()
        return self._extend(list(self._running), logits_NV)

    def _logits(
        self,
        input_ids: Tensor,
        *,
        past_key_values: DynamicCache,
        attention_mask: Tensor | None = None,
        position_ids: Tensor | None = None,
    ) -> Tensor:
        """Of the last position alone, float32; extends the cache."""
        device = self.model.device
        output = self.model(
            input_ids=input_ids.to(device),
            past_key_values=past_key_values,
            attention_mask=attention_mask,
            position_ids=None if position_ids is None else position_ids.to(device),
            use_cache=True,
            logits_to_keep=1,
        )
        logits_NV: Tensor = output.logits[:, -1].float()
        return logits_NV

    def _extend(self, rows: Sequence[_Row], logits_NV: Tensor) -> list[Finished]:
        """Give each row its next token; rows that end with it leave the batch."""
        finished = []
        for row, token, logprob in zip(rows, *_draw(logits_NV, rows), strict=True):
            row.token_ids.append(token)
            row.logprobs.append(logprob)
            if not math.isfinite(logprob):
                reason = "the logits hold values that are no numbers"
                finished.append(Finished(request_id=row.request_id, sample=None, error=reason))
            elif token in self._stop_ids or len(row.token_ids) == row.max_tokens:
                finished.append(Finished(request_id=row.request_id, sample=self._sample(row)))
        self._drop({done.request_id for done in finished})
        return finished

    def _drop(self, request_ids: set[str]) -> None:
        kept = [index for index, row in enumerate(self._running) if row.request_id not in request_ids]
        self._kv.keep(kept)
        self._running = [self._running[index] for index in kept]

    def _sample(self, row: _Row) -> Sample:
        return Sample(
            token_ids=tuple(row.token_ids),
            logprobs=tuple(row.logprobs),
            text=self._decode(row.token_ids),
            finish="stop" if row.token_ids[-1] in self._stop_ids else "length",
            weight_version=self.weight_version,
        )


def _draw(logits_NV: Tensor, rows: Sequence[_Row]) -> tuple[list[int], list[float]]:
    """A token per row and its logprob at the row's temperature; temperature 0 is argmax, with logprobs at 1.

    Inverse transform sampling with one number of the row's own generator, so that a seed decides a row's draws alone.
    """
    device = logits_NV.device
    temperature_N = torch.tensor([row.temperature or 1.0 for row in rows], device=device)
    logp_NV = (logits_NV / temperature_N[:, None]).log_softmax(-1)
    cumulative_NV = logp_NV.double().exp().cumsum(-1)
    uniform_N = torch.tensor([row.rng.random() for row in rows], dtype=torch.float64, device=device)
    drawn_N = torch.searchsorted(cumulative_NV, (uniform_N * cumulative_NV[:, -1])[:, None], right=True)[:, 0]
    is_greedy_N = torch.tensor([row.temperature == 0 for row in rows], device=device)
    token_N = torch.where(is_greedy_N, logits_NV.argmax(-1), drawn_N.clamp(max=logits_NV.shape[-1] - 1))
    return token_N.tolist(), logp_NV.gather(-1, token_N[:, None])[:, 0].tolist()
