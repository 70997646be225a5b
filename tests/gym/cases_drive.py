"""The drive cases. They are stated in the files named drive_*_cases."""

from __future__ import annotations

import drive_file_cases
import drive_other_cases
import drive_share_cases
from small_drive import CALLER, SEED
from tool_cases import DomainCases

PARTS = (drive_file_cases, drive_share_cases, drive_other_cases)
CASES = DomainCases(
    domain="drive",
    seed=SEED,
    context=CALLER,
    successes={name: case for part in PARTS for name, case in part.SUCCESSES.items()},
    refusals={name: case for part in PARTS for name, case in part.REFUSALS.items()},
)
