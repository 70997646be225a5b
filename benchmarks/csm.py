"""What the csm benchmarks play on: the real csm seed of the package agentrelbench, and no request."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from robustops.core.task import GymServer, Task

SERVER = "sn-csm-server"


def csm_task() -> Task:
    root = Path(str(files("agentrelbench"))) / "suite"
    (seed,) = (root / "data" / "seed-dbs" / "csm").glob("*.sql")
    context = {"x-user-email": "thomas.green@servicenow.com"}
    server = GymServer(name=SERVER, seed_file=str(seed.relative_to(root)), context=context)
    return Task(
        task_id="csm",
        domain="csm",
        policy="",
        request="",
        tools=(),
        servers=(server,),
        checks=(),
        seed_root=str(root),
    )
