"""Email templates about mail and threads: labels, read and unread, archive, trash, drafts, stars. Worlds to drafts."""

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
    others_kept,
    read,
    row_count,
)
from robustops.data.synth.email_rules import ME, find_message, find_thread, relabel, titled
from robustops.data.synth.world import Row, World


def single_mail(world: World, rng: Random, labels: set[str]) -> Row | None:
    """A mail with all these labels that is alone in its thread, so that its title finds nothing else."""
    linked: dict[str, set[str]] = {}
    for row in world.rows("message_labels"):
        linked.setdefault(row["message_id"], set()).add(row["label_id"])
    threads = [row["thread_id"] for row in world.rows("messages")]
    fitting = [
        row for row in world.rows("messages") if labels <= linked[row["id"]] and threads.count(row["thread_id"]) == 1
    ]
    return rng.choice(fitting) if fitting else None


def _mail_keeps(world: World, message: Row, label: str) -> CheckDraft:
    """Guard: the mail keeps every other label."""
    own, one = {"message_id": message["id"]}, {"label_id": label}
    return others_kept("its other labels are kept", world, "message_labels", one, within=own)


def others_keep(world: World, message: Row) -> CheckDraft:
    """Guard: other mail keeps its labels."""
    return others_kept("labels of other mail are kept", world, "message_labels", {"message_id": message["id"]})


def label_add(world: World, rng: Random) -> Draft | None:
    message = single_mail(world, rng, {"INBOX"})
    label = rng.choice(world.rows("labels", {"type": "user"}))
    if message is None or world.rows("message_labels", {"message_id": message["id"], "label_id": label["id"]}):
        return None
    title, name = message["subject"], label["name"]
    change = {"id": "@message.id", "addLabelIds": ["@label.id"]}
    return Draft(
        slots={"title": title, "label": name},
        steps=(
            *find_message(title),
            read("label", "list_labels", ME, Pick(where=expressions({"name": name}))),
            relabel("modify_message", change, "get_message", ["@label.id"]),
        ),
        checks=(
            holds("mail has the label", "message_labels", {"message_id": message["id"], "label_id": label["id"]}),
            _mail_keeps(world, message, label["id"]),
            others_keep(world, message),
        ),
    )


def mark_read(world: World, rng: Random) -> Draft | None:
    message = single_mail(world, rng, {"INBOX", "UNREAD"})
    if message is None:
        return None
    change = {"id": "@message.id", "removeLabelIds": ["UNREAD"]}
    return Draft(
        slots={"title": message["subject"]},
        steps=(
            *find_message(message["subject"]),
            relabel("modify_message", change, "get_message", ["UNREAD"], are_gone=True),
        ),
        checks=(
            gone("mail is read", "message_labels", {"message_id": message["id"], "label_id": "UNREAD"}),
            _mail_keeps(world, message, "UNREAD"),
            others_keep(world, message),
        ),
    )


def trash(world: World, rng: Random) -> Draft | None:
    message = single_mail(world, rng, {"INBOX"})
    if message is None:
        return None
    own = {"message_id": message["id"]}
    return Draft(
        slots={"title": message["subject"]},
        steps=(
            *find_message(message["subject"]),
            relabel("trash_message", {"id": "@message.id"}, "get_message", ["TRASH"]),
        ),
        checks=(
            holds("mail is in the trash", "message_labels", {"message_id": message["id"], "label_id": "TRASH"}),
            holds("mail is not deleted for good", "messages", {"id": message["id"], "deleted": False}),
            others_keep(world, message),
            others_kept("no other mail in the trash", world, "message_labels", own, within={"label_id": "TRASH"}),
        ),
    )


def _thread_draft(world: World, rng: Random, label: str, *, add: bool) -> Draft | None:
    message = single_mail(world, rng, {"INBOX"})
    held = message and world.rows("message_labels", {"message_id": message["id"], "label_id": label})
    if message is None or bool(held) == add:
        return None
    pair = {"message_id": message["id"], "label_id": label}
    change = {"id": "@thread.id", "addLabelIds" if add else "removeLabelIds": [label]}
    return Draft(
        slots={"title": message["subject"]},
        steps=(
            *find_thread(message["subject"]),
            relabel("modify_thread", change, "get_thread", [label], are_gone=not add),
        ),
        checks=(
            holds("label is there", "message_labels", pair) if add else gone("label is gone", "message_labels", pair),
            _mail_keeps(world, message, label),
            others_keep(world, message),
        ),
    )


def thread_archive(world: World, rng: Random) -> Draft | None:
    return _thread_draft(world, rng, "INBOX", add=False)


def thread_star(world: World, rng: Random) -> Draft | None:
    return _thread_draft(world, rng, "STARRED", add=True)


def draft_send(world: World, rng: Random) -> Draft:
    draft = rng.choice(world.rows("drafts"))
    message = world.one("messages", {"id": draft["message_id"]})
    title = message["subject"]
    asked = expressions(ME | {"id": "@draft.id", "message": {"id": "@draft.message.id"}})
    key = expressions(ME | {"id": "@draft.message.id"})
    back = ReadBack(tool="get_message", arguments=key, where=expressions({"labelIds": ["SENT"]}))
    return Draft(
        slots={"title": title},
        steps=(
            read("found", "list_drafts", ME | {"q": title}),
            read("draft", "get_draft", ME | {"id": "@found.id"}, titled(title, "message.")),
            Step(bind="done", tool="send_draft", arguments=asked, read_back=back),
        ),
        checks=(
            holds("mail is sent", "message_labels", {"message_id": message["id"], "label_id": "SENT"}),
            gone("draft is gone", "drafts", {"id": draft["id"]}),
            others_kept("other drafts are kept", world, "drafts", {"id": draft["id"]}),
            row_count("no mail more or less", "messages", len(world.rows("messages"))),
        ),
    )


TEMPLATES = (
    Template(
        name="email_label_add",
        patterns=(
            "Add the label {label} to the mail {title}.",
            "The mail {title} needs the label {label}. Add it.",
            "Label the mail {title} as {label}.",
            "The mail {title} belongs under the label {label}.",
        ),
        extra_tools=("trash_message",),
        draw=label_add,
    ),
    Template(
        name="email_mark_read",
        patterns=(
            "Mark the mail {title} as read.",
            "The mail {title} has been read. Take off UNREAD.",
            "Set the mail {title} to read.",
            "{title} is a mail that counts as read now. Update it.",
        ),
        extra_tools=("trash_message", "list_labels"),
        draw=mark_read,
    ),
    Template(
        name="email_trash",
        patterns=(
            "Put the mail {title} into the trash.",
            "The mail {title} is not needed any more. Trash it.",
            "Move the mail {title} to the trash.",
            "Into the trash with the mail {title}.",
        ),
        extra_tools=("modify_message",),
        draw=trash,
    ),
    Template(
        name="email_thread_archive",
        patterns=(
            "Take the thread {title} out of the inbox.",
            "The thread {title} is done. Archive it: it leaves the inbox and keeps its other labels.",
            "Archive the thread {title} by removing it from the inbox.",
            "The inbox no longer needs the thread {title}. Take it out.",
        ),
        extra_tools=("trash_thread",),
        draw=thread_archive,
    ),
    Template(
        name="email_draft_send",
        patterns=(
            "Send the draft {title}.",
            "The draft {title} is ready. Send it.",
            "Send off the draft with the title {title}.",
            "{title} is a draft that can go out now.",
        ),
        extra_tools=("delete_draft",),
        draw=draft_send,
    ),
    Template(
        name="email_thread_star",
        patterns=(
            "Star the thread {title}.",
            "The thread {title} is to have a star. Add it.",
            "Put a star on the thread {title}.",
            "{title} is a thread that deserves a star.",
        ),
        extra_tools=("trash_thread",),
        draw=thread_star,
        held_out=True,
    ),
)
