"""Draws a synthetic task set: domains, sizes and a seed in; tasks with their databases, graphs and plans out.

The n-th task of a domain and part depends on the seed and n alone, so that a small set is the beginning of a large one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, get_args

from robustops.agent.plan import Plan, dump_plan
from robustops.core.files import write_atomically
from robustops.core.listing import write_listing
from robustops.core.task import CheckGraph, Part
from robustops.data.splits import largest_remainder, task_sha256
from robustops.data.synth.calendar import CALENDAR
from robustops.data.synth.csm import CSM
from robustops.data.synth.draft import Domain, Draft, Hybrid, Template
from robustops.data.synth.drive import DRIVE
from robustops.data.synth.email import EMAIL
from robustops.data.synth.hr import HR
from robustops.data.synth.hybrid import HYBRID
from robustops.data.synth.itsm import ITSM
from robustops.data.synth.teams import TEAMS
from robustops.data.synth.world import World, sql_of

DOMAINS: dict[str, Domain] = {domain.name: domain for domain in (CSM, ITSM, HR, CALENDAR, EMAIL, DRIVE, TEAMS)}
GENERATED: dict[str, Domain | Hybrid] = {**DOMAINS, HYBRID.name: HYBRID}
TASKS_PER_WORLD = 12
MAX_TRIES = 400
NAME_RULE, HELD_OUT_RULE = "names of this part's pool", "held-out template"


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """One database that a group of tasks shares."""

    domain: Domain
    world: World
    seed_file: str
    seed_sql: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SynthTask:
    """One generated task: the public form of it (`content`), and beside it what no policy may see."""

    task_id: str
    domain: str
    part: Part
    template: str
    held_out: bool
    draft: Draft
    content: dict[str, Any]
    hosts: tuple[Host, ...]

    @property
    def sha256(self) -> str:
        return task_sha256(self.content, [host.seed_sql for host in self.hosts])

    @property
    def plan(self) -> Plan:
        return Plan(task_id=self.task_id, steps=self.draft.steps)


def generate(
    out_root: Path,
    *,
    domains: Sequence[str],
    num_train: int,
    num_val: int,
    num_test: int,
    seed: int,
    num_rows: int = 24,
) -> int:
    """Write a task set under `out_root`; returns the number of tasks. The sizes are totals over the domains.

    `num_rows`: rows in a middling table of each database. Raises ValueError for an unknown domain.
    """
    sizes: dict[Part, int] = {"train": num_train, "val": num_val, "test": num_test}
    tasks = list(draw_all(domains=domains, sizes=sizes, seed=seed, num_rows=num_rows))
    write_task_set(out_root, tasks, source=f"robustops.data.synth seed={seed} rows={num_rows} {sizes}")
    return len(tasks)


def draw_all(*, domains: Sequence[str], sizes: dict[Part, int], seed: int, num_rows: int = 24) -> Iterator[SynthTask]:
    """Tasks part by part, domain by domain; each domain's share of a part is that of its templates."""
    unknown = [name for name in domains if name not in GENERATED]
    if unknown:
        raise ValueError(f"unknown domain {unknown[0]!r}; synthetic tasks exist for {', '.join(GENERATED)}")
    weights = {name: len(GENERATED[name].templates) for name in domains}
    for part in get_args(Part):
        for name, num_tasks in largest_remainder(weights, sizes[part]).items():
            yield from draw(GENERATED[name], part, num_tasks, seed=seed, num_rows=num_rows)


def draw(domain: Domain | Hybrid, part: Part, num_tasks: int, *, seed: int, num_rows: int = 24) -> Iterator[SynthTask]:
    """The first `num_tasks` tasks of one domain and part."""
    templates = [template for template in domain.templates if part == "test" or not template.held_out]
    used: set[tuple[Any, ...]] = set()
    for index in range(num_tasks):
        number, place = divmod(index, TASKS_PER_WORLD)
        if place == 0:
            known: dict[str, Host] = {}
        rng = Random(f"{seed}/{domain.name}/{part}/task/{index}")
        template = templates[index % len(templates)]
        hosts = []
        for name in template.hosts or (domain.name,):
            if name not in known:
                group = f"{domain.name}-{name}" if template.hosts else name
                known[name] = _host(DOMAINS[name], part, group=group, number=number, seed=seed, num_rows=num_rows)
            hosts.append(known[name])
        draft = _draw_unused(template, [host.world for host in hosts], rng, used)
        yield SynthTask(
            task_id=f"{domain.name}-{part}-{index:05d}",
            domain=domain.name,
            part=part,
            template=template.name,
            held_out=template.held_out,
            draft=draft,
            content=_content(domain.policy, template, hosts, draft, rng),
            hosts=tuple(hosts),
        )


def _host(domain: Domain, part: Part, *, group: str, number: int, seed: int, num_rows: int) -> Host:
    """The number-th database of a group: of a domain, or of its side in hybrid tasks."""
    world = domain.build(part, Random(f"{seed}/{group}/{part}/world/{number}"), num_rows)
    return Host(domain=domain, world=world, seed_file=f"seeds/{group}-{part}-{number:04d}.sql", seed_sql=sql_of(world))


def _draw_unused(template: Template, worlds: Sequence[World], rng: Random, used: set[tuple[Any, ...]]) -> Draft:
    """A draft whose (template, arguments) is new in this part; training may repeat one on another database."""
    draft = None
    for _ in range(MAX_TRIES):
        draft = template.draw(*worlds, rng) or draft
        if draft is not None and (identity := (template.name, *sorted(draft.slots.items()))) not in used:
            used.add(identity)
            return draft
    part = worlds[0].part
    if draft is None or part != "train":
        raise ValueError(f"template {template.name}: no new task left in part {part!r}; ask for fewer")
    return draft


def _content(policy: str, template: Template, hosts: Sequence[Host], draft: Draft, rng: Random) -> dict[str, Any]:
    tools = [*Plan(task_id="", steps=draft.steps).tools, *template.extra_tools]
    rng.shuffle(tools)
    return {
        "mcp_endpoint": "/mcp",
        "number_of_runs": 1,
        "reset_database_between_runs": True,
        "gym_servers_config": [
            {
                "mcp_server_name": host.domain.server,
                "mcp_server_url": host.domain.url,
                "seed_database_file": host.seed_file,
                "context": host.world.context,
            }
            for host in hosts
        ],
        "system_prompt": policy,
        "user_prompt": rng.choice(template.patterns_of(hosts[0].world.part)).format(**draft.slots),
        "selected_tools": tools,
        "restricted_tools": [],
        "verifiers": [
            {
                "verifier_type": "database_state",
                "name": check.name,
                "gym_name": hosts[check.host].domain.server,
                "validation_config": {
                    "query": check.query,
                    "expected_value": check.expected,
                    "comparison_type": "equals",
                },
            }
            for check in draft.checks
        ],
    }


def write_task_set(out_root: Path, tasks: Sequence[SynthTask], *, source: str) -> None:
    """tasks/*.json, seeds/*.sql, graphs.jsonl, plans.jsonl, split.jsonl."""
    for path, sql in {host.seed_file: host.seed_sql for task in tasks for host in task.hosts}.items():
        write_atomically(out_root / path, sql.encode())
    for task in tasks:
        text = json.dumps(task.content, indent=1, ensure_ascii=False) + "\n"
        write_atomically(out_root / "tasks" / f"{task.task_id}.json", text.encode())
    graphs = [graph_row(task) for task in tasks]
    plans = [dump_plan(task.plan) for task in tasks]
    write_listing(out_root / "graphs.jsonl", graphs, kind="graphs", split="synthetic", source=source)
    write_listing(out_root / "plans.jsonl", plans, kind="plans", split="synthetic", source=source)
    rows = [split_row(task) for task in tasks]
    write_listing(out_root / "split.jsonl", rows, kind="split", split="synthetic", source=source)


def graph_row(task: SynthTask) -> dict[str, Any]:
    graph = CheckGraph(num_checks=len(task.draft.checks), edges=task.draft.edges)
    return {"task_id": task.task_id, "num_checks": graph.num_checks, "edges": [list(edge) for edge in graph.edges]}


def split_row(task: SynthTask) -> dict[str, Any]:
    return {
        "task_id": task.task_id,
        "domain": task.domain,
        "part": task.part,
        "runnable": True,
        "reason": "",
        "rule": HELD_OUT_RULE if task.held_out else NAME_RULE,
        "template": task.template,
        "held_out": task.held_out,
        "sha256": task.sha256,
    }
