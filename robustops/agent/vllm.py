"""vLLM as an engine in this process: a model folder in, a policy that samples with it out.

The only module that imports vllm.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from robustops.agent.engine_policy import EnginePolicy, check_model_folder
from robustops.agent.policy import Sample, Sampling
from robustops.agent.pump import Finished
from robustops.agent.vllm_options import (
    VllmOptions,
    check_compiler,
    engine_arguments,
    engine_environment,
    is_cpu_build,
)
from robustops.agent.vllm_worker import refresh_head
from robustops.core.errors import PolicyError, first_line

# In process: a child process could not share the trainer's weights.
_ENVIRONMENT = {"VLLM_ENABLE_V1_MULTIPROCESSING": "0", "VLLM_LOGGING_LEVEL": "ERROR"}
for _name, _value in (_ENVIRONMENT | engine_environment(is_cpu=is_cpu_build())).items():
    os.environ.setdefault(_name, _value)

from vllm import EngineArgs, LLMEngine, SamplingParams  # noqa: E402
from vllm.inputs.engine import tokens_input  # noqa: E402
from vllm.sampling_params import RequestOutputKind  # noqa: E402

log = logging.getLogger(__name__)


def vllm_policy(
    folder: Path,
    *,
    stop_ids: Sequence[int],
    decode: Callable[[Sequence[int]], str],
    options: VllmOptions | None = None,
    deterministic: bool = False,
) -> EnginePolicy:
    """A continuous `LLMEngine.step` loop behind `act`; one engine per process.

    `stop_ids` end a sample and stay in it; `decode` turns sampled ids into the sample's text.
    Raises ConfigError for a missing model folder or compiler, PolicyError when the engine cannot start.
    """
    check_model_folder(folder)
    chosen = options or VllmOptions()
    llm = _start(folder, chosen, is_cpu=is_cpu_build())
    engine = VllmEngine(llm, stop_ids=stop_ids, decode=decode, can_sleep=chosen.can_sleep)
    return EnginePolicy(engine, deterministic=deterministic, seed=chosen.seed)


def _start(folder: Path, options: VllmOptions, *, is_cpu: bool) -> LLMEngine:
    check_compiler(options)
    if is_cpu:
        os.environ.update(engine_environment(is_cpu=True, is_compiled=options.is_compiled))
    arguments = EngineArgs(
        model=str(folder),
        skip_tokenizer_init=True,  # token in, token out: the codec alone knows text
        disable_log_stats=True,
        **engine_arguments(options, is_cpu=is_cpu),
    )
    # Tied embeddings make every reload name the head as not loaded; load_weights refreshes it.
    logging.getLogger("vllm.model_executor.model_loader.reload.layerwise").setLevel(logging.ERROR)
    try:
        return LLMEngine.from_engine_args(arguments)
    except Exception as error:
        raise PolicyError(f"vllm could not start on '{folder}': {first_line(error)}") from error


class VllmEngine:
    """A `LocalEngine` around LLMEngine."""

    def __init__(
        self,
        llm: LLMEngine,
        *,
        stop_ids: Sequence[int],
        decode: Callable[[Sequence[int]], str],
        can_sleep: bool = False,
    ) -> None:
        self.llm = llm
        self._can_sleep = can_sleep
        self._is_asleep = False
        self.weight_version = 0
        self._stop_ids = list(stop_ids)
        self._decode = decode
        self._internal_ids: dict[str, str] = {}
        self._num_scores = 0

    def add(self, request_id: str, token_ids: Sequence[int], sampling: Sampling) -> None:
        limit = self.llm.vllm_config.model_config.max_model_len
        if not 0 < len(token_ids) < limit:  # vLLM checks text prompts only, and would wait for ever for room
            raise ValueError(
                f"a prompt of {len(token_ids)} tokens; expected 1..{limit - 1} (engine max_model_len {limit})"
            )
        parameters = SamplingParams(
            temperature=sampling.temperature,
            max_tokens=sampling.max_tokens,
            seed=sampling.seed,
            logprobs=0,  # the sampled token's alone
            stop_token_ids=self._stop_ids,
            ignore_eos=True,
            detokenize=False,
            output_kind=RequestOutputKind.FINAL_ONLY,  # else each step copies what each request has sampled so far
        )
        prompt = tokens_input(list(token_ids))
        self._internal_ids[request_id] = self.llm.add_request(request_id, prompt, parameters)

    def abort(self, request_id: str) -> None:
        internal = self._internal_ids.pop(request_id, None)
        if internal is not None:
            self.llm.abort_request([internal], internal=True)

    def step(self) -> list[Finished]:
        return [
            self._finished(output)
            for output in self.llm.step()
            if output.finished and self._internal_ids.pop(output.request_id, None) is not None
        ]

    def has_unfinished(self) -> bool:
        return bool(self.llm.has_unfinished_requests())

    def load_weights(self, named_tensors: Iterable[tuple[str, Any]], version: int) -> None:
        self.llm.collective_rpc("reload_weights", kwargs={"weights_iterator": iter(named_tensors)})
        self.llm.apply_model(refresh_head)
        self.llm.set_weight_version(str(version))
        self.weight_version = version

    def sleep(self) -> None:
        if self._can_sleep and not self._is_asleep:
            self.llm.sleep(level=1)
            self._is_asleep = True

    def wake_up(self) -> None:
        if self._is_asleep:
            self.llm.wake_up()
            self._is_asleep = False

    def reset_prefix_cache(self) -> bool:
        return bool(self.llm.reset_prefix_cache())

    def score(self, token_ids: Sequence[int]) -> tuple[float, ...]:
        self._num_scores += 1
        parameters = SamplingParams(temperature=1.0, max_tokens=1, prompt_logprobs=0, ignore_eos=True, detokenize=False)
        self.llm.add_request(f"score-{self._num_scores}", tokens_input(list(token_ids)), parameters)
        while self.llm.has_unfinished_requests():
            outputs: list[Any] = self.llm.step()
            for output in outputs:
                if output.finished:
                    pairs = zip(token_ids[1:], output.prompt_logprobs[1:], strict=True)
                    return tuple(float(logprobs[token].logprob) for token, logprobs in pairs)
        raise PolicyError("score: the engine finished without an answer")

    def shutdown(self) -> None:
        self.llm.engine_core.shutdown()

    def _finished(self, output: Any) -> Finished:
        completion = output.outputs[0]
        if completion.finish_reason not in ("stop", "length"):
            reason = f"finish reason '{completion.finish_reason}'"
            return Finished(request_id=output.request_id, sample=None, error=reason)
        token_ids = tuple(int(token) for token in completion.token_ids)
        logprobs = zip(token_ids, completion.logprobs, strict=True)
        sample = Sample(
            token_ids=token_ids,
            logprobs=tuple(float(entry[token].logprob) for token, entry in logprobs),
            text=self._decode(token_ids),
            finish="stop" if completion.finish_reason == "stop" else "length",
            weight_version=self.weight_version,
            cached_tokens=int(output.num_cached_tokens or 0),
        )
        return Finished(request_id=output.request_id, sample=sample)
