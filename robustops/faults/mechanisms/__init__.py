"""One file per family of faults."""
