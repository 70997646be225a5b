"""How the episodes ended, and which files and models the numbers come from."""

from __future__ import annotations

from collections import Counter

from analysis.align import Alignment
from analysis.document import Section, Table
from robustops.core.episode_row import EpisodeRow


def num_broken(rows: list[EpisodeRow]) -> int:
    return sum(row.stop_reason == "infrastructure" for row in rows)


def endings_section(alignment: Alignment) -> Section:
    reasons = sorted(
        {row.stop_reason for run in alignment.runs for condition in alignment.conditions
         for row in alignment.rows(run, condition)} - {"infrastructure"}
    )  # fmt: skip
    rows = []
    for run in alignment.runs:
        for condition in alignment.conditions:
            episodes = alignment.rows(run, condition)
            ended = Counter(row.stop_reason for row in episodes)
            counts = (
                len(episodes),
                sum(row.success is True for row in episodes),
                sum(row.success_strict is True for row in episodes),
                sum(row.success is None for row in episodes),
                num_broken(episodes),
                sum(row.bad_calls for row in episodes),
                *(ended[reason] for reason in reasons),
            )
            rows.append((run.name, condition, *map(str, counts)))
    return Section(
        title="How episodes ended",
        intro=(
            "How to read this: infrastructure counts episodes that failed because a tool server or an engine failed; "
            "they say nothing about the model, yet they stay in every denominator and count as not solved. Unscored: "
            "no check gave a verdict. Solved (strict) asks for every single check, none unscored; the rates of this "
            "report use the benchmark's own rule. Stop: the model ended by itself.",
        ),
        tables=(
            Table(
                title="Endings",
                columns=(
                    *("Model", "Condition", "n", "Solved", "Solved (strict)", "Unscored", "Infrastructure"),
                    *("Bad calls", *(reason.replace("_", " ").capitalize() for reason in reasons)),
                ),
                rows=tuple(rows),
            ),
        ),
    )


def provenance_section(alignment: Alignment) -> Section:
    rows = []
    for run in alignment.runs:
        first = run.first_row
        rows.append(
            (
                *(run.name, first.model, first.stage, first.run or run.folder.resolve().name),
                *(str(len(run.rows)), str(alignment.num_left_out[run.name]), str(len(run.supplemented))),
                *(str(first.weight_version), first.policy_mode, str(first.seed)),
                *(run.episodes_sha256[:16], run.manifest_sha[:16] or "no faults"),
                str(run.info.get("git_revision", run.info.get("revision", "")))[:12],
            )
        )
    return Section(
        title="Where the numbers come from",
        intro=(
            "Hashes are the first 16 digits of SHA-256: of episodes.parquet, and of the fault manifest that fixes "
            "which case gets which fault. Left out: rows whose case is not in every run.",
        ),
        tables=(
            Table(
                title="Runs",
                columns=(
                    *("Name", "Model", "Stage", "Run", "Rows", "Left out", "Supplemented", "Weight version"),
                    *("Policy mode", "Seed", "episodes.parquet", "Fault manifest", "Revision"),
                ),
                rows=tuple(rows),
            ),
        ),
    )
