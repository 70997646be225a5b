"""Calendars, events, access rules and free times, with the ways and the mistakes of the public server."""

from __future__ import annotations

from robustops.gym.domains.calendar import (
    acl,
    calendar_list,
    calendars,
    colors,
    event_changes,
    event_import,
    event_search,
    event_writes,
    freebusy,
    people,
    watch,
)
from robustops.gym.domains.folder import DomainFolder

FOLDER = DomainFolder(
    name="calendar",
    table_files=("tables.yaml", "event_tables.yaml"),
    shape_files=("shapes.yaml",),
    tool_files=("calendars.yaml", "events.yaml", "others.yaml"),
    kinds={
        **calendars.KINDS,
        **calendar_list.KINDS,
        **event_search.KINDS,
        **event_writes.KINDS,
        **event_changes.KINDS,
        **event_import.KINDS,
        **colors.KINDS,
        **people.KINDS,
        **acl.KINDS,
        **watch.KINDS,
        **freebusy.KINDS,
    },
)
