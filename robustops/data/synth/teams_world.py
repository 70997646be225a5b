"""The teams database of a synthetic world: one organisation at work, and another one beside it. Knows no template.

The caller owns some teams and is a plain member of others. What is said, called and planned lies in `teams_talk`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from random import Random
from typing import Any

from robustops.core.task import Part
from robustops.data.synth.names import Names
from robustops.data.synth.teams_talk import add_calls, add_chats, add_events, add_messages
from robustops.data.synth.world import SEED_TIME, Row, World

KEYS = {
    "teams_orgs": "org_id",
    "teams_users": "user_id",
    "teams": "team_id",
    "channels": "channel_id",
    "channel_members": "id",
    "channel_messages": "message_id",
    "channel_files_folders": "id",
    "teams_channel_tabs": "id",
    "teams_installed_apps": "id",
    "teams_chat_tabs": "id",
    "chats": "chat_id",
    "chat_messages": "message_id",
    "pinned_chat_messages": "id",
    "teamwork_tags": "id",
    "teamwork_tag_members": "id",
    "groups": "group_id",
    "calls": "id",
    "audio_routing_groups": "id",
    "call_records": "id",
    "call_sessions": "id",
    "teams_presence_sessions": "user_id",
    "virtual_event_webinars": "id",
    "virtual_event_townhalls": "id",
}
UUIDS = frozenset(KEYS) - {"channel_members"}
STAMPS = {"created_at": SEED_TIME, "updated_at": SEED_TIME}
DATED = {"created_date_time": SEED_TIME, "updated_date_time": SEED_TIME}
JOBS = (
    "Project Manager",
    "Senior Developer",
    "UX Designer",
    "Data Scientist",
    "Sales Lead",
    "HR Coordinator",
    "Architect",
)
DEPARTMENTS = ("Engineering", "Design", "Sales", "People", "Finance")
APPS = (("Planner", "planner"), ("OneNote", "onenote"), ("Website", "web"), ("SharePoint", "sharepoint"))
MEMBER_SETTINGS = {
    "allowCreateUpdateChannels": True,
    "allowCreatePrivateChannels": True,
    "allowDeleteChannels": True,
    "allowAddRemoveApps": True,
    "allowCreateUpdateRemoveTabs": True,
    "allowCreateUpdateRemoveConnectors": True,
}
GUEST_SETTINGS = {"allowCreateUpdateChannels": False, "allowDeleteChannels": False}
MESSAGING_SETTINGS = {
    "allowUserEditMessages": True,
    "allowUserDeleteMessages": True,
    "allowOwnerDeleteMessages": True,
    "allowTeamMentions": True,
    "allowChannelMentions": True,
}
FUN_SETTINGS = {
    "allowGiphy": True,
    "giphyContentRating": "moderate",
    "allowStickersAndMemes": True,
    "allowCustomMemes": True,
}
SETTINGS = {
    "member_settings": json.dumps(MEMBER_SETTINGS),
    "guest_settings": json.dumps(GUEST_SETTINGS),
    "messaging_settings": json.dumps(MESSAGING_SETTINGS),
    "fun_settings": json.dumps(FUN_SETTINGS),
    "discovery_settings": json.dumps({"showInTeamsSearchAndSuggestions": False}),
}


def hex_id(world: World, prefix: str = "") -> str:
    return f"{prefix}{world.rng.getrandbits(128):032x}"


def build(part: Part, rng: Random, num_rows: int) -> World:
    """A world with about `num_rows` channel messages and half as many people."""
    world = World(part=part, rng=rng, names=Names(part, rng), key_columns=KEYS, uuid_keys=UUIDS)
    home, other = _add_org(world), _add_org(world)
    people = [_add_user(world, home, index) for index in range(max(6, num_rows // 2))]
    _add_user(world, other, len(people))
    caller = people[0]
    world.context = {"x-teams-access-token": caller["static_token"]}
    for org in (home, other):
        for name, suffix in APPS:
            app = {"org_id": org["org_id"], "app_id": f"com.example.apps.{suffix}", "external_id": None}
            world.add("teams_apps", app | {"display_name": name, "distribution_method": "store"})
    role = {
        "org_id": home["org_id"],
        "user_id": caller["user_id"],
        "role_id": "role-1",
        "role_name": "Teams Administrator",
    }
    world.add("teams_user_roles", role | {"role_description": None, "assigned_at": SEED_TIME, "assigned_by": None})
    for index in range(max(4, num_rows // 6)):
        _add_team(world, home, people, is_owned=index % 3 != 2)
    add_messages(world, home, people, num_rows)
    add_chats(world, home, people, max(6, num_rows // 3))
    add_calls(world, home, people)
    add_events(world, home, people)
    return world


def _add_org(world: World) -> Row:
    name = world.names.company()
    slug = name.lower().replace(" ", "-")
    row: Row = {"org_id": f"{slug}-{world.rng.randint(1, 9):03d}", "tenant_id": _uuid(world), "display_name": name}
    row |= {"domain_name": f"{slug}.example", "country_letter_code": "US", "preferred_language": "en-US"}
    return world.add("teams_orgs", row | STAMPS | {"soft_deleted": 0})


def _uuid(world: World) -> str:
    digits = f"{world.rng.getrandbits(128):032x}"
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def _add_user(world: World, org: Row, index: int) -> Row:
    rng = world.rng
    first, last = world.names.person()
    address = f"{first}.{last}@{org['domain_name']}".lower()
    row: Row = {"org_id": org["org_id"], "user_id": f"{first}.{last}".lower(), "user_principal_name": address}
    row |= {"display_name": f"{first} {last}", "job_title": rng.choice(JOBS), "mail": address if index % 5 else None}
    row |= {"given_name": first, "surname": last, "mail_nickname": f"{first}.{last}".lower()}
    row |= {"account_enabled": index % 7 != 6, "business_phones": json.dumps([f"+1-555-{rng.randint(1000, 9999)}"])}
    row |= {"office_location": f"Building {rng.choice('ABC')}", "department": rng.choice(DEPARTMENTS)}
    row |= {"employee_id": f"E{rng.randint(10_000, 99_999)}", "user_type": "Member"}
    row |= {
        "skills": json.dumps(rng.sample(("SQL", "Go", "Figma", "Scrum", "Excel"), k=2)),
        "preferred_language": "en-US",
    }
    row |= {"static_token": f"token-{first}-{last}".lower(), **STAMPS, "soft_deleted": 0}
    return world.add("teams_users", row)


def _member(world: World, user: Row, role: str) -> dict[str, Any]:
    return {
        "@odata.type": "#microsoft.graph.aadUserConversationMember",
        "id": hex_id(world, "membership_"),
        "roles": [role],
        "displayName": user["display_name"],
        "userId": user["user_id"],
        "email": user["mail"],
        "tenantId": user["org_id"],
        "visibleHistoryStartDateTime": None,
    }


def _add_team(world: World, org: Row, people: Sequence[Row], *, is_owned: bool) -> None:
    """A team with its group, channels, tabs, tags and apps. A third of them belong to a colleague."""
    rng, name = world.rng, world.names.team()
    caller, *colleagues = people
    members = rng.sample(colleagues, k=min(len(colleagues) - 1, rng.randint(3, 5)))
    roles = [("owner" if is_owned else "member"), *(["member" if is_owned else "owner"]), *["member"] * len(members)]
    listed = [_member(world, user, role) for user, role in zip([caller, *members], roles, strict=False)]
    team_id = hex_id(world, "team_")
    group_id = hex_id(world, "group_")
    row: Row = {"org_id": org["org_id"], "team_id": team_id, "group_id": group_id, "template_id": "standard"}
    row |= {
        "display_name": name,
        "description": f"Where the {name} works",
        "visibility": rng.choice(("private", "public")),
    }
    row |= {"specialization": "none", "classification": None, "internal_id": _uuid(world), **SETTINGS}
    row |= {"members": json.dumps(listed), "is_archived": 0, "web_url": f"https://teams.microsoft.com/l/team/{team_id}"}
    team = world.add("teams", row | DATED | {"soft_delete": 0})
    nickname = name.lower().replace(" ", "-")
    group: Row = {"org_id": org["org_id"], "group_id": group_id, "display_name": f"{name} Group", "description": None}
    group |= {"mail": f"{nickname}@{org['domain_name']}", "mail_enabled": 1, "mail_nickname": nickname}
    group |= {"security_enabled": 0, "visibility": "Private", "owners": json.dumps([caller["user_id"]])}
    group |= {"members": json.dumps([user["user_id"] for user in members])}
    world.add("groups", group | DATED | {"soft_delete": 0})
    _add_channels(world, team, [caller, *members])
    tag: Row = {"org_id": org["org_id"], "team_id": team_id, "display_name": f"{name} Leads", "description": None}
    tag = world.add("teamwork_tags", tag | {"tag_type": "standard", "created_at": SEED_TIME})
    for user in members[:2]:
        person = {"tagId": tag["id"], "teamId": team_id, "userId": user["user_id"], "displayName": user["display_name"]}
        world.add("teamwork_tag_members", person)
    for _, suffix in rng.sample(APPS, k=2):
        app: Row = {"org_id": org["org_id"], "team_id": team_id, "app_id": f"com.example.apps.{suffix}"}
        world.add("teams_installed_apps", app | {"version": "1.0", "created_at": SEED_TIME})


def _add_channels(world: World, team: Row, people: Sequence[Row]) -> None:
    kinds = ["standard", "standard", world.rng.choice(("private", "shared")), world.rng.choice(("standard", "private"))]
    for index, kind in enumerate(kinds):
        name = "General" if index == 0 else world.names.occasion()
        channel_id = hex_id(world, "channel_")
        place = {"org_id": team["org_id"], "team_id": team["team_id"], "channel_id": channel_id}
        row: Row = {**place, "display_name": name, "description": f"{name} of {team['display_name']}"}
        row |= {
            "membership_type": kind,
            "email": None,
            "web_url": f"https://teams.microsoft.com/l/channel/{channel_id}",
        }
        row |= {"tenant_id": None, "is_archived": 0, "is_favorite_by_default": int(index == 0)}
        world.add("channels", row | DATED | {"soft_delete": 0})
        if kind != "standard":
            for user, role in zip(people, ("owner", "member"), strict=False):
                person = {"user_id": user["user_id"], "display_name": user["display_name"]}
                email = {"email": user["mail"] or user["user_principal_name"], "roles": role, "created_at": SEED_TIME}
                world.add("channel_members", {**place, **person, **email})
        if index < 2:
            _add_tabs(world, place)
        if index == 0:
            folder: Row = {**place, "name": team["display_name"], "size": world.rng.randint(1_000, 9_000_000)}
            folder |= {"created_datetime": SEED_TIME, "last_modified_datetime": SEED_TIME}
            folder |= {
                "web_url": f"https://files.example/{channel_id}",
                "parent_reference": json.dumps({"driveId": "d1"}),
            }
            world.add("channel_files_folders", folder)


def _add_tabs(world: World, place: Row) -> None:
    for number, (name, suffix) in enumerate(world.rng.sample(APPS, k=2), start=1):
        configuration = {"entityId": f"{suffix}_{number}", "contentUrl": f"https://{suffix}.example/{number}"}
        row: Row = {"id": f"tab_{world.rng.getrandbits(64):016x}", **place, "display_name": f"{name} {number}"}
        row |= {"app_id": f"com.example.apps.{suffix}", "configuration_json": json.dumps(configuration)}
        row |= {
            "sort_order_index": str(10_000_000 + 100 * number),
            "web_url": f"https://teams.microsoft.com/_#/{suffix}",
        }
        world.add("teams_channel_tabs", row | STAMPS)
