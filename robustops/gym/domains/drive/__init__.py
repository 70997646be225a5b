"""Drive: files and folders, shared drives, permissions, comments, revisions, labels and the log of changes."""

from __future__ import annotations

from robustops.gym.domains.drive import (
    apps,
    changes,
    comments,
    drives,
    file_reads,
    file_writes,
    labels,
    permissions,
    proposals,
    revisions,
    watches,
)
from robustops.gym.domains.folder import DomainFolder

FOLDER = DomainFolder(
    name="drive",
    tool_files=("drives.yaml", "comments.yaml", "permissions.yaml", "revisions.yaml", "files.yaml", "replies.yaml"),
    table_files=("tables.yaml", "more_tables.yaml"),
    shape_files=("shapes.yaml",),
    kinds={
        **apps.KINDS,
        **changes.KINDS,
        **comments.KINDS,
        **drives.KINDS,
        **file_reads.KINDS,
        **file_writes.KINDS,
        **labels.KINDS,
        **permissions.KINDS,
        **proposals.KINDS,
        **revisions.KINDS,
        **watches.KINDS,
    },
)
