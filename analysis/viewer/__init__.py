"""The trajectory viewer: run folders in, a folder of static pages out that a browser opens from disk."""
