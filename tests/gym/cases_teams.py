"""The teams cases. They are stated in the files named teams_*_cases."""

from __future__ import annotations

import teams_channel_cases
import teams_event_cases
import teams_people_cases
import teams_team_cases
from small_teams import CALLER, SEED
from tool_cases import DomainCases

PARTS = (teams_people_cases, teams_channel_cases, teams_team_cases, teams_event_cases)
CASES = DomainCases(
    domain="teams",
    seed=SEED,
    context=CALLER,
    successes={name: case for part in PARTS for name, case in part.SUCCESSES.items()},
    refusals={name: case for part in PARTS for name, case in part.REFUSALS.items()},
)
