"""Mail: messages, drafts, threads, labels and settings. Modelled on Gmail, as no call of the server was recorded."""

from __future__ import annotations

from robustops.gym.domains.email import (
    addresses,
    drafts,
    encryption,
    history,
    labels,
    messages,
    resources,
    send_as,
    settings,
    threads,
)
from robustops.gym.domains.folder import DomainFolder

FOLDER = DomainFolder(
    name="email",
    table_files=("tables.yaml", "settings_tables.yaml"),
    shape_files=("shapes.yaml",),
    tool_files=(
        "mailbox.yaml",
        "messages.yaml",
        "settings.yaml",
        "encryption.yaml",
        "addresses.yaml",
        "threads.yaml",
    ),
    kinds={
        **resources.KINDS,
        **settings.KINDS,
        **history.KINDS,
        **labels.KINDS,
        **messages.KINDS,
        **drafts.KINDS,
        **threads.KINDS,
        **addresses.KINDS,
        **send_as.KINDS,
        **encryption.KINDS,
    },
)
