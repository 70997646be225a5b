"""Say whether a job fits the hardware, before it is rented: `python -m robustops.plan --help`."""

from robustops.cli import launch

if __name__ == "__main__":
    launch("plan", "robustops.compose.plan:run")
