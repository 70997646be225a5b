"""Serve tool domains, a model, or the scripted expert: `python -m robustops.serve --help`."""

from robustops.cli import launch

if __name__ == "__main__":
    launch("serve", "robustops.compose.serve:run", needs_torch=False)
