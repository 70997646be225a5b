"""The drive database of a synthetic world: folders and files, shared drives, and who may do what. Knows no template.

Some names occur twice, in different folders: a search by name alone is not enough. Comments, labels and versions lie
in `drive_notes`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from random import Random

from robustops.core.task import Part
from robustops.data.synth.drive_notes import (
    FOLDER,
    add_comments,
    add_labels,
    add_log,
    add_proposals,
    add_revisions,
    ulid,
)
from robustops.data.synth.names import Names
from robustops.data.synth.world import SEED_TIME, Row, World

KEYS = {
    "users": "id",
    "groups": "id",
    "group_memberships": "id",
    "drives": "id",
    "drive_memberships": "id",
    "files": "id",
    "permissions": "id",
    "access_proposals": "id",
    "revisions": "id",
    "comments": "id",
    "replies": "id",
    "labels": "id",
    "file_labels": "id",
    "changes": "token",
    "change_tokens": "scope",
    "channels": "id",
    "operations": "id",
    "apps": "id",
}
KINDS = (
    ("application/pdf", "pdf"),
    ("application/vnd.google-apps.document", ""),
    ("application/vnd.google-apps.spreadsheet", ""),
    ("text/plain", "txt"),
    ("image/png", "png"),
)
FIRST_DAY = datetime(2025, 1, 15, 8)  # what lies later, in 2026, is the work of a task


def build(part: Part, rng: Random, num_rows: int) -> World:
    """A world with about `num_rows` files, a third of them in shared drives."""
    world = World(part=part, rng=rng, names=Names(part, rng), key_columns=KEYS)
    people = [_add_user(world, is_me=index == 0) for index in range(max(5, num_rows // 3))]
    caller, *colleagues = people
    world.context = {"x-drive-user-token": caller["auth_token"]}
    for _ in range(2):
        name = world.names.team()
        email = f"{name.replace(' ', '.')}@drive.example".lower()
        group = world.add("groups", {"id": ulid(rng), "name": name, "email": email, "created_time": SEED_TIME})
        for user in rng.sample(colleagues, k=3):
            member: Row = {"id": ulid(rng), "group_id": group["id"], "user_id": user["id"], "role": "member"}
            world.add("group_memberships", member | {"created_time": SEED_TIME})
    drives = [_add_drive(world, caller, colleagues) for _ in range(max(4, num_rows // 8))]
    folders = [_add_folder(world, caller, None, None) for _ in range(max(4, num_rows // 6))]
    folders += [_add_folder(world, caller, parent, None) for parent in folders[:2]]
    shared = [_add_folder(world, rng.choice(people), None, drive["id"]) for drive in drives]
    for index in range(num_rows):
        _add_document(world, caller, colleagues, rng.choice(shared if index % 3 == 2 else folders), index)
    _add_twins(world, caller, folders)
    _add_closure(world)
    add_comments(world, caller, colleagues)
    add_labels(world, caller)
    add_revisions(world, people)
    add_proposals(world, caller, colleagues)
    add_log(world, caller)
    return world


def _add_user(world: World, *, is_me: bool) -> Row:
    first, last = world.names.person()
    user_id = ulid(world.rng)
    row: Row = {"id": user_id, "display_name": f"{first} {last}", "email": f"{first}.{last}@drive.example".lower()}
    row |= {"photo_url": None, "auth_token": f"token-{first}-{last}".lower(), "created_time": SEED_TIME}
    return world.add("users", row | {"kind": "drive#user", "permission_id": f"perm_{user_id}", "me": int(is_me)})


def _add_drive(world: World, caller: Row, colleagues: Sequence[Row]) -> Row:
    row: Row = {"id": ulid(world.rng), "name": world.names.place(), "color_rgb": None, "theme_id": None}
    row |= {"background_image_link": None, "hidden": int(world.rng.random() < 0.3)}
    row |= {"created_time": SEED_TIME, "modified_time": SEED_TIME, "domain_users_only": 0, "drive_members_only": 0}
    drive = world.add("drives", row | {"copy_requires_writer_permission": 0, "admin_managed_restrictions": 0})
    for user, role in zip((caller, *world.rng.sample(colleagues, k=2)), ("organizer", "writer", "reader"), strict=True):
        member: Row = {"id": ulid(world.rng), "drive_id": drive["id"], "type": "user", "user_id": user["id"]}
        world.add(
            "drive_memberships", member | {"group_id": None, "domain": None, "role": role, "created_time": SEED_TIME}
        )
    return drive


def _add_file(world: World, maker: Row, name: str, mime_type: str, parent: Row | None, drive_id: str | None) -> Row:
    rng = world.rng
    file_id, moment = ulid(rng), (FIRST_DAY - timedelta(days=rng.randint(1, 300), minutes=rng.randint(0, 900)))
    size = 0 if mime_type.startswith("application/vnd.google-apps") else rng.randint(1_000, 900_000)
    row: Row = {"id": file_id, "drive_id": drive_id, "name": name, "mime_type": mime_type, "size_bytes": size}
    row |= {"parent_id": parent["id"] if parent else None, "parent_ids": json.dumps([parent["id"]] if parent else [])}
    row |= {"starred": int(rng.random() < 0.2), "trashed": 0, "trashed_time": None, "explicitly_trashed": 0}
    row |= {"created_by": maker["id"], "modified_by": maker["id"], "created_time": SEED_TIME}
    row |= {"modified_time": moment.strftime("%Y-%m-%d %H:%M:%S"), "properties": None, "shared": 0, "version": 1}
    row |= {"description": None, "quota_bytes_used": size, "owned_by_me": None, "original_filename": name}
    file = world.add("files", row | {"web_view_link": f"https://drive.google.com/file/d/{file_id}/view"})
    if drive_id is None:
        grant(world, file, maker, "owner")
    return file


def grant(world: World, file: Row, user: Row, role: str) -> None:
    row: Row = {"id": ulid(world.rng), "file_id": file["id"], "drive_id": None, "role": role, "type": "user"}
    row |= {"user_id": user["id"], "group_id": None, "email_address": user["email"], "domain": None, "deleted": 0}
    world.add("permissions", row | {"inherited": 0, "created_time": SEED_TIME, "updated_time": SEED_TIME})
    if role != "owner":
        file["shared"] = 1


def _add_folder(world: World, maker: Row, parent: Row | None, drive_id: str | None) -> Row:
    return _add_file(world, maker, world.names.subject(), FOLDER, parent, drive_id)


def _add_document(world: World, caller: Row, colleagues: Sequence[Row], folder: Row, index: int) -> None:
    """Mostly the caller's, some trashed, some shared; every seventh is a colleague's who lets the caller read it."""
    rng = world.rng
    mime_type, extension = KINDS[index % len(KINDS)]
    title = world.names.occasion()
    name = f"{title}.{extension}" if extension else title
    if index % 7 == 6:
        file = _add_file(world, rng.choice(colleagues), name, mime_type, None, None)
        grant(world, file, caller, "reader")
        return
    file = _add_file(world, caller, name, mime_type, folder, folder["drive_id"])
    if folder["drive_id"] is None:
        for user, role in zip(rng.sample(colleagues, k=2), ("reader", "writer"), strict=True):
            if rng.random() < 0.5:
                grant(world, file, user, role)
        if index % 9 == 8:
            file |= {"trashed": 1, "explicitly_trashed": 1, "trashed_time": SEED_TIME}


def _add_twins(world: World, caller: Row, folders: Sequence[Row]) -> None:
    """Files of the same name in two folders."""
    for _ in range(3):
        name = f"{world.names.occasion()}.pdf"
        for folder in world.rng.sample(folders[:4], k=2):
            _add_file(world, caller, name, "application/pdf", folder, None)


def _add_closure(world: World) -> None:
    files = {row["id"]: row for row in world.tables["files"]}
    for file_id in files:
        depth, current = 0, files.get(file_id)
        while current is not None:
            pair = {"ancestor_id": current["id"], "descendant_id": file_id, "depth": depth}
            world.add("path_closure", pair)
            depth, current = depth + 1, files.get(current["parent_id"])
