"""Email templates about labels and addresses: new and renamed labels, forwarding to a sender. Worlds to drafts."""

from __future__ import annotations

from random import Random

from robustops.agent.plan import Pick
from robustops.data.synth.draft import (
    CheckDraft,
    Draft,
    Template,
    expressions,
    holds,
    only_written,
    others_kept,
    read,
    row_count,
    write,
)
from robustops.data.synth.email_messages import others_keep, single_mail
from robustops.data.synth.email_rules import ME, READ_BACKS, find_message, relabel
from robustops.data.synth.email_world import SEED_TIME
from robustops.data.synth.names import Names
from robustops.data.synth.world import World


def label_new(world: World, rng: Random) -> Draft | None:
    message, name = single_mail(world, rng, {"INBOX"}), Names(world.part, rng).subject()
    if message is None or world.rows("labels", {"name": name}):
        return None
    title = message["subject"]
    change = {"id": "@message.id", "addLabelIds": ["@label.id"]}
    query = f"SELECT COUNT(*) FROM message_labels WHERE message_id = '{message['id']}' AND label_id IN "
    query += f"(SELECT id FROM labels WHERE name = '{name}')"
    return Draft(
        slots={"title": title, "label": name},
        steps=(
            *find_message(title),
            write("label", "create_label", ME | {"name": name}, READ_BACKS),
            relabel("modify_message", change, "get_message", ["@label.id"]),
        ),
        checks=(
            holds("label exists once", "labels", {"name": name}),
            CheckDraft(name="mail has it", query=query, expected=1),
            others_keep(world, message),
            row_count("one label more", "labels", len(world.rows("labels")) + 1),
        ),
        edges=((0, 1),),
    )


def label_rename(world: World, rng: Random) -> Draft | None:
    label, new = rng.choice(world.rows("labels", {"type": "user"})), Names(world.part, rng).subject()
    if world.rows("labels", {"name": new}):
        return None
    key, held = {"id": label["id"]}, {"label_id": label["id"]}
    return Draft(
        slots={"label": label["name"], "new": new},
        steps=(
            read("label", "list_labels", ME, Pick(where=expressions({"name": label["name"]}))),
            write("done", "patch_label", ME | {"id": "@label.id", "name": new}, READ_BACKS),
        ),
        checks=(
            holds("label has the new name", "labels", key | {"name": new}),
            others_kept("its mail is kept", world, "message_labels", {"label_id": ""}, within=held),
            only_written("no other label changed", "labels", key, column="updated_at", since=SEED_TIME),
        ),
    )


def sender_forward(world: World, rng: Random) -> Draft | None:
    """The address stands in the From header, the first of a message."""
    message = single_mail(world, rng, {"INBOX"})
    if message is None or world.rows("forwarding_addresses", {"forwarding_email": message["sender"]}):
        return None
    title, address = message["subject"], {"forwarding_email": message["sender"]}
    arguments = ME | {"forwardingEmail": "@message.payload.headers.0.value"}
    return Draft(
        slots={"title": title},
        steps=(*find_message(title), write("done", "create_forwarding_address", arguments, READ_BACKS)),
        checks=(
            holds("address is added", "forwarding_addresses", address),
            others_kept("other addresses are kept", world, "forwarding_addresses", address),
            holds("forwarding stays off", "auto_forwarding", {"enabled": False}),
        ),
    )


TEMPLATES = (
    Template(
        name="email_label_new",
        patterns=(
            "Create the label {label} and add it to the mail {title}.",
            "The mail {title} needs a new label, {label}. Create and add it.",
            "Make a label {label} and put it on the mail {title}.",
            "{label} is a new label for the mail {title}. Create it first.",
        ),
        extra_tools=("trash_message",),
        draw=label_new,
    ),
    Template(
        name="email_label_rename",
        patterns=(
            "Rename the label {label} to {new}.",
            "The label {label} is called {new} from now on. Update it.",
            "Change the name of the label {label} to {new}.",
            "{new} is the new name of the label {label}.",
        ),
        extra_tools=("create_label", "delete_label"),
        draw=label_rename,
    ),
    Template(
        name="email_sender_forward",
        patterns=(
            "Add the sender of the mail {title} as a forwarding address.",
            "Whoever sent the mail {title} becomes a forwarding address. Add the address.",
            "Take the sender address of the mail {title} as a new forwarding address.",
            "The address that the mail {title} came from should be a forwarding address.",
        ),
        extra_tools=("list_forwarding_addresses",),
        draw=sender_forward,
    ),
)
