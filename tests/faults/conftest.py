"""The stated cases of all domains, which live with the tests of the gym, can be read from here as well."""

import sys
from pathlib import Path

GYM_CASES = str(Path(__file__).resolve().parents[1] / "gym")
if GYM_CASES not in sys.path:
    sys.path.append(GYM_CASES)
