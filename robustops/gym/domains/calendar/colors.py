"""Colours: what there is, and which a calendar may take. The pairs are those of the table `colors`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from robustops.gym.domains.calendar.times import shown
from robustops.gym.operations.kind import ToolFailure
from robustops.gym.operations.records import Records, Row, reading


def _of(db: Records, color_type: str) -> list[Row]:
    return db.find("colors", {"color_type": color_type}, order="CAST(color_id AS INTEGER), rowid")


def check_event_color(db: Records, arguments: Mapping[str, Any]) -> None:
    color = arguments.get("colorId")
    if color and not db.count("colors", {"color_type": "EVENT", "color_id": color}):
        raise ToolFailure(f"Invalid event colorId: '{color}'. Check available colors with GET /colors")


def calendar_colors(db: Records, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The colour columns that the arguments set. A colour id is first spelled out as its pair. Raises ToolFailure."""
    color, background, foreground = (arguments.get(n) for n in ("colorId", "backgroundColor", "foregroundColor"))
    known = _of(db, "CALENDAR")
    if color is not None:
        own = next((row for row in known if row["color_id"] == color), None)
        if own is None:
            raise ToolFailure(f"Invalid calendar colorId: '{color}'. Check available colorId with GET /colors")
        if background is None and foreground is None:
            background, foreground = own["background"], own["foreground"]
    if background is None and foreground is None:
        return {}
    if not arguments.get("colorRgbFormat"):
        raise ToolFailure("To set backgroundColor/foregroundColor you must set colorRgbFormat=true")
    if background is None or foreground is None:
        return {"background_color": background} if background is not None else {"foreground_color": foreground}
    pair = (background.lower(), foreground.lower())
    first = next((row for row in known if (row["background"].lower(), row["foreground"].lower()) == pair), None)
    if first is None:
        raise ToolFailure(f"Invalid combination of backgroundColor '{background}' and foregroundColor '{foreground}'")
    return {"color_id": first["color_id"], "background_color": background, "foreground_color": foreground}


def _get(db: Records, _arguments: Mapping[str, Any]) -> dict[str, Any]:
    rows = {name: _of(db, name.upper()) for name in ("calendar", "event")}
    times = [row["updated_at"] for found in rows.values() for row in found if row["updated_at"]]
    shapes = {
        name: {row["color_id"]: {"background": row["background"], "foreground": row["foreground"]} for row in found}
        for name, found in rows.items()
    }
    return {"kind": "calendar#colors", "updated": shown(max(times, default=None)), **shapes}


KINDS = {"get_colors": reading(_get)}
