"""A model whose weights are spread over ranks: shards in for training, whole tensors out for engines and files.

`LogprobNet` is the module at the root: all weights that a forward pass needs, the head's included, are gathered when it
is called. Knows no loss and no batch.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor, distribute_tensor
from transformers import PreTrainedModel

from robustops.learn.head import TokenLogprobs
from robustops.learn.model import token_logprobs
from robustops.learn.rms_norm import replace_norms
from robustops.learn.shared_prefix import Layout


class LogprobNet(nn.Module):
    """`token_logprobs` as a module. Puts leaner norms into `model` (see rms_norm)."""

    def __init__(self, model: PreTrainedModel) -> None:
        super().__init__()
        replace_norms(model)
        self.model = model

    def forward(
        self,
        token_ids_NT: Tensor,
        is_wanted_NT: Tensor,
        temperature: float,
        compute: torch.dtype,
        with_entropy: bool,
        layout: Layout | None,
    ) -> tuple[Tensor, Tensor]:
        found = token_logprobs(
            self.model,
            token_ids_NT,
            is_wanted_NT,
            temperature=temperature,
            compute=compute,
            with_entropy=with_entropy,
            layout=layout,
        )
        return found.logp_K, found.entropy_K  # a tuple: the hooks of sharding do not look into dataclasses

    def logprobs(
        self,
        token_ids_NT: Tensor,
        is_wanted_NT: Tensor,
        *,
        temperature: float = 1.0,
        compute: torch.dtype = torch.float32,
        with_entropy: bool = False,
        layout: Layout | None = None,
    ) -> TokenLogprobs:
        logp_K, entropy_K = self(token_ids_NT, is_wanted_NT, temperature, compute, with_entropy, layout)
        return TokenLogprobs(logp_K=logp_K, entropy_K=entropy_K)


def shard(net: LogprobNet, mesh: DeviceMesh) -> None:
    """Spread the weights over the ranks of `mesh`, layer by layer; they are gathered when each layer computes."""
    for layer in net.model.get_decoder().layers:  # type: ignore[no-untyped-call]
        fully_shard(layer, mesh=mesh)
    fully_shard(net, mesh=mesh)


def optimiser_state(optimiser: torch.optim.Optimizer) -> dict[str, Any]:
    """As `optimiser.state_dict()`, with whole tensors: the same file for any number of ranks. All ranks must call."""
    found: dict[str, Any] = _mapped(optimiser.state_dict())
    return found


def _mapped(value: Any) -> Any:
    if isinstance(value, DTensor):
        return value.full_tensor().cpu()
    if isinstance(value, dict):
        return {key: _mapped(item) for key, item in value.items()}
    return value


def load_optimiser_state(optimiser: torch.optim.Optimizer, state: dict[str, Any]) -> None:
    """The inverse of `optimiser_state`; rates stay those of `optimiser`, so that a run may go on with another one."""
    rates = [group["lr"] for group in optimiser.param_groups]
    parameters = [parameter for group in optimiser.param_groups for parameter in group["params"]]
    spread = {number: _spread(entry, parameters[number]) for number, entry in state["state"].items()}
    optimiser.load_state_dict({**state, "state": spread})
    for group, rate in zip(optimiser.param_groups, rates, strict=True):
        group["lr"] = rate


def _spread(entry: dict[str, Any], parameter: Tensor) -> dict[str, Any]:
    if not isinstance(parameter, DTensor):
        return entry
    found = dict(entry)
    for name, value in entry.items():
        if value.shape == parameter.shape:
            found[name] = distribute_tensor(value.to(parameter.device), parameter.device_mesh, parameter.placements)
    return found
