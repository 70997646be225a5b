"""Collect demonstrations on the training split: `python -m robustops.collect --help`."""

from robustops.cli import launch

if __name__ == "__main__":
    launch("collect", "robustops.compose.collect:run")
