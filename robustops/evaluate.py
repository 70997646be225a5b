"""Evaluate a policy, clean and under faults, on paired cases: `python -m robustops.evaluate --help`."""

from robustops.cli import launch
from robustops.config.preflight import before_evaluation

if __name__ == "__main__":
    launch("evaluate", "robustops.compose.evaluate:run", preflight=before_evaluation)
