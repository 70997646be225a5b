"""Labels on files: one value for each file and label, in the column that the kind of label asks for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from robustops.gym.domains.drive.access import known_file
from robustops.gym.domains.drive.changes import log_change
from robustops.gym.domains.drive.file_item import label_item, label_items
from robustops.gym.domains.drive.wire import decoded, listing, new_id, page
from robustops.gym.operations.kind import ToolFailure
from robustops.gym.operations.records import Records, Row, reading, writing

# The modification that sets a label of each kind, and the column that it fills.
_SETTERS: Mapping[str, tuple[str, str]] = {
    "enum": ("setSelectionValues", "value_enum"),
    "number": ("setIntegerValues", "value_number"),
    "date": ("setDateValues", "value_date"),
    "string": ("setTextValues", "value_string"),
    "user": ("setUserValues", "value_string"),
    "boolean": ("setTextValues", "value_boolean"),
}
_ALL_SETTERS = sorted({setter for setter, _ in _SETTERS.values()})
_TRUTH = {"true": 1, "1": 1, "yes": 1, "false": 0, "0": 0, "no": 0}


def _list(records: Records, arguments: Mapping[str, Any]) -> Any:
    file = known_file(records, arguments["fileId"])
    items = label_items(records, file["id"])
    shown, following = page(items, arguments.get("pageToken"), arguments.get("maxResults", 100))
    return listing("drive#labelList", "labels", shown, following)


def _value(label: Row, field: Mapping[str, Any]) -> tuple[str, Any] | None:
    """The column and the value that a field modification sets, or None where it sets none. Raises ToolFailure."""
    setter, column = _SETTERS.get(label["type"], _SETTERS["string"])
    if field.get("unsetValues"):
        return column, None
    sent = [name for name in _ALL_SETTERS if field.get(name)]
    if not sent:
        return None
    if label["type"] == "boolean":
        setter = sent[0]
    if setter not in sent:
        raise ToolFailure(f"Label {label['name']} is of type {label['type']}: use {setter}, not {sent[0]}")
    return column, _checked(label, str(field[setter][0]))


def _checked(label: Row, text: str) -> Any:
    match label["type"]:
        case "enum":
            options = decoded(label["options"]) or []
            if options and text not in options:
                raise ToolFailure(
                    f"Invalid value for label {label['name']}: {text}; expected one of {', '.join(options)}"
                )
        case "number":
            try:
                return float(text)
            except ValueError:
                raise ToolFailure(f"Invalid value for label {label['name']}: {text}") from None
        case "boolean":
            if text.lower() not in _TRUTH:
                raise ToolFailure(f"Invalid value for label {label['name']}: {text}")
            return _TRUTH[text.lower()]
    return text


def _modify(records: Records, arguments: Mapping[str, Any]) -> Any:
    """Which field is meant does not matter: a label has one value."""
    file = known_file(records, arguments["fileId"], "writer")
    modified = []
    for modification in arguments["labelModifications"]:
        label = records.first("labels", {"id": modification["labelId"]})
        if label is None:
            raise ToolFailure(f"Label not found: {modification['labelId']}")
        key = {"file_id": file["id"], "label_id": label["id"]}
        if modification.get("removeLabel"):
            records.remove("file_labels", key)
            continue
        found = [_value(label, field) for field in modification.get("fieldModifications") or []]
        values = dict(pair for pair in found if pair is not None)
        if records.first("file_labels", key) is None:
            records.add("file_labels", {"id": new_id(records), **key, **values})
        elif values:
            records.change("file_labels", key, values)
        modified.append(label_item(label, records.find("file_labels", key)[0]))
    log_change(records, "labels_modified", file=file)
    return {"kind": "drive#modifyLabelsResponse", "modifiedLabels": modified}


KINDS = {"list_files_labels": reading(_list), "modify_files_labels": writing(_modify)}
