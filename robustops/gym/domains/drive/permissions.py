"""Sharing files, folders and shared drives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from robustops.gym.domains.drive.access import Access
from robustops.gym.domains.drive.changes import log_change
from robustops.gym.domains.drive.grants import add_grant, grant_item
from robustops.gym.domains.drive.tree import write_closure
from robustops.gym.domains.drive.wire import listing, new_id, page, stored_time
from robustops.gym.operations.kind import ToolFailure
from robustops.gym.operations.records import Records, Row, reading, writing

_DRIVE_ROLES = ("organizer", "fileOrganizer")


class _Target:
    """The file or the shared drive that an id means; raises ToolFailure where the caller lacks the role."""

    def __init__(self, records: Records, target_id: str, *, file_role: str, drive_role: str, is_admin: bool) -> None:
        access = Access(records)
        self.file = records.first("files", {"id": target_id})
        self.drive = None if self.file is not None else records.first("drives", {"id": target_id})
        if self.file is not None:
            access.require_file(self.file, file_role)
        elif self.drive is None:
            raise ToolFailure(f"File not found: {target_id}")
        elif not is_admin:
            access.require_drive(self.drive, drive_role)
        self.access = access
        self.place = {"drive_id": target_id} if self.file is None else {"file_id": target_id}


def _target(records: Records, arguments: Mapping[str, Any], *, is_write: bool = False) -> _Target:
    roles = ("writer", "organizer") if is_write else ("reader", "reader")
    is_admin = bool(arguments.get("useDomainAdminAccess"))
    return _Target(records, arguments["fileId"], file_role=roles[0], drive_role=roles[1], is_admin=is_admin)


def _known(records: Records, target: _Target, permission_id: str) -> Row:
    grant = records.first("permissions", {"id": permission_id, **target.place, "deleted": 0})
    if grant is None:
        raise ToolFailure(f"Permission not found: {permission_id}")
    return grant


def _grantee(records: Records, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The columns that say who is granted access. An address that nobody here has is kept as it is."""
    kind, email = arguments["type"], arguments.get("emailAddress")
    if kind in ("user", "group"):
        if not email:
            raise ToolFailure("emailAddress is required for user and group permissions")
        table = "users" if kind == "user" else "groups"
        found = records.select(
            f"SELECT id FROM {table} WHERE lower(email) = ? ORDER BY rowid LIMIT 1", (email.lower(),)
        )
        return {"type": kind, f"{kind}_id": found[0]["id"] if found else None, "email_address": email}
    if kind == "domain":
        if not arguments.get("domain"):
            raise ToolFailure("domain is required for domain permissions")
        return {"type": kind, "domain": arguments["domain"]}
    return {"type": kind}


def _create(records: Records, arguments: Mapping[str, Any]) -> Any:
    """One who has access already gets the new role instead of a second permission."""
    target = _target(records, arguments, is_write=True)
    role, grantee = arguments["role"], _grantee(records, arguments)
    if target.file is not None and target.file["drive_id"] is None and role in _DRIVE_ROLES:
        raise ToolFailure(f"The role {role} is only valid for items in shared drives")
    values: dict[str, Any] = {
        "role": role,
        "allow_file_discovery": arguments.get("allowFileDiscovery", False),
        "view": arguments.get("view"),
        "pending_owner": arguments.get("pendingOwner", False),
    }
    if "expirationTime" in arguments:
        stored_time("expirationTime", arguments["expirationTime"])  # refused unless it is one
        values["expiration_time"] = arguments["expirationTime"]
    if role == "owner":
        _require_transfer(target, arguments)
    held = _held_by(records, target, grantee)
    if held is not None:
        records.change("permissions", {"id": held["id"]}, {**values, "updated_time": records.now})
        grant = records.find("permissions", {"id": held["id"]})[0]
    elif target.file is not None:
        grant = add_grant(records, target.file, {**values, **grantee})
    else:
        grant = records.add("permissions", {"id": new_id(records), **target.place, **values, **grantee})
    if role == "owner" and target.file is not None:
        _hand_over(records, target.file, grant, moves_to_root=bool(arguments.get("moveToNewOwnersRoot")))
    log_change(records, "perm_created", file=target.file, drive_id=target.place.get("drive_id"))
    return grant_item(records, grant)


def _held_by(records: Records, target: _Target, grantee: Mapping[str, Any]) -> Row | None:
    by_id = {name: grantee[name] for name in ("user_id", "group_id") if grantee.get(name)}
    by_text = {name: grantee[name] for name in ("email_address", "domain") if grantee.get(name)}
    return records.first("permissions", {**target.place, "type": grantee["type"], "deleted": 0, **(by_id or by_text)})


def _require_transfer(target: _Target, arguments: Mapping[str, Any]) -> None:
    """Raises ToolFailure unless ownership may be handed over as asked."""
    if not arguments.get("transferOwnership"):
        raise ToolFailure("transferOwnership must be true when the role is owner")
    if target.file is None or target.file["drive_id"] is not None:
        raise ToolFailure("Items in shared drives have no owner")
    if arguments.get("type", "user") != "user":
        raise ToolFailure("Only a user can be an owner")
    target.access.require_file(target.file, "owner")


def _hand_over(records: Records, file: Row, grant: Row, *, moves_to_root: bool) -> None:
    """Exactly one owner remains; whoever was it before becomes a writer."""
    for other in records.find("permissions", {"file_id": file["id"], "role": "owner", "deleted": 0}):
        if other["id"] != grant["id"]:
            records.change("permissions", {"id": other["id"]}, {"role": "writer", "updated_time": records.now})
    values: dict[str, Any] = {"created_by": grant["user_id"], "owned_by_me": grant["user_id"] == records.caller["id"]}
    values["shared"] = 1
    if moves_to_root:
        values |= {"parent_ids": [], "parent_id": None}
    records.change("files", {"id": file["id"]}, values)
    if moves_to_root:
        write_closure(records, records.find("files", {"id": file["id"]}))


def _get(records: Records, arguments: Mapping[str, Any]) -> Any:
    target = _target(records, arguments)
    return grant_item(records, _known(records, target, arguments["permissionId"]))


def _list(records: Records, arguments: Mapping[str, Any]) -> Any:
    """Those on the item itself, then those that it has from the folders above it and from its shared drive."""
    target = _target(records, arguments)
    own = records.find("permissions", {**target.place, "deleted": 0}, order="created_time, rowid")
    grants = own if target.file is None else [*own, *_inherited(records, target.access, target.file, own)]
    wanted = arguments.get("includePermissionsForView")
    grants = [grant for grant in grants if grant["view"] in (None, wanted)]
    is_paged = "pageSize" in arguments or target.file is None or target.file["drive_id"] is not None
    size = arguments.get("pageSize", 100) if is_paged else max(len(grants), 1)
    shown, following = page(grants, arguments.get("pageToken"), size)
    items = [grant_item(records, grant) for grant in shown]
    return listing("drive#permissionList", "permissions", items, following)


def _inherited(records: Records, access: Access, file: Row, own: list[Row]) -> list[Row]:
    seen = {_holder(grant) for grant in own}
    sources = [({"file_id": folder["id"]}, folder["id"]) for folder in access.folders_above(file)]
    if file["drive_id"]:
        sources.append(({"drive_id": file["drive_id"]}, file["drive_id"]))
    found = []
    for where, source in sources:
        for grant in records.find("permissions", {**where, "deleted": 0}, order="created_time, rowid"):
            if _holder(grant) not in seen and grant["role"] != "owner":
                seen.add(_holder(grant))
                found.append({**grant, "inherited": 1, "inherited_from": source})
    return found


def _holder(grant: Row) -> tuple[Any, ...]:
    return tuple(grant[name] for name in ("type", "user_id", "group_id", "email_address", "domain"))


def _update(records: Records, arguments: Mapping[str, Any]) -> Any:
    target = _target(records, arguments, is_write=True)
    grant = _known(records, target, arguments["permissionId"])
    if grant["inherited"]:
        raise ToolFailure(f"Inherited permissions cannot be changed: {grant['id']}")
    role = arguments.get("role")
    if role is None and not arguments.get("removeExpiration"):
        raise ToolFailure("No fields to update")
    if role == "owner":
        _require_transfer(target, {**arguments, "type": grant["type"]})
    elif role is not None and grant["role"] == "owner":
        raise ToolFailure("The role of an owner cannot be changed; transfer the ownership instead")
    values = {"role": role} if role is not None else {}
    if arguments.get("removeExpiration"):
        values["expiration_time"] = None
    records.change("permissions", {"id": grant["id"]}, {**values, "updated_time": records.now})
    grant = records.find("permissions", {"id": grant["id"]})[0]
    if role == "owner" and target.file is not None:
        _hand_over(records, target.file, grant, moves_to_root=False)
    log_change(records, "perm_updated", file=target.file, drive_id=target.place.get("drive_id"))
    return grant_item(records, grant)


def _delete(records: Records, arguments: Mapping[str, Any]) -> Any:
    """The row goes; one may always give up one's own access."""
    target = _target(records, arguments)
    grant = _known(records, target, arguments["permissionId"])
    if grant["user_id"] != records.caller["id"]:
        target = _target(records, arguments, is_write=True)
    if grant["role"] == "owner":
        raise ToolFailure(f"The permission of an owner cannot be deleted: {grant['id']}")
    if grant["inherited"]:
        raise ToolFailure(f"Inherited permissions cannot be deleted: {grant['id']}")
    records.remove("permissions", {"id": grant["id"]})
    if target.file is not None and all(
        row["role"] == "owner" for row in records.find("permissions", {**target.place, "deleted": 0})
    ):
        records.change("files", {"id": target.file["id"]}, {"shared": 0})
    log_change(records, "perm_deleted", file=target.file, drive_id=target.place.get("drive_id"))


KINDS = {
    "create_permission": writing(_create),
    "get_permission": reading(_get),
    "list_permission": reading(_list),
    "update_permission": writing(_update),
    "delete_permission": writing(_delete),
}
