"""The domains that the embedded gym can serve. Each is a folder of YAML files and a module for what is not CRUD."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from robustops.gym.domain import Domain
from robustops.gym.domains import calendar, csm, drive, email, hr, itsm, teams
from robustops.gym.domains.folder import DomainFolder
from robustops.gym.public import BY_NAME
from robustops.gym.toolbox import Toolbox

FOLDERS: Mapping[str, DomainFolder] = {
    folder.name: folder
    for folder in (csm.FOLDER, itsm.FOLDER, hr.FOLDER, calendar.FOLDER, teams.FOLDER, email.FOLDER, drive.FOLDER)
}


@cache
def load_toolbox(name: str) -> Toolbox:
    """Raises ValueError, listing the domains there are."""
    if name not in FOLDERS:
        raise ValueError(f"domain {name!r}: not embedded, expected one of {', '.join(FOLDERS)}")
    folder = FOLDERS[name]
    return Toolbox(folder.load(), folder.all_kinds)


def volatile_columns(server: str) -> frozenset[str]:
    """Names of the columns that a clock writes on a public server; none where its domain is not declared here."""
    public = BY_NAME.get(server)
    if public is None or public.domain not in FOLDERS:
        return frozenset()
    return frozenset(column for table in load_domain(public.domain).tables.values() for column in table.volatile)


def load_domain(name: str) -> Domain:
    """The declared domain: tables, tools, caller. Raises ValueError, listing the domains there are."""
    return load_toolbox(name).domain
