"""How drive writes are read back, how files are found, and the policy of synthetic drive tasks. Data."""

from __future__ import annotations

from robustops.agent.plan import Pick, Step
from robustops.data.synth.draft import ReadBackRule, expressions, read, text
from robustops.data.synth.drive_notes import FOLDER
from robustops.data.synth.office_rules import RULES

POLICY = (
    "You keep a drive. Find files and folders by q, as in name = 'NAME'. "
    f"A folder has mimeType {FOLDER}. Access of a person has type user. "
    f"A request for access is resolved by action ACCEPT and then has status approved. {RULES}"
)

READ_BACKS = {
    "update_files": ReadBackRule(tool="get_files", keys=("fileId",)),
    "create_permission": ReadBackRule(tool="list_permission", keys=("fileId",)),
    "update_permission": ReadBackRule(tool="get_permission", keys=("fileId", "permissionId")),
    "delete_permission": ReadBackRule(
        tool="list_permission", keys=("fileId",), renamed={"permissionId": "id"}, is_absent=True
    ),
    "create_replies": ReadBackRule(tool="list_replies", keys=("fileId", "commentId")),
}


def find(bind: str, name: str, pick: Pick | None = None) -> Step:
    """A file or folder by its name; of several the one picked."""
    query = text("name = '", name, "'")
    return read(bind, "list_files", {"q": query}, pick or Pick(where=expressions({"name": name})))
