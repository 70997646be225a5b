"""Who may do what: the strongest role that the caller has on a file or a shared drive.

Roles come from permissions on the item itself, on the folders above it, and on the shared drive that holds it; they
are given to a user, to a group of which the caller is a member, to the domain of the caller's address, or to anyone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from robustops.gym.domains.drive.wire import decoded, user_item
from robustops.gym.operations.kind import ToolFailure
from robustops.gym.operations.records import Records, Row

ROLES = ("reader", "commenter", "writer", "fileOrganizer", "organizer", "owner")  # weakest first
_RANKS: Mapping[str, int] = {role: rank for rank, role in enumerate(ROLES, start=1)}
_GROUPS = "SELECT group_id FROM group_memberships WHERE user_id = ?"
_MINE = (
    f"(type = 'user' AND user_id = ?) OR (type = 'group' AND group_id IN ({_GROUPS})) "
    "OR (type = 'domain' AND lower(domain) = ?)"
)
_PERMISSIONS = (
    "SELECT file_id, drive_id, role FROM permissions WHERE deleted = 0 "
    f"AND (type = 'anyone' OR (type = 'user' AND lower(email_address) = ?) OR {_MINE})"
)
_MEMBERSHIPS = f"SELECT NULL AS file_id, drive_id, role FROM drive_memberships WHERE {_MINE}"
_REFUSED = "The user does not have sufficient permissions for this file"


class Access:
    """The caller's roles. Reads what it needs once; for one call only."""

    def __init__(self, records: Records) -> None:
        self._records = records
        self._user_id = records.caller["id"]
        self._on_files: dict[str, int] = {}
        self._on_drives: dict[str, int] = {}
        self._files: dict[str, Row | None] = {}
        self._grants: dict[str, list[Row]] | None = None
        self._people: dict[str, dict[str, Any] | None] = {}
        email = str(records.caller["email"] or "").lower()
        mine = (self._user_id, self._user_id, email.partition("@")[2] or None)
        self._collect(records.select(_PERMISSIONS, (email or None, *mine)))
        self._collect(records.select(_MEMBERSHIPS, mine))

    def _collect(self, grants: Iterable[Row]) -> None:
        for grant in grants:
            rank = _RANKS.get(grant["role"], 0)
            on, key = (self._on_files, grant["file_id"]) if grant["file_id"] else (self._on_drives, grant["drive_id"])
            on[key] = max(rank, on.get(key, 0))

    def know_all(self, files: Iterable[Row]) -> None:
        """Read everything at once, for a listing: all files, and all permissions on files."""
        self._files = {file["id"]: file for file in files}
        self._grants = defaultdict(list)
        for grant in self._records.find("permissions", {"deleted": 0}):
            self._grants[grant["file_id"]].append(grant)

    def grants(self, file_id: str) -> list[Row]:
        """The permissions on the file itself, whoever holds them."""
        if self._grants is None:
            return self._records.find("permissions", {"file_id": file_id, "deleted": 0})
        return self._grants.get(file_id, [])

    def person(self, user_id: str | None) -> dict[str, Any] | None:
        """A user as replies show one."""
        if user_id is None:
            return None
        if user_id not in self._people:
            self._people[user_id] = user_item(self._records, user_id)
        return self._people[user_id]

    def direct(self, file_id: str) -> int:
        """The rank that a permission on the file itself gives."""
        return self._on_files.get(file_id, 0)

    def on_drive(self, drive_id: str | None) -> int:
        return self._on_drives.get(drive_id or "", 0)

    def on_file(self, file: Row) -> int:
        """The strongest rank, inherited ones included. Who made a file outside shared drives owns it."""
        best = max(self.direct(file["id"]), self.on_drive(file["drive_id"]))
        if file["drive_id"] is None and file["created_by"] in (self._user_id, None):
            return _RANKS["owner"]
        for folder in self.folders_above(file):
            best = max(best, self.direct(folder["id"]))
            if folder["drive_id"] is None and folder["created_by"] == self._user_id:
                best = max(best, _RANKS["writer"])
        return best

    def folders_above(self, file: Row) -> list[Row]:
        """Every folder that holds the file, the nearest first; each once, whatever the parents say."""
        found: dict[str, Row] = {}
        waiting = list(decoded(file["parent_ids"]) or [])
        while waiting:
            folder_id = waiting.pop(0)
            folder = self._file(folder_id)
            if folder is not None and folder_id not in found:
                found[folder_id] = folder
                waiting += decoded(folder["parent_ids"]) or []
        return list(found.values())

    def is_trashed(self, file: Row) -> bool:
        """In the trash itself, or in a folder that is."""
        return bool(file["trashed"]) or any(folder["trashed"] for folder in self.folders_above(file))

    def _file(self, file_id: str) -> Row | None:
        if file_id not in self._files:
            self._files[file_id] = self._records.first("files", {"id": file_id})
        return self._files[file_id]

    def require_file(self, file: Row, role: str) -> None:
        """Raises ToolFailure; a file that the caller may not even read is not found."""
        rank = self.on_file(file)
        if rank == 0:
            raise ToolFailure(f"File not found: {file['id']}")
        if rank < _RANKS[role]:
            raise ToolFailure(f"{_REFUSED}: {file['id']}")

    def require_drive(self, drive: Row, role: str) -> None:
        rank = self.on_drive(drive["id"])
        if rank == 0:
            raise ToolFailure(f"Shared drive not found: {drive['id']}")
        if rank < _RANKS[role]:
            raise ToolFailure(f"The user does not have sufficient permissions for this shared drive: {drive['id']}")


def known_file(records: Records, file_id: str, role: str = "reader", *, access: Access | None = None) -> Row:
    """The file, where the caller has at least the role. Raises ToolFailure. `access`: what is known of it already."""
    file = records.first("files", {"id": file_id})
    if file is None:
        raise ToolFailure(f"File not found: {file_id}")
    (access or Access(records)).require_file(file, role)
    return file


def known_drive(records: Records, drive_id: str, role: str = "reader", *, is_admin: bool = False) -> Row:
    """The shared drive, where the caller has at least the role or acts as an administrator. Raises ToolFailure."""
    drive = records.first("drives", {"id": drive_id})
    if drive is None:
        raise ToolFailure(f"Shared drive not found: {drive_id}")
    if not is_admin:
        Access(records).require_drive(drive, role)
    return drive
