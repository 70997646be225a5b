"""Drive templates about files and folders themselves. Worlds to drafts."""

from __future__ import annotations

from random import Random

from robustops.agent.plan import Pick, ReadBack, Step
from robustops.data.synth.draft import (
    CheckDraft,
    Draft,
    Template,
    expressions,
    holds,
    only_written,
    others_kept,
    read,
    write,
)
from robustops.data.synth.drive_notes import FOLDER
from robustops.data.synth.drive_rules import READ_BACKS, find
from robustops.data.synth.names import Names
from robustops.data.synth.world import Row, World

LEVELS = ("internal", "confidential", "public")
ROLES = ("reader", "commenter", "writer")


def own_files(world: World, *, folders: bool = False) -> list[Row]:
    """Files (or folders) of the caller outside shared drives and the trash, none of a name that occurs twice."""
    caller = world.one("users", {"me": 1})
    found = world.rows("files", {"created_by": caller["id"], "drive_id": None, "trashed": 0})
    return [
        row
        for row in found
        if (row["mime_type"] == FOLDER) is folders and len(world.rows("files", {"name": row["name"]})) == 1
    ]


def _others(file_id: str) -> CheckDraft:
    return only_written("no other file changed", "files", {"id": file_id}, column="modified_time")


def file_describe(world: World, rng: Random) -> Draft:
    file, words = rng.choice(own_files(world)), Names(world.part, rng).subject()
    key = {"id": file["id"]}
    return Draft(
        slots={"file": file["name"], "text": words},
        steps=(
            find("file", file["name"]),
            write("done", "update_files", {"fileId": "@file.id", "description": words}, READ_BACKS),
        ),
        checks=(
            holds("description is set", "files", key | {"description": words}),
            holds("name is kept", "files", key | {"name": file["name"], "trashed": 0}),
            _others(file["id"]),
        ),
    )


def twin_rename(world: World, rng: Random) -> Draft | None:
    names = [row["name"] for row in world.rows("files", {"trashed": 0})]
    twins = world.rows("files", {"name": rng.choice([name for name in names if names.count(name) > 1])})
    older, newer = sorted(twins, key=lambda row: str(row["modified_time"]))
    name = f"{Names(world.part, rng).occasion()}.pdf"
    if older["modified_time"] == newer["modified_time"] or name in names:
        return None
    pick = Pick(where=expressions({"name": newer["name"]}), order_by="modifiedTime")
    return Draft(
        slots={"file": newer["name"], "name": name},
        steps=(
            find("file", newer["name"], pick),
            write("done", "update_files", {"fileId": "@file.id", "name": name}, READ_BACKS),
        ),
        checks=(
            holds("the newer file has the name", "files", {"id": newer["id"], "name": name}),
            holds("the older file keeps its name", "files", {"id": older["id"], "name": older["name"]}),
            _others(newer["id"]),
        ),
    )


def file_move(world: World, rng: Random) -> Draft | None:
    file, folder = rng.choice(own_files(world)), rng.choice(own_files(world, folders=True))
    if file["parent_id"] in (None, folder["id"]):
        return None
    key = {"id": file["id"]}
    arguments = {"fileId": "@file.id", "addParents": "@folder.id", "removeParents": "@file.parents.0"}
    back = ReadBack(
        tool="get_files",
        arguments=expressions({"fileId": "@file.id"}),
        where=expressions({"parents": ["@folder.id"]}),
    )
    return Draft(
        slots={"file": file["name"], "folder": folder["name"]},
        steps=(
            find("file", file["name"]),
            find("folder", folder["name"]),
            Step(bind="done", tool="update_files", arguments=expressions(arguments), read_back=back),
        ),
        checks=(
            holds("file is in the folder", "files", key | {"parent_id": folder["id"]}),
            holds("name is kept", "files", key | {"name": file["name"], "trashed": 0}),
            _others(file["id"]),
        ),
    )


def folder_share(world: World, rng: Random) -> Draft | None:
    """A folder is made, then shared under its new id."""
    parent, person = rng.choice(own_files(world, folders=True)), rng.choice(world.rows("users", {"me": 0}))
    name, role = Names(world.part, rng).subject(), rng.choice(ROLES)
    if world.rows("files", {"name": name}):
        return None
    made = expressions({"name": name, "mimeType": FOLDER})
    found = find("found", name)
    access = {"fileId": "@folder.id", "role": role, "type": "user", "emailAddress": person["email"]}
    stored = {"name": name, "mime_type": FOLDER, "parent_id": parent["id"], "trashed": 0}
    shared = holds("folder is shared", "permissions", {"email_address": person["email"], "role": role, "type": "user"})
    query = f"{shared.query} AND file_id IN (SELECT id FROM files WHERE name = '{name}')"
    return Draft(
        slots={"parent": parent["name"], "name": name, "email": person["email"], "role": role},
        steps=(
            find("parent", parent["name"]),
            Step(
                bind="folder",
                tool="create_file",
                arguments=made | expressions({"parents": ["@parent.id"]}),
                read_back=ReadBack(tool=found.tool, arguments=found.arguments, where=made),
            ),
            write("done", "create_permission", access, READ_BACKS),
        ),
        checks=(
            holds("folder exists once", "files", stored),
            CheckDraft(name=shared.name, query=query, expected=1),
            only_written("no other file changed", "files", {"name": name}, column="modified_time"),
        ),
        edges=((0, 1),),
    )


def file_label(world: World, rng: Random) -> Draft | None:
    label = world.one("labels", {"key": "sensitivity"})
    marked = {row["file_id"]: row for row in world.rows("file_labels", {"label_id": label["id"]})}
    file = rng.choice(own_files(world))
    if file["id"] not in marked:
        return None
    old = marked[file["id"]]["value_enum"]
    level = rng.choice([name for name in LEVELS if name != old])
    key = {"file_id": file["id"], "label_id": label["id"]}
    changes = [{"fieldId": "sensitivity", "setSelectionValues": [level]}]
    arguments = {"fileId": "@file.id", "labelModifications": [{"labelId": "@label.id", "fieldModifications": changes}]}
    seen = {"id": "@label.id", "fields.sensitivity.selection": [level]}
    listed = expressions({"fileId": "@file.id"})
    back = ReadBack(tool="list_files_labels", arguments=listed, where=expressions(seen))
    return Draft(
        slots={"file": file["name"], "level": level},
        steps=(
            find("file", file["name"]),
            read(
                "label", "list_files_labels", {"fileId": "@file.id"}, Pick(where=expressions({"name": "sensitivity"}))
            ),
            Step(bind="done", tool="modify_files_labels", arguments=expressions(arguments), read_back=back),
        ),
        checks=(
            holds("level is set", "file_labels", key | {"value_enum": level}),
            *(
                others_kept(f"other {one} files", world, "file_labels", {"file_id": file["id"]}, {"value_enum": one})
                for one in LEVELS
            ),
            _others(file["id"]),
        ),
    )


TEMPLATES = (
    Template(
        name="drive_file_describe",
        patterns=(
            "Set the description of {file} to {text}.",
            "The file {file} is about {text}. Write that in its description.",
            "Change the description of the file {file}: {text}.",
            "{text} should be the description of {file}.",
        ),
        extra_tools=("copy_files",),
        draw=file_describe,
    ),
    Template(
        name="drive_twin_rename",
        patterns=(
            "There are two files named {file}. Rename the one that was modified last to {name}.",
            "Rename the newer one of the two files named {file} to {name}.",
            "Of the files named {file}, the one with the latest change is now named {name}.",
            "Two files are called {file}; the one that was changed later should be called {name}.",
        ),
        extra_tools=("copy_files",),
        draw=twin_rename,
    ),
    Template(
        name="drive_file_move",
        patterns=(
            "Move {file} to the folder {folder}.",
            "{file} belongs in the folder {folder}. Move it.",
            "Take {file} out of its folder and put it in {folder}.",
            "The folder {folder} is where {file} should be now.",
        ),
        extra_tools=("copy_files",),
        draw=file_move,
    ),
    Template(
        name="drive_folder_share",
        patterns=(
            "Make a folder {name} in {parent} and share it with {email} as {role}.",
            "In the folder {parent}, create a folder {name}. Then give {email} access to it as {role}.",
            "{email} needs a new folder {name} inside {parent}, with access as {role}.",
            "Add a folder {name} to the folder {parent}; {email} becomes its {role}.",
        ),
        extra_tools=("update_files",),
        draw=folder_share,
    ),
    Template(
        name="drive_file_label",
        patterns=(
            "Set the sensitivity label of {file} to {level}.",
            "The sensitivity of {file} is {level} from now on. Change its label.",
            "Change the label of {file}: sensitivity {level}.",
            "{file} should be labelled {level} in sensitivity.",
        ),
        extra_tools=("update_files",),
        draw=file_label,
        held_out=True,
    ),
)
