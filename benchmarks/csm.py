"""What the csm benchmarks play on: the real csm seed of the package agentrelbench, one write and five checks."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from robustops.core.task import Check, GymServer, Task

SERVER = "sn-csm-server"
WRITE = ("update_case", {"case_id": 3, "priority": "low"})
# (query, expected, comparison) of checks that hold after the write, and not before it.
CHECKS = (
    ("SELECT priority FROM customer_case WHERE case_id = 3", "low", "equals"),
    ("SELECT COUNT(*) FROM customer_case WHERE case_id = '3' AND priority = 'low'", 1, "equals"),
    ("SELECT COUNT(*) FROM customer_case", 100, "greater_than"),
    ("SELECT COUNT(*) FROM case_sla WHERE case_id = 3", -1, "greater_than"),
    ("SELECT case_id, priority FROM customer_case WHERE case_id = 3", "low", "contains"),
)


def csm_task() -> Task:
    root = Path(str(files("agentrelbench"))) / "suite"
    (seed,) = (root / "data" / "seed-dbs" / "csm").glob("*.sql")
    context = {"x-user-email": "thomas.green@servicenow.com"}
    server = GymServer(name=SERVER, seed_file=str(seed.relative_to(root)), context=context)
    checks = tuple(
        Check(
            index=number,
            kind="database_state",
            name=f"check {number}",
            gym=SERVER,
            query=query,
            expected=expected,
            comparison=comparison,
        )
        for number, (query, expected, comparison) in enumerate(CHECKS)
    )
    return Task(
        task_id="csm",
        domain="csm",
        policy="",
        request="",
        tools=(),
        servers=(server,),
        checks=checks,
        seed_root=str(root),
    )
