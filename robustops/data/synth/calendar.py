"""The calendar domain of the synthetic generator."""

from __future__ import annotations

from robustops.data.synth import calendar_access, calendar_events, calendar_world
from robustops.data.synth.calendar_rules import POLICY
from robustops.data.synth.draft import Domain

CALENDAR = Domain(
    name="calendar",
    server="gym-calendar",
    url="http://localhost:8003",
    policy=POLICY,
    templates=(*calendar_access.TEMPLATES, *calendar_events.TEMPLATES),
    build=calendar_world.build,
)
