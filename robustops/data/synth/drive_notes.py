"""What hangs on the files of a synthetic drive: comments, labels, versions, requests for access, the log of changes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from random import Random
from typing import Any

from robustops.data.synth.world import SEED_TIME, Row, World

FOLDER = "application/vnd.google-apps.folder"
REMARKS = (
    "Please check the totals.",
    "The second part needs a source.",
    "This can be shorter.",
    "Approved from my side.",
    "Which version is the right one?",
    "The chart is out of date.",
)
ANSWERS = ("Done.", "I will have a look.", "Not yet.", "Thanks.")
LABELS: tuple[tuple[str, str, list[str] | None], ...] = (
    ("sensitivity", "enum", ["internal", "confidential", "public"]),
    ("stage", "enum", ["draft", "review", "final"]),
    ("pages", "number", None),
    ("due", "date", None),
    ("checked", "boolean", None),
    ("owner_note", "string", None),
)
_NO_VALUE: dict[str, Any] = dict.fromkeys(("value_string", "value_number", "value_boolean", "value_date", "value_enum"))
_BASE_32 = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def ulid(rng: Random) -> str:
    return "01" + "".join(rng.choices(_BASE_32, k=24))


def _own_documents(world: World, caller: Row) -> list[Row]:
    """Files of the caller outside shared drives and the trash, in the order in which they were added."""
    wanted = {"created_by": caller["id"], "drive_id": None, "trashed": 0}
    return [
        row
        for row in world.tables["files"]
        if row["mime_type"] != FOLDER and all(row[name] == value for name, value in wanted.items())
    ]


def add_comments(world: World, caller: Row, colleagues: Sequence[Row]) -> None:
    """Every other document of the caller is discussed, by the caller too."""
    rng = world.rng
    for number, file in enumerate(_own_documents(world, caller)[::2]):
        for author in (rng.choice(colleagues), *([caller] if number % 2 == 0 else [])):
            text = rng.choice(REMARKS)
            comment = _add_note(world, "comments", {"file_id": file["id"]}, author, text)
            if rng.random() < 0.5:
                _add_note(world, "replies", {"comment_id": comment["id"]}, rng.choice(colleagues), rng.choice(ANSWERS))


def _add_note(world: World, table: str, place: Row, author: Row, text: str) -> Row:
    row: Row = {"id": ulid(world.rng), **place, "author_id": author["id"], "content": text, "deleted": 0}
    times = {"created_time": SEED_TIME, "modified_time": SEED_TIME}
    return world.add(table, row | {"html_content": f"<p>{text}</p>", **times})


def add_labels(world: World, caller: Row) -> None:
    """One label of each kind, and a first value on some files, two documents of the caller among them."""
    rng = world.rng
    for key, kind, options in LABELS:
        name = key.replace("_", " ").title()
        row: Row = {"id": ulid(rng), "key": key, "name": name, "type": kind, "required": 0, "created_time": SEED_TIME}
        world.add("labels", row | {"options": None if options is None else json.dumps(options)})
    (level,) = world.rows("labels", {"key": "sensitivity"})
    files = [*world.tables["files"][::4], *_own_documents(world, caller)[:2]]
    for file in {row["id"]: row for row in files}.values():
        value = {**_NO_VALUE, "value_enum": rng.choice(("internal", "public"))}
        place = {"id": ulid(rng), "file_id": file["id"], "label_id": level["id"]}
        world.add("file_labels", {**place, **value, "created_time": SEED_TIME})


def add_revisions(world: World, people: Sequence[Row]) -> None:
    """Up to four versions of every third file; one of them is published."""
    for file in world.tables["files"][::3]:
        if file["mime_type"] == FOLDER:
            continue
        count = world.rng.randint(2, 4)
        for number in range(1, count + 1):
            row: Row = {"id": ulid(world.rng), "file_id": file["id"], "revision_number": number}
            row |= {"size_bytes": file["size_bytes"], "mime_type": file["mime_type"], "keep_forever": 0}
            row |= {"published": int(number == 1 and count == 4), "publish_auto": 0, "deleted": 0}
            row |= {"last_modifying_user_id": world.rng.choice(people)["id"], "original_filename": file["name"]}
            world.add("revisions", row | {"created_time": SEED_TIME, "modified_time": SEED_TIME})
            file["head_revision_id"] = row["id"]
    for file in world.tables["files"]:
        file.setdefault("head_revision_id", None)


def add_proposals(world: World, caller: Row, colleagues: Sequence[Row]) -> None:
    """Requests for access to the caller's files, most of them open."""
    for number, file in enumerate(_own_documents(world, caller)[:6]):
        row: Row = {"id": ulid(world.rng), "file_id": file["id"]}
        row |= {"requester_email": colleagues[number % len(colleagues)]["email"], "recipient_email": caller["email"]}
        row |= {"proposed_roles": json.dumps([world.rng.choice(("reader", "writer"))]), "proposed_view": None}
        row |= {"request_message": "May I have access?", "status": "denied" if number == 5 else "pending"}
        row |= {"resolved_at": None, "resolved_by_email": None, "created_at": "2025-01-15T08:00:00.000Z"}
        world.add("access_proposals", row)


def add_log(world: World, caller: Row) -> None:
    """The latest changes, an app, a channel and an operation that has not ended."""
    rng = world.rng
    for number, file in enumerate(world.tables["files"][:8]):
        row: Row = {"token": f"01AAAA{number:020d}", "change_time": SEED_TIME, "file_id": file["id"]}
        row |= {"drive_id": file["drive_id"], "change_type": "file_created", "payload": "{}", "removed": 0}
        world.add("changes", row)
    world.add("change_tokens", {"scope": "global", "last_token": world.tables["changes"][-1]["token"]})
    for name, mime_type, extension in (("Viewer", "application/pdf", "pdf"), ("Painter", "image/png", "png")):
        app: Row = {"id": f"app_{name.lower()}", "name": name, "installed": 1, "authorized": 1}
        app |= {"primary_mime_types": json.dumps([mime_type]), "secondary_mime_types": "[]"}
        world.add("apps", app | {"primary_file_extensions": json.dumps([extension]), "secondary_file_extensions": "[]"})
    file = world.tables["files"][0]
    channel: Row = {"id": f"channel-{ulid(rng)}", "resource_id": f"resource-{ulid(rng)}", "resource_uri": None}
    channel |= {"type": "web_hook", "address": "https://hooks.example/drive", "token": None, "active": 1}
    world.add("channels", channel | {"user_id": caller["id"], "created_time": SEED_TIME})
    operation_id = ulid(rng)
    operation: Row = {"id": operation_id, "name": f"operations/{operation_id}", "operation_type": "copy"}
    operation |= {"status": "running", "operation_metadata": json.dumps({"fileId": file["id"]})}
    world.add("operations", operation | {"created_at": SEED_TIME})
