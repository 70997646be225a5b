"""Where the rollouts of a step leave its batch for Lightning's loader: one batch in, the same one out, once."""

from __future__ import annotations

from torch.utils.data import DataLoader, Dataset

from robustops.learn.grpo import StepBatch


class StepBuffer(Dataset[StepBatch]):
    """One batch, the current step's. Of length 1: Lightning prefetches from loaders that do not know their length."""

    def __init__(self) -> None:
        self._batch: StepBatch | None = None

    def __len__(self) -> int:
        return 1

    def put(self, batch: StepBatch) -> None:
        if self._batch is not None:
            raise ValueError(f"step {self._batch.step} was never trained on")
        self._batch = batch

    def __getitem__(self, index: int) -> StepBatch:
        if self._batch is None:
            raise ValueError("the batch was fetched before the rollouts of its step")
        batch, self._batch = self._batch, None
        return batch

    def loader(self) -> DataLoader[StepBatch]:
        return DataLoader(self, batch_size=None, num_workers=0)
