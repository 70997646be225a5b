"""The parts of a report, one file each. Aligned runs in, sections of finished text and figures out."""
