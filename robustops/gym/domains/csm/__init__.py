"""Customer service management: accounts, products, contracts, cases, service levels, knowledge, notifications."""

from __future__ import annotations

from robustops.gym.domains.csm.knowledge import SEARCH_KNOWLEDGE
from robustops.gym.domains.folder import DomainFolder

FOLDER = DomainFolder(
    name="csm",
    tool_files=("lookups.yaml", "listings.yaml", "case_listings.yaml", "changes.yaml", "case_changes.yaml"),
    kinds={"search_knowledge": SEARCH_KNOWLEDGE},
)
