"""Human resources: cases, skills, knowledge, notifications. A part of the public server's tools and tables."""

from __future__ import annotations

from robustops.gym.domains.folder import DomainFolder

FOLDER = DomainFolder(name="hr", tool_files=("tools.yaml",))
