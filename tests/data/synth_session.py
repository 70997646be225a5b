"""A session on a generated database of one domain."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from pathlib import Path

from robustops.core.task import GymServer, Task
from robustops.data.synth.world import World, sql_of
from robustops.gym.domains import load_domain, load_toolbox
from robustops.gym.embedded import EmbeddedGym
from robustops.gym.session import Session


def session_of(domain: str, world: World, folder: Path) -> AbstractAsyncContextManager[Session]:
    (folder / "seed.sql").write_text(sql_of(world))
    server = GymServer(name=load_domain(domain).servers[0], seed_file="seed.sql", context=world.context)
    task = Task(
        task_id="world",
        domain=domain,
        policy="",
        request="",
        tools=(),
        servers=(server,),
        checks=(),
        seed_root=str(folder),
    )
    return EmbeddedGym(toolboxes=(load_toolbox(domain),)).open(task)
