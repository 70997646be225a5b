"""From a collect run's folder to supervised samples, and to the formats of other trainers."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

from robustops.agent.codec import Codec, Opening
from robustops.agent.hermes import END_OF_TURN
from robustops.agent.views import ToolView, template_tools
from robustops.agent.vocabulary import vocabulary_sha256
from robustops.compose.catalogue import catalogues, merged
from robustops.compose.completion import build_completion
from robustops.compose.scene import Scene, build_scene
from robustops.config import RunConfig
from robustops.config.preflight import tokenizer_folder
from robustops.core.errors import ConfigError, TableError
from robustops.core.files import read_json
from robustops.core.listing import set_name
from robustops.core.task import Task
from robustops.data.conversation import Conversation, conversation_of
from robustops.data.formats import FORMATS
from robustops.data.review import review, with_reviews
from robustops.data.sft import SAMPLES, save_samples
from robustops.data.supervision import Demonstration, SftExport, export
from robustops.data.tasks import domains_of
from robustops.rollout.play import selected_tools
from robustops.rollout.run_folder import RUN, TRAJECTORIES
from robustops.rollout.trajectory import read_trajectories

REVIEWS = "reviews.jsonl"
EXPORT = "export"


def write_samples(scene: Scene, folder: Path) -> str:
    """Write `sft.jsonl` from the folder's episodes; returns what is in it. Raises TableError where none succeeded."""
    made = supervised(scene, read_demonstrations(scene, folder), folder)
    save_samples(
        folder / SAMPLES,
        made.samples,
        split=set_name("train", scene.task_set.split.sha256),
        source=f"{_teacher(folder)}, seed {scene.config.seed}",
        vocabulary_sha256=vocabulary_sha256(tokenizer_folder(scene.config)),
        tool_view=scene.config.model.tool_schema,
    )
    return _summary(made, folder)


def supervised(scene: Scene, demonstrations: Sequence[Demonstration], folder: Path) -> SftExport:
    limit = scene.config.model.max_context_tokens
    made = export(demonstrations, call_open_id=scene.codec.call_open_id, max_tokens=limit)
    if not made.samples:
        raise TableError(f"{folder}: none of {len(made.rejected)} episodes succeeded; see {TRAJECTORIES} for why")
    return made


def read_demonstrations(scene: Scene, folder: Path) -> list[Demonstration]:
    """Every episode of the folder, with the words of its task and what a reviewer said of its own."""
    path = folder / TRAJECTORIES
    if not path.is_file():
        raise TableError(f"{path}: no such file; `python -m robustops.collect run.dir={folder}` makes it")
    found = []
    for episode in read_trajectories(path):
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
    """Write `sft.jsonl` again and, under `export/`, each format of `collection.formats`."""
    scene = build_scene(config, "train")
    conversations = read_conversations(scene, folder)  # first: it knows another set's episodes by their prompts
    print(write_samples(scene, folder), flush=True)
    for name in config.collection.formats:
        path = folder / EXPORT / FORMATS[name].file
        FORMATS[name].write(path, conversations)
        print(f"{len(conversations)} conversations as {name}: {path}", flush=True)


def read_conversations(scene: Scene, folder: Path) -> list[Conversation]:
    """The demonstrations that succeeded, as chats in the student's own view."""
    demonstrations = read_demonstrations(scene, folder)
    episodes = {demonstration.source: demonstration.episode for demonstration in demonstrations}
    domains = {name for task in scene.tasks.values() for name in domains_of(task)}
    offered = asyncio.run(catalogues(scene.gym, domains))
    view, model = cast(ToolView, scene.config.model.tool_schema), _teacher(folder)
    found = []
    for sample in supervised(scene, demonstrations, folder).samples:
        episode = episodes[sample.source]
        task = scene.tasks[episode.case.task_id]
        tools = selected_tools(task, merged(domains_of(task), offered))
        opening = scene.codec.start(task, tools)
        if episode.turns[0].context_ids != opening.token_ids:
            raise TableError(
                f"{sample.source}: was collected with another prompt than this model and view give; "
                "export with the settings of the collection (model=..., model.tool_schema=..., tool_mode=...)"
            )
        definitions = template_tools(tools, view) or ()
        rendered = _rendered_system(scene.codec, task, opening) if definitions else ""
        found.append(
            conversation_of(
                sample, episode, opening.messages, definitions, scene.codec, model=model, rendered_system=rendered
            )
        )
    return found


def _rendered_system(codec: Codec, task: Task, opening: Opening) -> str:
    """The system message with the tools as its template wrote them: rendered without tools, it is the same prompt.

    Raises ConfigError for a template that puts them elsewhere.
    """
    after = codec.decode(opening.token_ids).partition(task.policy)[2]
    rendered = task.policy + after.partition(END_OF_TURN)[0]
    if codec.start(replace(task, policy=rendered), ()).token_ids != opening.token_ids:
        raise ConfigError("the model's chat template writes tools outside the system message; expected them after it")
    return rendered
