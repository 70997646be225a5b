"""Hybrid templates over calendars, mail, files and chats: what one server says is passed on by another."""

from __future__ import annotations

from random import Random

from robustops.agent.plan import Pick, Step
from robustops.data.synth.calendar_events import calendar_step, own_calendars
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
from robustops.data.synth.drive_files import own_files
from robustops.data.synth.drive_rules import READ_BACKS as DRIVE_READ_BACKS
from robustops.data.synth.drive_rules import find
from robustops.data.synth.email_messages import single_mail
from robustops.data.synth.email_rules import ME, find_message
from robustops.data.synth.email_rules import READ_BACKS as EMAIL_READ_BACKS
from robustops.data.synth.teams_channels import nothing_else_said, own_chat, said
from robustops.data.synth.teams_rules import READ_BACKS as TEAMS_READ_BACKS
from robustops.data.synth.teams_rules import find_chat, message
from robustops.data.synth.world import Row, World

WORDS = (
    "The mailbox is that of userId me; mail is searched by its title, which is its Subject. Files are found by q, as "
    "in name = 'NAME', chats by _filter, as in topic eq 'NAME'. Messages have contentType text."
)


def _say(words: str) -> Step:
    return write("done", "send_chat_message", {"chatId": "@chat.id", "body": message(words)}, TEAMS_READ_BACKS)


def _said(chat: Row, words: str) -> tuple[CheckDraft, CheckDraft]:
    place = {"chat_id": chat["chat_id"]}
    once = said("message is sent once", "chat_messages", place, words)
    return once.on(1), nothing_else_said("chat_messages", place).on(1)


def event_chat(calendars: World, teams: World, rng: Random) -> Draft | None:
    """The start of an event becomes a message."""
    calendar, chat = rng.choice(own_calendars(calendars)), own_chat(teams, rng)
    ordinary = {"status": "confirmed", "eventType": "default", "recurring_event_id": None}
    events = calendars.rows("events", {"calendar_id": calendar["calendar_id"]} | ordinary)
    if not events:
        return None
    event = rng.choice(events)
    title = event["summary"]
    asked = {"calendarId": "@calendar.id", "q": title}
    return Draft(
        slots={"event": title, "calendar": calendar["summary"], "chat": chat["topic"]},
        steps=(
            calendar_step(calendar),
            read("event", "list_events", asked, Pick(where=expressions({"summary": title}))),
            find_chat(chat["topic"]),
            _say("@event.start.dateTime"),
        ),
        checks=(
            *_said(chat, event["start_datetime"]),
            only_written("no event changed", "events", {"event_id": ""}, column="updated_at"),
        ),
    )


def case_chat(csm: World, teams: World, rng: Random) -> Draft:
    """The subject of a customer's case becomes a message."""
    case, chat = rng.choice(csm.rows("customer_case")), own_chat(teams, rng)
    return Draft(
        slots={"case": case["number"], "chat": chat["topic"]},
        steps=(
            read("case", "search_cases", {"number": case["number"]}),
            find_chat(chat["topic"]),
            _say("@case.short_description"),
        ),
        checks=(
            *_said(chat, case["short_description"]),
            only_written("no case changed", "customer_case", {"case_id": -1}),
        ),
    )


def mail_file(email: World, drive: World, rng: Random) -> Draft | None:
    """The text of a mail becomes the description of a file."""
    mail, file = single_mail(email, rng, {"INBOX"}), rng.choice(own_files(drive))
    if mail is None:
        return None
    arguments = {"fileId": "@file.id", "description": "@message.snippet"}
    return Draft(
        slots={"title": mail["subject"], "file": file["name"]},
        steps=(
            *find_message(mail["subject"]),
            find("file", file["name"]),
            write("done", "update_files", arguments, DRIVE_READ_BACKS),
        ),
        checks=(
            holds("description is set", "files", {"id": file["id"], "description": mail["snippet"]}).on(1),
            only_written("no other file changed", "files", {"id": file["id"]}, column="modified_time").on(1),
            holds("mail is kept", "messages", {"id": mail["id"], "subject": mail["subject"]}),
        ),
    )


def product_label(csm: World, email: World, rng: Random) -> Draft | None:
    """A mail label is named like a customer's product."""
    unit = rng.choice(csm.rows("installed_product"))
    name = csm.one("product", {"product_id": unit["product_id"]})["name"]
    if email.rows("labels", {"name": name}):
        return None
    return Draft(
        slots={"unit": unit["serial_number"]},
        steps=(
            read("unit", "find_installed_product_by_serial", {"serial_number": unit["serial_number"]}),
            read("product", "find_products", {"product_id": "@unit.product_id"}),
            write("done", "create_label", ME | {"name": "@product.name"}, EMAIL_READ_BACKS),
        ),
        checks=(
            holds("label exists once", "labels", {"name": name}).on(1),
            others_kept("other labels are kept", email, "labels", {"name": name}).on(1),
            only_written("no product changed", "product", {"product_id": -1}),
        ),
    )


TEMPLATES = (
    Template(
        name="hybrid_event_chat",
        hosts=("calendar", "teams"),
        patterns=(
            "Send the start of the event {event} in the calendar {calendar} to the chat {chat}, just as it is shown.",
            "Tell the chat {chat} when {event} in the calendar {calendar} starts: the time as shown, nothing else.",
            "The chat {chat} asks when {event} starts. Look in the calendar {calendar}; send the time as it is shown.",
            "When {event} in the calendar {calendar} starts should be sent to the chat {chat}, bare and as shown.",
        ),
        extra_tools=("update_chat",),
        draw=event_chat,
    ),
    Template(
        name="hybrid_case_chat",
        hosts=("csm", "teams"),
        patterns=(
            "Send the short description of customer case {case} to the chat {chat}.",
            "The chat {chat} should get the short description of customer case {case}. Send it.",
            "Look up customer case {case} and pass its short description on to the chat {chat}.",
            "What customer case {case} says in its short description should be sent to the chat {chat}.",
        ),
        extra_tools=("update_chat",),
        draw=case_chat,
    ),
    Template(
        name="hybrid_mail_file",
        hosts=("email", "drive"),
        patterns=(
            "Set the description of the file {file} to the snippet of the mail {title}.",
            "The file {file} came with the mail {title}. Write the snippet of the mail in its description.",
            "Copy the snippet of the mail {title} to the description of the file {file}.",
            "The snippet of the mail {title} should also be the description of the file {file}.",
        ),
        extra_tools=("copy_files",),
        draw=mail_file,
    ),
    Template(
        name="hybrid_product_label",
        hosts=("csm", "email"),
        patterns=(
            "Make a mail label named like the product that unit {unit} is.",
            "The mail about the product of unit {unit} needs a label of its name. Create it.",
            "Look up the product name of unit {unit} and create a mail label of that name.",
            "There should be a mail label with the name of unit {unit}'s product.",
        ),
        extra_tools=("delete_label",),
        draw=product_label,
    ),
)
