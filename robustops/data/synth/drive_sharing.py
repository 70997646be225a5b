"""Drive templates about people: who may do what with a file, and what they say about it. Worlds to drafts."""

from __future__ import annotations

from random import Random

from robustops.agent.plan import Pick, ReadBack, Step
from robustops.data.synth.draft import (
    CheckDraft,
    Draft,
    Template,
    expressions,
    gone,
    holds,
    only_written,
    others_kept,
    read,
    write,
)
from robustops.data.synth.drive_files import ROLES, own_files
from robustops.data.synth.drive_rules import READ_BACKS, find
from robustops.data.synth.names import Names
from robustops.data.synth.world import Row, World


def _no_other_access(row: Row) -> CheckDraft:
    return only_written("no other access changed", "permissions", row, column="updated_time")


def _file_and_access(world: World, rng: Random) -> tuple[Row, Row] | None:
    """A file and what one of those with whom it is shared may do."""
    file = rng.choice(own_files(world))
    shared = [row for row in world.rows("permissions", {"file_id": file["id"]}) if row["role"] != "owner"]
    return (file, rng.choice(shared)) if shared else None


def _access_steps(file: Row, access: Row) -> tuple[Step, Step]:
    person = Pick(where=expressions({"emailAddress": access["email_address"]}))
    return find("file", file["name"]), read("access", "list_permission", {"fileId": "@file.id"}, person)


def file_share(world: World, rng: Random) -> Draft | None:
    file, person = rng.choice(own_files(world)), rng.choice(world.rows("users", {"me": 0}))
    key = {"file_id": file["id"], "email_address": person["email"]}
    if world.rows("permissions", key):
        return None
    role = rng.choice(ROLES)
    arguments = {"fileId": "@file.id", "role": role, "type": "user", "emailAddress": person["email"]}
    return Draft(
        slots={"file": file["name"], "email": person["email"], "role": role},
        steps=(find("file", file["name"]), write("done", "create_permission", arguments, READ_BACKS)),
        checks=(
            holds("access is given once", "permissions", key | {"role": role, "type": "user"}),
            _no_other_access(key),
            only_written("no other file changed", "files", {"id": file["id"]}, column="modified_time"),
        ),
    )


def access_role(world: World, rng: Random) -> Draft | None:
    found = _file_and_access(world, rng)
    if found is None:
        return None
    file, access = found
    role = rng.choice([name for name in ROLES if name != access["role"]])
    arguments = {"fileId": "@file.id", "permissionId": "@access.id", "role": role}
    return Draft(
        slots={"file": file["name"], "email": access["email_address"], "role": role},
        steps=(*_access_steps(file, access), write("done", "update_permission", arguments, READ_BACKS)),
        checks=(
            holds("role is set", "permissions", {"id": access["id"], "role": role}),
            holds("access is that of the person", "permissions", {"id": access["id"], "user_id": access["user_id"]}),
            _no_other_access({"id": access["id"]}),
        ),
    )


def access_remove(world: World, rng: Random) -> Draft | None:
    found = _file_and_access(world, rng)
    if found is None:
        return None
    file, access = found
    arguments = {"fileId": "@file.id", "permissionId": "@access.id"}
    one = {"id": access["id"]}
    return Draft(
        slots={"file": file["name"], "email": access["email_address"]},
        steps=(*_access_steps(file, access), write("done", "delete_permission", arguments, READ_BACKS)),
        checks=(
            gone("access is gone", "permissions", one),
            others_kept("all other access is kept", world, "permissions", one),
            _no_other_access(one),
        ),
    )


def request_accept(world: World, rng: Random) -> Draft | None:
    request = rng.choice(world.rows("access_proposals", {"status": "pending"}))
    file = world.one("files", {"id": request["file_id"]})
    key = {"file_id": file["id"], "email_address": request["requester_email"]}
    if world.rows("permissions", key) or file not in own_files(world):
        return None
    role = rng.choice(ROLES)
    arguments = {"fileId": "@file.id", "proposalId": "@request.proposalId", "action": "ACCEPT", "role": [role]}
    listed = read(
        "request",
        "list_accessproposals",
        {"fileId": "@file.id"},
        Pick(where=expressions({"requesterEmailAddress": request["requester_email"]})),
    )
    accepted = expressions({"proposalId": "@request.proposalId", "status": "approved"})
    back = ReadBack(tool=listed.tool, arguments=listed.arguments, where=accepted)
    return Draft(
        slots={"file": file["name"], "email": request["requester_email"], "role": role},
        steps=(
            find("file", file["name"]),
            listed,
            Step(bind="done", tool="resolve_accessproposals", arguments=expressions(arguments), read_back=back),
        ),
        checks=(
            holds("request is accepted", "access_proposals", {"id": request["id"], "status": "approved"}),
            holds("access is given once", "permissions", key | {"role": role}),
            others_kept("others wait", world, "access_proposals", {"id": request["id"]}, {"status": request["status"]}),
            _no_other_access(key),
        ),
    )


def comment_answer(world: World, rng: Random) -> Draft | None:
    file = rng.choice(own_files(world))
    comments = world.rows("comments", {"file_id": file["id"]})
    if not comments:
        return None
    comment = rng.choice(comments)
    if [row["author_id"] for row in comments].count(comment["author_id"]) > 1:
        return None
    author = world.one("users", {"id": comment["author_id"]})
    answer = f"Please ask the {Names(world.part, rng).team()}."
    key = {"comment_id": comment["id"], "content": answer}
    arguments = {"fileId": "@file.id", "commentId": "@comment.id", "content": answer}
    said = Pick(where=expressions({"author.displayName": author["display_name"]}))
    return Draft(
        slots={"file": file["name"], "author": author["display_name"], "answer": answer},
        steps=(
            find("file", file["name"]),
            read("comment", "list_comments", {"fileId": "@file.id"}, said),
            write("done", "create_replies", arguments, READ_BACKS),
        ),
        checks=(
            holds("answer is there once", "replies", key),
            holds("comment stays", "comments", {"id": comment["id"], "content": comment["content"], "deleted": 0}),
            only_written("no other answer", "replies", key, column="modified_time"),
        ),
    )


TEMPLATES = (
    Template(
        name="drive_file_share",
        patterns=(
            "Share {file} with {email} as {role}.",
            "{email} needs access to {file} as {role}. Share it.",
            "Give {email} the role {role} for the file {file}.",
            "{email} should be {role} of {file}.",
        ),
        extra_tools=("update_files", "list_drives"),
        draw=file_share,
    ),
    Template(
        name="drive_access_role",
        patterns=(
            "Change the access of {email} to {file}: role {role}.",
            "{email} should be {role} of {file} from now on. Change the access.",
            "Set the role of {email} for the file {file} to {role}.",
            "What {email} may do with {file} changes: {role} is the new role.",
        ),
        extra_tools=("create_permission",),
        draw=access_role,
    ),
    Template(
        name="drive_access_remove",
        patterns=(
            "Stop sharing {file} with {email}.",
            "{email} should no longer have access to {file}. Remove it.",
            "Remove the access of {email} to the file {file}.",
            "Take {file} away from {email}; the others keep it.",
        ),
        extra_tools=("create_permission",),
        draw=access_remove,
    ),
    Template(
        name="drive_request_accept",
        patterns=(
            "{email} asked for access to {file}. Accept the request, as {role}.",
            "Accept the request of {email} for the file {file} with the role {role}.",
            "Resolve the request for {file} by {email}: {role}, accepted.",
            "The request of {email} about {file} is fine; make it {role}.",
        ),
        extra_tools=("create_permission",),
        draw=request_accept,
    ),
    Template(
        name="drive_comment_answer",
        patterns=(
            "Answer the comment of {author} on {file}: {answer}",
            "{author} wrote a comment on {file}. Reply to it: {answer}",
            "Reply to what {author} said about {file}: {answer}",
            "On {file} there is a comment of {author}; the answer is: {answer}",
        ),
        extra_tools=("create_comments",),
        draw=comment_answer,
    ),
)
