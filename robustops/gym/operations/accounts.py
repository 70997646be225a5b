"""Making a user where the server gives a token and a role row besides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from robustops.gym.domain import Domain, Param, Tool
from robustops.gym.operations.kind import Call, Kind, Operation
from robustops.gym.operations.records import Records
from robustops.gym.operations.writes import CREATE

TOKEN = "static_token"
LOGIN = "user_name"


def _add_user(domain: Domain, tool: Tool) -> Operation:
    """A create that also fills the token, the login name where there is one, and a row of `user_role`."""
    given = tuple(name for name in (TOKEN, LOGIN) if name in tool.table.by_name)
    columns = tuple(Param(name=name, schema={}, enforced={}, columns=(name,)) for name in given)
    create = CREATE.compile(domain, replace(tool, params=(*(p for p in tool.params if p.name not in given), *columns)))

    def run(call: Call, arguments: Mapping[str, Any]) -> Any:
        login = f"{arguments['first_name']}.{arguments['last_name']}".lower()
        filled = {TOKEN: f"token_{call.ids.hex(32)}", LOGIN: login}
        user = create(call, {**arguments, **{name: filled[name] for name in given}})
        records = Records(domain, call)
        if (role := records.first("role", {"name": arguments["role"]})) is not None:
            row = {"user_id": user[tool.table.key], "role_id": role["role_id"], "org_id": call.caller["org_id"]}
            records.add("user_role", row)
        return user

    return run


ADD_USER = Kind(compile=_add_user, is_write=True, place="body")
