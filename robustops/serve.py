"""Serve tool domains over the container protocol: `python -m robustops.serve --help`."""

from robustops.cli import launch

if __name__ == "__main__":
    launch("serve", "robustops.compose.serve:run", needs_torch=False)
