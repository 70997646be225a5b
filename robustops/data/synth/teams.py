"""The teams domain of the synthetic generator."""

from __future__ import annotations

from robustops.data.synth import teams_channels, teams_people, teams_world
from robustops.data.synth.draft import Domain
from robustops.data.synth.teams_rules import POLICY

TEAMS = Domain(
    name="teams",
    server="gym-teams-mcp",
    url="http://localhost:8002",
    policy=POLICY,
    templates=(*teams_channels.TEMPLATES, *teams_people.TEMPLATES),
    build=teams_world.build,
)
