"""Human resources: people, services, cases and what hangs on them."""

from __future__ import annotations

from robustops.gym.domains.folder import DomainFolder
from robustops.gym.domains.hr.case import TO_APPROVE, UPDATE_CASE
from robustops.gym.domains.hr.casework import AVERAGE, REMOVE_LINKS
from robustops.gym.domains.hr.pages import PAGE
from robustops.gym.domains.hr.profile import LIST_PROFILES, OFFBOARD, OFFBOARD_ALL, ONBOARD, UPDATE_PROFILE
from robustops.gym.domains.hr.service import RETIRE

FOLDER = DomainFolder(
    name="hr",
    table_files=("tables.yaml", "case_tables.yaml"),
    shape_files=("shapes.yaml",),
    tool_files=(
        "services.yaml",
        "people.yaml",
        "skills.yaml",
        "cases.yaml",
        "profiles.yaml",
        "knowledge.yaml",
        "counts.yaml",
        "tasks.yaml",
    ),
    kinds={
        "update_case": UPDATE_CASE,
        "to_approve": TO_APPROVE,
        "remove_links": REMOVE_LINKS,
        "average_by_case": AVERAGE,
        "page": PAGE,
        "onboard": ONBOARD,
        "update_profile": UPDATE_PROFILE,
        "offboard": OFFBOARD,
        "offboard_all": OFFBOARD_ALL,
        "list_profiles": LIST_PROFILES,
        "retire": RETIRE,
    },
)
