"""One module per view of `python -m robustops.show`: what a file or task holds, for people."""
