"""The team, channel, chat or app that an id means, within the caller's organisation. Raises ToolFailure."""

from __future__ import annotations

import re

from robustops.gym.domains.teams.wire import GRAPH
from robustops.gym.operations.kind import ToolFailure
from robustops.gym.operations.records import Records, Row

_APP = re.compile(r"teamsApps(?:\('(?P<quoted>[^']*)'\)|/(?P<plain>[^/]+))\s*$")


def known_team(records: Records, team_id: str) -> Row:
    team = records.first("teams", {"org_id": records.caller["org_id"], "team_id": team_id, "soft_delete": 0})
    if team is None:
        raise ToolFailure(f"Team not found: {team_id}")
    return team


def known_channel(records: Records, team_id: str, channel_id: str) -> Row:
    known_team(records, team_id)
    channel = records.first("channels", {"team_id": team_id, "channel_id": channel_id, "soft_delete": 0})
    if channel is None:
        raise ToolFailure(f"Channel not found: {channel_id}")
    return channel


def known_chat(records: Records, chat_id: str) -> Row:
    chat = records.first("chats", {"org_id": records.caller["org_id"], "chat_id": chat_id, "soft_delete": 0})
    if chat is None:
        raise ToolFailure(f"Chat not found: {chat_id}")
    return chat


def tenant_of(records: Records) -> str:
    """The tenant of the caller's organisation; its id where the organisation has no row."""
    org = records.first("teams_orgs", {"org_id": records.caller["org_id"]})
    return str(org["tenant_id"]) if org and org["tenant_id"] else str(records.caller["org_id"])


def bound_app(records: Records, url: str) -> Row:
    """The catalogue's app that a bind URL, or its bare id, means."""
    match = _APP.search(url)
    app_id = url if match is None else match["quoted"] if match["quoted"] is not None else match["plain"]
    app = records.first("teams_apps", {"org_id": records.caller["org_id"], "app_id": app_id})
    if app is None:
        raise ToolFailure(
            f"Teams app '{app_id}' not found in organization app catalog. The app must be preinstalled in the team."
        )
    return app


def app_bind(app_id: str) -> str:
    return f"{GRAPH}/appCatalogs/teamsApps('{app_id}')"


def app_item(app: Row | None) -> dict[str, object] | None:
    if app is None:
        return None
    return {"id": app["app_id"], "displayName": app["display_name"], "distributionMethod": app["distribution_method"]}
