"""The words of the declaration language (`does:`). A domain adds words of its own for what is not CRUD."""

from __future__ import annotations

from collections.abc import Mapping

from robustops.gym.operations.accounts import ADD_USER
from robustops.gym.operations.aggregates import GROUP, TALLY, TOTAL
from robustops.gym.operations.counts import COUNTS
from robustops.gym.operations.identified import UPDATE_BY
from robustops.gym.operations.kind import Kind
from robustops.gym.operations.notify import NOTIFY
from robustops.gym.operations.reads import EXISTS, GET, LIST
from robustops.gym.operations.removal import REMOVE
from robustops.gym.operations.writes import ASSIGN, CREATE, DELETE, UPDATE

KINDS: Mapping[str, Kind] = {
    "get": GET,
    "list": LIST,
    "exists": EXISTS,
    "group": GROUP,
    "total": TOTAL,
    "tally": TALLY,
    "counts": COUNTS,
    "create": CREATE,
    "add_user": ADD_USER,
    "update": UPDATE,
    "update_by": UPDATE_BY,
    "assign": ASSIGN,
    "delete": DELETE,
    "remove": REMOVE,
    "notify": NOTIFY,
}
