"""What a step allocates: operations in, bytes of the tensors they made and the largest one out. A count, no clock."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten


class TensorBytes(TorchDispatchMode):
    """`total`: bytes of all storages that operations made, each once; `largest`: of the largest of them."""

    def __init__(self) -> None:
        super().__init__()
        self.total = self.largest = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        taken = {t.untyped_storage().data_ptr() for t in tree_flatten((args, kwargs))[0] if _is_real(t)}
        result = func(*args, **(kwargs or {}))
        for tensor in tree_flatten(result)[0]:
            if _is_real(tensor) and (place := tensor.untyped_storage().data_ptr()) not in taken:
                taken.add(place)
                self.total += tensor.untyped_storage().nbytes()
                self.largest = max(self.largest, tensor.untyped_storage().nbytes())
        return result


def _is_real(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.device.type == "cpu"
