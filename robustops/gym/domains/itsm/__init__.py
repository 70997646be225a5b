"""IT service management: incidents and what hangs on them. A part of the public server's tools, all of its tables."""

from __future__ import annotations

from robustops.gym.domains.folder import DomainFolder
from robustops.gym.domains.itsm.child_incident import ADD_CHILD

FOLDER = DomainFolder(
    name="itsm",
    table_files=("tables.yaml", "incident_tables.yaml"),
    tool_files=("people.yaml", "incidents.yaml", "links.yaml"),
    kinds={"add_child": ADD_CHILD},
)
