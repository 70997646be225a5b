"""The email cases, in the form that all domains share. They are stated in the files named email_*."""

from __future__ import annotations

from email_address_writes import ADDRESS_WRITES
from email_draft_writes import DRAFT_WRITES
from email_errors import ERRORS
from email_mail_writes import MAIL_WRITES
from email_reads import READS
from email_seed import CONTEXT, SEED
from email_setting_writes import SETTING_WRITES
from tool_cases import DomainCases, Refused, Success

CASES = DomainCases(
    domain="email",
    seed=SEED,
    context=CONTEXT,
    successes={
        **{name: Success(arguments=asked, reply=reply) for name, (asked, reply) in READS.items()},
        **{
            name: Success(arguments=asked, reply=reply, changes=changes)
            for name, (asked, reply, changes) in {
                **MAIL_WRITES,
                **DRAFT_WRITES,
                **SETTING_WRITES,
                **ADDRESS_WRITES,
            }.items()
        },
    },
    refusals={name: Refused(arguments=asked, text=text) for name, (asked, text) in ERRORS.items()},
)
