"""Names that both ends of the container protocol use: headers, versions, and the paths of our own extension."""

from __future__ import annotations

PROTOCOL_VERSION = "2024-11-05"
DATABASE_HEADER = "x-database-id"

# What our server can do beyond the benchmark's containers, told where MCP lets servers tell it.
EXTENSION_VERSION = 1
EXTENSION = {"robustops": {"version": EXTENSION_VERSION}}
# The virtual clock travels beside a call, so that the servers of one task can share it: writes before, writes after.
CLOCK_HEADER = "robustops-clock"
STATE_PATH = "/robustops/state"
SNAPSHOT_PATH = "/robustops/snapshot"
DATABASE = "database"  # what a snapshot on the wire calls the one database that it holds
