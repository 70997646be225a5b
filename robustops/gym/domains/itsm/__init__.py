"""IT service management: incidents, problems, changes and what hangs on them."""

from __future__ import annotations

from robustops.gym.domains.folder import DomainFolder
from robustops.gym.domains.itsm.child_incident import ADD_CHILD, ADD_CHILDREN, UPDATE_CHILD
from robustops.gym.domains.itsm.group import ADD_GROUP
from robustops.gym.domains.itsm.measures import (
    AVERAGE_BY_INCIDENT,
    BREACHED_BY_STAGE,
    COUNT_BY_INCIDENT,
    COUNT_FOR,
    METRIC,
)
from robustops.gym.domains.itsm.template import CREATE_TEMPLATE, UPDATE_TEMPLATE

FOLDER = DomainFolder(
    name="itsm",
    table_files=("tables.yaml", "incident_tables.yaml"),
    shape_files=("shapes.yaml",),
    tool_files=(
        "people.yaml",
        "places.yaml",
        "changes.yaml",
        "incidents.yaml",
        "knowledge.yaml",
        "measures.yaml",
        "links.yaml",
    ),
    kinds={
        "add_child": ADD_CHILD,
        "add_children": ADD_CHILDREN,
        "update_child": UPDATE_CHILD,
        "add_group": ADD_GROUP,
        "create_template": CREATE_TEMPLATE,
        "update_template": UPDATE_TEMPLATE,
        "metric": METRIC,
        "count_for": COUNT_FOR,
        "count_by_incident": COUNT_BY_INCIDENT,
        "average_by_incident": AVERAGE_BY_INCIDENT,
        "breached_by_stage": BREACHED_BY_STAGE,
    },
)
