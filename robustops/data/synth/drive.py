"""The drive domain of the synthetic generator."""

from __future__ import annotations

from robustops.data.synth import drive_files, drive_sharing, drive_world
from robustops.data.synth.draft import Domain
from robustops.data.synth.drive_rules import POLICY

DRIVE = Domain(
    name="drive",
    server="gym-google-drive-mcp",
    url="http://localhost:8009",
    policy=POLICY,
    templates=(*drive_sharing.TEMPLATES, *drive_files.TEMPLATES),
    build=drive_world.build,
)
