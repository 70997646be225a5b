"""Low-rank adapters (LoRA, Hu et al. 2021) put into a model, and the whole weights they stand for taken out again.

The model stays the object it was: trainers, the head and the engine see its usual parts, while only the adapters train.
The one room that knows peft.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from peft import LoraConfig, inject_adapter_in_model
from peft.tuners.lora import LoraLayer
from torch import Tensor, nn
from transformers import PreTrainedModel

from robustops.core.errors import ConfigError
from robustops.learn.model import named_weights

_ADAPTER = "default"
_BASE = ".base_layer"  # how peft names the weight that it put an adapter on


@dataclass(frozen=True, slots=True, kw_only=True)
class LoraSettings:
    """The adapters' product is scaled by `alpha / rank`. `targets`: names of the layers that get one."""

    rank: int
    alpha: int = 32
    dropout: float = 0.0
    targets: tuple[str, ...] = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")

    def __post_init__(self) -> None:
        if self.rank < 1 or self.alpha <= 0 or not 0 <= self.dropout < 1:
            raise ValueError(f"expected rank >= 1, alpha > 0 and 0 <= dropout < 1, got {self}")


def attach(model: PreTrainedModel, settings: LoraSettings) -> int:
    """Freeze `model` and put fresh adapters into it, which change nothing yet; returns how many parameters train.

    Raises ConfigError where the model has none of the target layers, and for targets that are no projections: the
    embedding and the head are read as plain weights (`learn.model`), past any adapter.
    """
    peft_config = LoraConfig(
        r=settings.rank,
        lora_alpha=settings.alpha,
        lora_dropout=settings.dropout,
        target_modules=list(settings.targets),
        bias="none",
    )
    try:
        inject_adapter_in_model(peft_config, model, adapter_name=_ADAPTER)
    except ValueError as error:
        raise ConfigError(f"model.lora.targets: {str(error).splitlines()[0]}") from error
    _check_targets(model)
    if getattr(model, "is_gradient_checkpointing", False):
        model.enable_input_require_grads()  # type: ignore[no-untyped-call]  # frozen embeddings would leave the first checkpoint without a gradient
    return sum(parameter.numel() for parameter in model.parameters() if parameter.requires_grad)


def _check_targets(model: PreTrainedModel) -> None:
    head = model.get_output_embeddings()  # type: ignore[no-untyped-call]
    for name, module in model.named_modules():
        if isinstance(module, LoraLayer) and (module is head or not isinstance(module.get_base_layer(), nn.Linear)):
            raise ConfigError(
                f"model.lora.targets: {name} is not a projection inside a layer; leave {name.split('.')[-1]} out"
            )


def merged_weights(model: PreTrainedModel) -> dict[str, Tensor]:
    """Every weight once, under its checkpoint name, with the adapters added in: what an engine or an export takes.

    The model itself stays as it is. Without adapters these are its own weights. All ranks must call it where the
    weights are spread over them: each gathers both factors whole, and none multiplies parts of them.
    """
    weights = named_weights(model)
    for name, module in model.named_modules():
        if isinstance(module, LoraLayer):
            key = f"{name}{_BASE}.weight"
            down_RI, up_OR = (weights[f"{name}.lora_{part}.{_ADAPTER}.weight"].detach() for part in "AB")
            weights[key] = weights[key].detach() + module.scaling[_ADAPTER] * (up_OR @ down_RI)
    return {
        name.replace(f"{_BASE}.", "."): weight for name, weight in weights.items() if not _is_adapter(name.split("."))
    }


def _is_adapter(parts: Sequence[str]) -> bool:
    return any(part.startswith("lora_") for part in parts)
