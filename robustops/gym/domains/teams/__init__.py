"""Teams: users, chats, channels, teams, tags, groups, calls and events of an organisation, in Graph's terms."""

from __future__ import annotations

from robustops.gym.domains.folder import DomainFolder
from robustops.gym.domains.teams import (
    calls,
    channel_messages,
    channels,
    chat_messages,
    chats,
    events,
    groups,
    members,
    people,
    tabs,
    team,
)

FOLDER = DomainFolder(
    name="teams",
    tool_files=(
        "people.yaml",
        "chats.yaml",
        "channels.yaml",
        "channel_messages.yaml",
        "teams.yaml",
        "groups.yaml",
        "calls.yaml",
        "events.yaml",
    ),
    table_files=("tables.yaml", "more_tables.yaml"),
    shape_files=("shapes.yaml", "team_shapes.yaml"),
    kinds={
        **people.KINDS,
        **chats.KINDS,
        **chat_messages.KINDS,
        **channels.KINDS,
        **channel_messages.KINDS,
        **tabs.KINDS,
        **team.KINDS,
        **members.KINDS,
        **groups.KINDS,
        **calls.KINDS,
        **events.KINDS,
    },
)
