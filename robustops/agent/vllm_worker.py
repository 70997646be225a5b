"""What a worker of our vLLM servers can do beyond vLLM's own: take all weights from a folder, the LM head included.

Named by `--worker-extension-cls`, called through /collective_rpc. Imports no vllm: the worker that it joins is vLLM's.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

EXTENSION = f"{__name__}.WeightsFromFolder"
METHOD = "load_policy_weights"


class WeightsFromFolder:
    """vLLM adds this class to its worker's bases; a name of its own worker must not be taken."""

    model_runner: Any

    def load_policy_weights(self, folder: str) -> None:
        if not (Path(folder) / "model.safetensors").is_file():  # vLLM would ask a hub for a model of that name
            raise FileNotFoundError(f"no model.safetensors in '{folder}': this server must see engine.weights_folder")
        self.model_runner.reload_weights(weights_path=folder)
        refresh_head(self.model_runner.get_model())


def refresh_head(model: Any) -> bool:
    """On the CPU the LM head multiplies with a repacked copy, which a reload of tied embeddings leaves stale."""
    head = getattr(model, "lm_head", None)
    if head is not None and hasattr(head, "quant_method"):
        head.quant_method.process_weights_after_loading(head)
    return True
