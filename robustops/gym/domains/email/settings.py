"""Settings of which there is one row a user: read with defaults where there is none, written as a whole.

The keys of the declared reply are the arguments too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from robustops.gym.domain import Domain, Tool
from robustops.gym.domains.email.caller import check_user, checked, mine, touched
from robustops.gym.operations.kind import Call, Kind, Operation, ToolFailure
from robustops.gym.operations.records import Records, Row
from robustops.gym.operations.rows import RowShape

Check = Callable[[Records, Mapping[str, Any]], None]


def _get(domain: Domain, tool: Tool) -> Operation:
    show = _shower(domain, tool)

    def run(call: Call, arguments: Mapping[str, Any]) -> dict[str, Any]:
        checked(call, arguments)
        db = Records(domain, call)
        return show(db.first(tool.table.name, mine(db)))

    return run


def _shower(domain: Domain, tool: Tool) -> Callable[[Row | None], dict[str, Any]]:
    shape = RowShape(domain, tool.table, tool.reply, tool.labels)
    defaults = {column.name: column.default for column in tool.table.columns}

    def show(row: Row | None) -> dict[str, Any]:
        values = defaults if row is None else row
        return shape.show([values[name] for name in tool.reply])

    return show


def _put(check: Check) -> Kind:
    def compiled(domain: Domain, tool: Tool) -> Operation:
        show = _shower(domain, tool)
        columns = dict(zip(tool.labels, tool.reply, strict=True))

        def run(call: Call, arguments: Mapping[str, Any]) -> dict[str, Any]:
            db = Records(domain, call)
            check_user(db.caller, arguments)
            check(db, arguments)
            values = {column: arguments[name] for name, column in columns.items()}
            if db.count(tool.table.name, mine(db)):
                db.change(tool.table.name, mine(db), {**values, **touched(db)})
            else:
                db.add(tool.table.name, {**mine(db), **values})
            return show(db.first(tool.table.name, mine(db)))

        return run

    return Kind(compile=compiled, output=_no_output, is_write=True, place="body")


def _any(_db: Records, _arguments: Mapping[str, Any]) -> None:
    """Whatever the schema allows."""


def _check_forwarding(db: Records, arguments: Mapping[str, Any]) -> None:
    address = {"forwarding_email": arguments["emailAddress"], "verification_status": "accepted"}
    if arguments["enabled"] and not db.count("forwarding_addresses", {**mine(db), **address}):
        raise ToolFailure(f"Forwarding address not verified: {arguments['emailAddress']}")


def _check_vacation(_db: Records, arguments: Mapping[str, Any]) -> None:
    texts = ("responseSubject", "responseBodyPlainText", "responseBodyHtml")
    if arguments["enableAutoReply"] and not any(arguments[name] for name in texts):
        raise ToolFailure("A response subject or body is required when auto-reply is enabled")
    start, end = (_time(arguments[name]) for name in ("startTime", "endTime"))
    if start is not None and end is not None and start >= end:
        raise ToolFailure("startTime must precede endTime")


def _time(text: str) -> float | None:
    """Seconds from an ISO time or from milliseconds; None for text that is neither, which is stored all the same."""
    if text.isascii() and text.isdigit():
        return int(text) / 1000
    try:
        return datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError):
        return None


def _no_output(_tool: Tool) -> None:
    return None


KINDS = {
    "get_setting": Kind(compile=_get, output=_no_output),
    "put_setting": _put(_any),
    "put_forwarding": _put(_check_forwarding),
    "put_vacation": _put(_check_vacation),
}
