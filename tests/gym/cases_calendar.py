"""The calendar cases, in the form that all domains share. They are stated in the files named calendar_*."""

from __future__ import annotations

from calendar_errors import ERRORS, NOBODY
from calendar_event_writes import EVENT_WRITES
from calendar_reads import READS
from calendar_seed import CONTEXT, SEED
from calendar_writes import WRITES
from tool_cases import DomainCases, Refused, Success

CASES = DomainCases(
    domain="calendar",
    seed=SEED,
    context=CONTEXT,
    successes={
        **{name: Success(arguments=asked, reply=reply) for name, (asked, reply) in READS.items()},
        **{
            name: Success(arguments=asked, reply=reply, changes=changes)
            for name, (asked, reply, changes) in {**WRITES, **EVENT_WRITES}.items()
        },
    },
    refusals={
        name: Refused(arguments=asked, text=text, context={"x-access-token": "nobody"} if text == NOBODY else None)
        for name, (asked, text) in ERRORS.items()
    },
)
