"""How mail is found and relabelled, how writes are read back, and the policy of synthetic email tasks. Data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from robustops.agent.plan import Pick, ReadBack, Step
from robustops.data.synth.draft import ReadBackRule, expressions, read
from robustops.data.synth.office_rules import RULES

POLICY = (
    "You keep a mailbox; userId is me. Mail is searched by its title; lists show ids alone, so read what was found: "
    "its Subject must be the title. Labels of mail: INBOX in the inbox, UNREAD while unread, STARRED with a star, "
    f"TRASH in the trash, SENT when sent. {RULES}"
)
ME = {"userId": "me"}

READ_BACKS = {
    "create_label": ReadBackRule(tool="list_labels", keys=("userId",)),
    "patch_label": ReadBackRule(tool="get_label", keys=("userId", "id")),
    "create_forwarding_address": ReadBackRule(tool="get_forwarding_address", keys=("userId", "forwardingEmail")),
}


def titled(title: str, place: str) -> Pick:
    """Whose Subject header, in the object at `place`, is the title."""
    return Pick(where=expressions({f"{place}payload.headers": [{"name": "Subject", "value": title}]}))


def find_message(title: str) -> tuple[Step, Step]:
    """Binds `found`, ids alone, and `message`."""
    return (
        read("found", "list_messages", ME | {"q": title}),
        read("message", "get_message", ME | {"id": "@found.id"}, titled(title, "")),
    )


def find_thread(title: str) -> tuple[Step, Step]:
    """Binds `found` and `thread`, whose first message has the title."""
    return (
        read("found", "list_threads", ME | {"q": title}),
        read("thread", "get_thread", ME | {"id": "@found.id"}, titled(title, "messages.0.")),
    )


def relabel(
    tool: str, arguments: Mapping[str, Any], reader: str, labels: Sequence[str], *, are_gone: bool = False
) -> Step:
    """A call that adds or takes labels; it shows in the labels of the message, or of the first one of a thread."""
    key = expressions(ME | {"id": arguments["id"]})
    field = "labelIds" if reader == "get_message" else "messages.0.labelIds"
    back = ReadBack(tool=reader, arguments=key, where=expressions({field: list(labels)}), is_absent=are_gone)
    return Step(bind="done", tool=tool, arguments=expressions({**ME, **arguments}), read_back=back)
