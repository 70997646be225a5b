"""How teams writes are read back, how teams and people are found, and the policy of synthetic teams tasks. Data."""

from __future__ import annotations

from robustops.agent.plan import Pick, Step
from robustops.data.synth.draft import ReadBackRule, expressions, read, text
from robustops.data.synth.office_rules import RULES

USERS = "https://graph.microsoft.com/v1.0/users"
POLICY = (
    "You keep teams and chats. Find by _filter, as in displayName eq 'NAME' or topic eq 'NAME', and select "
    "id,displayName where you can. Messages have contentType text. New channels are standard. "
    f"A new team member is bound by {USERS}('ID') and has the role member. {RULES}"
)

READ_BACKS = {
    "update_channel": ReadBackRule(tool="list_channels", keys=("teamId",), renamed={"channelId": "id"}),
    "create_channel": ReadBackRule(tool="list_channels", keys=("teamId",)),
    "send_channel_message": ReadBackRule(tool="list_channel_messages", keys=("teamId", "channelId")),
    "update_chat": ReadBackRule(tool="list_chats", keys=(), renamed={"chatId": "id"}),
    "send_chat_message": ReadBackRule(tool="list_chat_messages", keys=("chatId",)),
    "update_team_member": ReadBackRule(tool="list_team_members", keys=("teamId",), renamed={"membershipId": "id"}),
    "remove_team_member": ReadBackRule(
        tool="list_team_members", keys=("teamId",), renamed={"membershipId": "id"}, is_absent=True
    ),
    "update_user": ReadBackRule(tool="get_user", keys=("userId",)),
    "update_team": ReadBackRule(tool="list_teams", keys=(), renamed={"teamId": "id"}),
}


def find(bind: str, tool: str, name: str, within: dict[str, str] | None = None) -> Step:
    """A team, channel or person by the name shown; only what tells it from others is asked for."""
    query = {"_filter": text("displayName eq '", name, "'"), "_select": "id,displayName"}
    return read(bind, tool, (within or {}) | query, Pick(where=expressions({"displayName": name})))


def find_chat(topic: str) -> Step:
    query = {"_filter": text("topic eq '", topic, "'")}
    return read("chat", "list_chats", query, Pick(where=expressions({"topic": topic})))


def message(words: str) -> dict[str, str]:
    return {"contentType": "text", "content": words}
