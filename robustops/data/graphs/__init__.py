"""Check graphs: which check is a necessary prerequisite of which, found by rules or by a language model."""
