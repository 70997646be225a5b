"""Labels: make, read, change, delete. Those of the system can be neither changed nor deleted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from robustops.gym.domains.email.caller import mine, reading, touched, writing
from robustops.gym.domains.email.mailbox import SYSTEM_LABELS
from robustops.gym.domains.email.palette import PALETTE
from robustops.gym.operations.kind import ToolFailure
from robustops.gym.operations.records import Records, Row

_COUNTERS = {
    "messagesTotal": "messages_total",
    "messagesUnread": "messages_unread",
    "threadsTotal": "threads_total",
    "threadsUnread": "threads_unread",
}
_VISIBILITY = {"messageListVisibility": "message_list_visibility", "labelListVisibility": "label_list_visibility"}


def _object(row: Row) -> dict[str, Any]:
    shown = {"id": row["id"], "name": row["name"], "type": row["type"]}
    shown |= {name: row[column] for name, column in _VISIBILITY.items()}
    if row["text_color"] and row["background_color"]:
        shown["color"] = {"textColor": row["text_color"], "backgroundColor": row["background_color"]}
    return shown


def _counted(row: Row) -> dict[str, Any]:
    return {**_object(row), **{name: row[column] for name, column in _COUNTERS.items()}}


def _label_of(db: Records, label_id: str) -> Row:
    row = db.first("labels", {"id": label_id, **mine(db)})
    if row is None:
        raise ToolFailure(f"Label not found: {label_id}")
    return row


def _own_label(db: Records, label_id: str) -> Row:
    """One that the user made. Raises ToolFailure."""
    if label_id in SYSTEM_LABELS:
        raise ToolFailure(f"System labels cannot be changed: {label_id}")
    row = _label_of(db, label_id)
    if row["type"] == "system":
        raise ToolFailure(f"System labels cannot be changed: {label_id}")
    return row


def _check_name(db: Records, name: str, *, own_id: str = "") -> None:
    """Unique whatever the case, not that of a system label, not blank."""
    if not name.strip():
        raise ToolFailure("Label name must not be blank")
    if name.upper() in SYSTEM_LABELS:
        raise ToolFailure(f"Invalid label name: {name}")
    taken = "SELECT id FROM labels WHERE user_id = ? AND lower(name) = lower(?) AND id != ?"
    if db.select(taken, (db.caller["id"], name, own_id)):
        raise ToolFailure(f"Label name already exists: {name}")


def _values(arguments: Mapping[str, Any]) -> Row:
    """The columns that the arguments set. Raises ToolFailure for a colour that is not whole or not in the palette."""
    values: Row = {column: arguments[name] for name, column in _VISIBILITY.items() if name in arguments}
    if "name" in arguments:
        values["name"] = arguments["name"]
    if color := arguments.get("color"):
        pair = {"text_color": color.get("textColor"), "background_color": color.get("backgroundColor")}
        if None in pair.values():
            raise ToolFailure("Both textColor and backgroundColor are required to set a color")
        for value in pair.values():
            if str(value).lower() not in PALETTE:
                raise ToolFailure(f"Label color is not in the allowed palette: {value}")
        values |= pair
    return values


def _create(db: Records, arguments: Mapping[str, Any]) -> dict[str, Any]:
    _check_name(db, arguments["name"])
    return _object(db.add("labels", {"id": db.ids.uuid(), **mine(db), **_values(arguments)}))


def _get(db: Records, arguments: Mapping[str, Any]) -> dict[str, Any]:
    return _counted(_label_of(db, arguments["id"]))


def _list(db: Records, _arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {"labels": [_object(row) for row in db.find("labels", mine(db))]}


def _change(db: Records, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Fields that are not given stay: the defaults of the schema are not applied."""
    row = _own_label(db, arguments["id"])
    if "name" in arguments:
        _check_name(db, arguments["name"], own_id=row["id"])
    key = {"id": row["id"], **mine(db)}
    db.change("labels", key, {**_values(arguments), **touched(db)})
    return _object(db.find("labels", key)[0])


def _delete(db: Records, arguments: Mapping[str, Any]) -> None:
    """Messages lose the label; filters that name it stay."""
    row = _own_label(db, arguments["id"])
    db.remove("message_labels", {"label_id": row["id"]})
    db.remove("labels", {"id": row["id"], **mine(db)})


KINDS = {
    "create_label": writing(_create),
    "get_label": reading(_get),
    "list_labels": reading(_list),
    "patch_label": writing(_change),
    "update_label": writing(_change),
    "delete_label": writing(_delete),
}
