"""The itsm cases. A refusal shows as `{}` whatever its reason, so none states a text."""

from __future__ import annotations

import itsm_link_cases
import itsm_people_cases
import itsm_work_cases
from small_itsm import SEED
from tool_cases import DomainCases

CASES = DomainCases(
    domain="itsm",
    seed=SEED,
    successes={**itsm_people_cases.SUCCESSES, **itsm_work_cases.SUCCESSES, **itsm_link_cases.SUCCESSES},
    refusals={**itsm_people_cases.REFUSALS, **itsm_work_cases.REFUSALS, **itsm_link_cases.REFUSALS},
)
