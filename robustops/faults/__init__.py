"""Faults at the tool boundary: what can go wrong, when it may, how often, and what the agent then sees."""
