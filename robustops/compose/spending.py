"""What an endpoint has cost a run, over all its processes: a file beside the run's results."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from robustops.core.files import read_json, write_json
from robustops.llm.spend import Spend

SPEND = "spend.json"


class Spending:
    """What earlier processes spent is read once, from the run folder."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / SPEND
        self._earlier = Spend(**read_json(self._path)) if self._path.is_file() else Spend()

    def note(self, spend: Spend) -> str:
        """Keep the sum with what this process spent, and say it."""
        total = self._earlier.plus(spend)
        write_json(self._path, asdict(total))
        tokens = (total.prompt_tokens + total.completion_tokens) / 1e6
        again = f" ({total.num_retries} tries more)" if total.num_retries else ""
        return f"{total.num_replies} replies{again}, {tokens:.2f} M tokens, ${total.cost_usd:.2f}"
