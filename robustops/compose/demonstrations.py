"""From a collect run's folder to supervised samples, and to the formats of other trainers."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path

from robustops.compose.scene import Scene, build_completion, build_scene
from robustops.config import RunConfig
from robustops.core.errors import TableError
from robustops.core.tables import read_json, read_lines
from robustops.data.review import review, with_reviews
from robustops.data.sft import save_samples
from robustops.data.supervision import Demonstration, SftExport, export
from robustops.rollout.run_folder import RUN, TRAJECTORIES
from robustops.rollout.trajectory import load_episode

SAMPLES = "sft.jsonl"
REVIEWS = "reviews.jsonl"


def write_samples(scene: Scene, folder: Path) -> str:
    """Write `sft.jsonl` from the folder's episodes; returns what is in it. Raises TableError where none succeeded."""
    config = scene.config
    demonstrations = read_demonstrations(scene, folder)
    made = export(demonstrations, call_open_id=scene.codec.call_open_id, max_tokens=config.model.max_context_tokens)
    if not made.samples:
        raise TableError(f"{folder}: none of {len(made.rejected)} episodes succeeded; see {TRAJECTORIES} for why")
    source = f"{_teacher(folder)} on split {scene.task_set.split.sha256[:12]}, seed {config.seed}"
    save_samples(folder / SAMPLES, made.samples, split="train", source=source)
    return _summary(made, folder)


def read_demonstrations(scene: Scene, folder: Path) -> list[Demonstration]:
    """Every episode of the folder, with the words of its task and what a reviewer said of its own."""
    path = folder / TRAJECTORIES
    if not path.is_file():
        raise TableError(f"{path}: no such file; `python -m robustops.collect run.dir={folder}` makes it")
    found = []
    for line in read_lines(path):
        episode = load_episode(line)
        task = scene.tasks.get(episode.case.task_id) or scene.task_set.task(episode.case.task_id)
        found.append(
            Demonstration(
                source=f"{folder.name}/{episode.case.case_id}",
                episode=episode,
                domain=task.domain,
                given=f"{task.policy}\n{task.request}",
            )
        )
    if scene.config.collection.review:
        asyncio.run(_review(scene.config, found, folder / REVIEWS))
    return with_reviews(found, folder / REVIEWS)


async def _review(config: RunConfig, demonstrations: list[Demonstration], path: Path) -> None:
    completion = build_completion(config)
    model = config.model.api.model or config.model.name
    try:
        asked = await review(demonstrations, completion, path, model=model, concurrency=config.model.api.concurrency)
    finally:
        await completion.close()
    print(f"{asked} unproven pieces of narration reviewed by {model}; {path}", flush=True)


def _teacher(folder: Path) -> str:
    return str(read_json(folder / RUN).get("model", "an unknown teacher"))


def _summary(made: SftExport, folder: Path) -> str:
    tokens = [len(sample.token_ids) for sample in made.samples]
    trained = sum(span.num_tokens for sample in made.samples for span in sample.spans if span.is_supervised)
    reasons = Counter(item.reason.partition(":")[0] for item in made.rejected)
    why = f" ({', '.join(f'{count} {reason}' for reason, count in reasons.most_common())})" if reasons else ""
    return (
        f"{len(made.samples)} demonstrations of {sum(tokens) / len(tokens):.0f} tokens (longest {max(tokens)}), "
        f"{trained / sum(tokens):.0%} of them supervised; {len(made.rejected)} episodes rejected{why}; "
        f"{folder / SAMPLES}"
    )


def export_formats(config: RunConfig, folder: Path) -> None:
    print(write_samples(build_scene(config, "train"), folder), flush=True)
