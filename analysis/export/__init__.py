"""Results in the formats of others: per-turn telemetry, ATIF trajectories, an inspect_ai log. Result files in alone."""
