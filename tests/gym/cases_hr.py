"""The hr cases. A refusal shows as `{}` whatever its reason, so none states a text."""

from __future__ import annotations

import hr_case_cases
import hr_people_cases
import hr_rule_cases
from small_hr import SEED
from tool_cases import DomainCases

CASES = DomainCases(
    domain="hr",
    seed=SEED,
    context={"x-hr-user-token": "token-ada"},
    successes={**hr_people_cases.SUCCESSES, **hr_case_cases.SUCCESSES, **hr_rule_cases.SUCCESSES},
    refusals={**hr_people_cases.REFUSALS, **hr_case_cases.REFUSALS, **hr_rule_cases.REFUSALS},
)
