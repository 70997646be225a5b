"""How calendar writes are read back, and the policy of synthetic calendar tasks. Data."""

from __future__ import annotations

from robustops.data.synth.draft import ReadBackRule
from robustops.data.synth.office_rules import RULES

POLICY = (
    "You keep calendars. Times and time zones of events are UTC. An access rule for a person has a scope of type user "
    f"with the e-mail address as its value. {RULES}"
)
EVENT = ("calendarId", "eventId")

READ_BACKS = {
    "patch_event": ReadBackRule(tool="get_event", keys=EVENT),
    "delete_event": ReadBackRule(tool="get_event", keys=EVENT, is_absent=True),
    "create_event": ReadBackRule(tool="list_events", keys=("calendarId", "summary"), renamed={"summary": "q"}),
    "insert_acl_rule": ReadBackRule(tool="list_acl_rules", keys=("calendarId",)),
    "patch_acl_rule": ReadBackRule(tool="get_acl_rule", keys=("calendarId", "ruleId")),
    "patch_calendar": ReadBackRule(tool="get_calendar", keys=("calendarId",)),
}
