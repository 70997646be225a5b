"""Train a policy by masked SFT or GRPO: `python -m robustops.train --help`."""

from robustops.cli import launch
from robustops.config.preflight import before_training

if __name__ == "__main__":
    launch("train", "robustops.compose.train:run", preflight=before_training)
