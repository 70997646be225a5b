"""The csm cases, in the form that all domains share. They are stated in the files named csm_*."""

from __future__ import annotations

from csm_case_writes import CASE_WRITES
from csm_errors import ERRORS
from csm_reads import READS
from csm_writes import WRITES
from small_csm import CALLER, SEED
from tool_cases import DomainCases, Refused, Success

from robustops.gym.domains import load_domain

TOOLS = load_domain("csm").tools


def _reply(name, expected):
    """A list told by the keys of its rows, spelled out."""
    if not isinstance(expected, tuple):
        return expected
    _, *keys = expected
    return [{TOOLS[name].table.key: key} for key in keys]


CASES = DomainCases(
    domain="csm",
    seed=SEED,
    context={"x-user-email": CALLER},
    successes={
        **{name: Success(arguments=asked, reply=_reply(name, expected)) for name, (asked, expected) in READS.items()},
        **{
            name: Success(arguments=asked, changes={table: changes})
            for name, (asked, table, changes) in {**WRITES, **CASE_WRITES}.items()
        },
    },
    refusals={
        name: Refused(arguments=asked, text=expected if isinstance(expected, str) else expected[0])
        for name, (asked, expected) in ERRORS.items()
    },
)
