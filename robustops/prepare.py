"""Make task sets and fault manifests: `python -m robustops.prepare --help`."""

from robustops.cli import launch

if __name__ == "__main__":
    launch("prepare", "robustops.compose.prepare:run", needs_torch=False)
