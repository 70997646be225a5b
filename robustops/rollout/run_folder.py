"""The folder of one evaluation: episodes in as they finish, files out that agree with the plan, or an error.

`trajectories.jsonl` grows line by line and survives a kill; `finish` puts it in the order of the plan and writes the
rows, the tasks and `run.json` beside it. Opening a folder again yields what is already done.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from robustops.core.episode import Episode
from robustops.core.episode_row import EpisodeRow, write_episodes
from robustops.core.errors import TableError
from robustops.core.files import SCHEMA_VERSION, cut_unfinished_line, write_json
from robustops.core.json_lines import append_line, read_lines, write_lines
from robustops.core.task import Case, Task
from robustops.rollout.rows import RunIdentity, row_of
from robustops.rollout.task_file import write_tasks
from robustops.rollout.trajectory import dump_episode, load_episode

TRAJECTORIES, ROWS, RUN = "trajectories.jsonl", "episodes.parquet", "run.json"


def utc_now() -> datetime:
    return datetime.now(UTC)


class RunFolder:
    """`extras`: cases that may be written besides the planned ones, as rows marked as supplemented. `now` dates lines.

    Raises TableError when the folder already holds episodes of another run, or of cases outside this plan.
    """

    def __init__(
        self,
        path: Path,
        cases: Sequence[Case],
        identity: RunIdentity,
        *,
        extras: Sequence[Case] = (),
        now: Callable[[], datetime] = utc_now,
    ) -> None:
        self.path = path
        self._order = {case.case_id: index for index, case in enumerate(cases)}
        self._extras = {case.case_id: index for index, case in enumerate(extras)}
        if len(self._order) < len(cases):
            twice = [case_id for case_id, n in Counter(case.case_id for case in cases).items() if n > 1]
            raise ValueError(f"case {twice[0]} is planned twice")
        self._identity = identity
        self._now = now
        self._source = _source(identity)
        self._lines: dict[str, dict[str, Any]] = {}
        path.mkdir(parents=True, exist_ok=True)
        self._load()

    @property
    def _file(self) -> Path:
        return self.path / TRAJECTORIES

    def _load(self) -> None:
        if not self._file.is_file():
            return
        cut_unfinished_line(self._file)
        for number, line in enumerate(read_lines(self._file), start=1):
            where = f"{self._file}:{number}"
            for key, ours in self._source.items():
                found = line.get("source", {}).get(key)
                if found != ours:
                    raise TableError(
                        f"{where}: holds episodes of another run ({key} {found!r}, this run has {ours!r}); "
                        "give an empty run folder, or repeat the first run's settings to go on with it"
                    )
            if line["case_id"] not in self._order and line["case_id"] not in self._extras:
                raise TableError(f"{where}: case {line['case_id']!r} is not planned in this run; give an empty folder")
            self._keep(line)

    def _keep(self, line: dict[str, Any]) -> None:
        """A later line replaces one that infrastructure had spoilt; a second result of a case is never wanted."""
        earlier = self._lines.get(line["case_id"])
        if earlier is not None and earlier["stop_reason"] != "infrastructure":
            raise TableError(f"{self._file}: case {line['case_id']!r} has two results; the folder was written twice")
        self._lines[line["case_id"]] = line

    def done(self) -> dict[str, Episode]:
        """Finished episodes by case id. One that infrastructure ended says nothing, so it is played again."""
        return {case_id: episode for case_id, episode in self.written().items() if not episode.is_spoilt}

    def written(self) -> dict[str, Episode]:
        return {case_id: load_episode(line) for case_id, line in self._lines.items()}

    def add(self, episode: Episode) -> None:
        line = {**dump_episode(episode, source=self._source), "written_at": self._now().isoformat()}
        self._keep(line)
        append_line(self._file, line)

    def finish(self, tasks: Mapping[str, Task], *, manifest_sha: str, about: Mapping[str, Any]) -> list[EpisodeRow]:
        """Write all files. Raises TableError when planned and written cases differ."""
        missing = [case_id for case_id in self._order if case_id not in self._lines]
        if missing:
            raise TableError(
                f"{self._file}: {len(self._order)} cases planned, {len(self._lines)} written; "
                f"missing {missing[0]}{' and others' if len(missing) > 1 else ''}; run it again"
            )
        extra_ids = [case_id for case_id in self._extras if case_id in self._lines]
        lines = [self._lines[case_id] for case_id in (*self._order, *extra_ids)]
        identity = replace(self._identity, manifest_sha=manifest_sha)
        rows = [self._row(line, tasks, identity) for line in lines]
        write_lines(self._file, lines)
        write_episodes(self.path / ROWS, rows)
        write_tasks(self.path, (tasks[task_id] for task_id in dict.fromkeys(row.task_id for row in rows)))
        facts = {"schema_version": SCHEMA_VERSION, **self._source, "manifest_sha": manifest_sha}
        counts = {"num_cases": len(self._order), "num_supplemented": len(extra_ids)}
        write_json(self.path / RUN, {**about, **facts, **counts})
        return rows

    def _row(self, line: dict[str, Any], tasks: Mapping[str, Task], identity: RunIdentity) -> EpisodeRow:
        episode = load_episode(line)
        is_supplement = episode.case.case_id not in self._order
        if is_supplement:
            identity = replace(identity, policy_mode="sampled")
        return row_of(episode, tasks[episode.case.task_id], identity, is_supplement=is_supplement)


def _source(identity: RunIdentity) -> dict[str, Any]:
    """What must be equal for two halves of a run to belong together."""
    source = asdict(identity)
    del source["weights"], source["progress"]  # they enter rows only, which are computed at the end
    return source
