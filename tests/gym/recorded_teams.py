"""Recorded runs of real teams servers, replayed on a database that holds what their reads reveal of the seed.

The seeds are not public. A row that a run reads before it writes to it was in the seed: it is put there. What a run
does not read but refers to (a user, a channel) is taken from the reads of other runs, whose seeds are alike, else a
stub is made of it. Ids that the server drew at random are matched by their place in the replies.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from robustops.gym.database import Database
from robustops.gym.domain import Domain

# Organisation by the id of its tenant, and who acts for it where no reply of the run names the caller.
ORGANISATIONS = {
    "a1b2c3d4-e5f6-7890-abcd-ef1234567890": ("techcorp-001", "james.wilson"),
    "f9e8d7c6-b5a4-3210-9876-543210fedcba": ("globalex-002", "robert.taylor"),
}
TOKEN = "token-of-the-caller"
SEEDED = "2026-05-01 08:00:00"  # before every write of a replay
_BIND = re.compile(r"users(?:\('([^']+)'\)|/([^/']+))$")
_SNAKE = re.compile(r"(?<!^)(?=[A-Z])")
# Properties of which the column has another name than the rules of snake case give.
_COLUMNS = {
    "teams_users": {"id": "user_id", "createdDateTime": "created_at", "orgId": "org_id", "softDeleted": "soft_deleted"},
    "teams": {"id": "team_id", "createdDateTime": "created_date_time"},
    "channels": {"id": "channel_id", "createdDateTime": "created_date_time"},
    "teams_apps": {"id": "app_id"},
    "teams_channel_tabs": {"configuration": "configuration_json"},
    "channel_files_folders": {"createdDateTime": "created_datetime", "lastModifiedDateTime": "last_modified_datetime"},
}
KEYS = {"teams_users": "user_id", "teams": "team_id", "channels": "channel_id", "teams_apps": "app_id"}
_TABLE_OF_READ = {
    "list_users": "teams_users",
    "get_user": "teams_users",
    "list_teams": "teams",
    "list_channels": "channels",
    "list_all_channels": "channels",
    "list_team_members": "teams",
    "list_teams_apps": "teams_apps",
    "list_tabs_in_channel": "teams_channel_tabs",
    "get_files_folder": "channel_files_folders",
    "list_groups": "groups",
    "list_call_records": "call_records",
}
# Updates reply with the whole row: what they were not asked to change was in the seed.
_REVEALING_UPDATES = ("update_user", "update_team", "update_channel_tab")
# Tables that a tool writes to, so that a later read of them shows more than the seed.
_TABLES_OF_WRITE = {
    "create_user": "teams_users",
    "update_user": "teams_users",
    "create_team": "teams",
    "update_team": "teams",
    "create_channel": "channels",
    "update_channel": "channels",
    "archive_channel": "channels",
    "add_tabs_to_channels": "teams_channel_tabs",
    "update_channel_tab": "teams_channel_tabs",
    "delete_channel_tab": "teams_channel_tabs",
    "add_team_member": "teams",
    "add_team_members_in_bulk": "teams",
    "remove_team_member": "teams",
    "update_team_member": "teams",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedCall:
    """`informs`: the overlay uses the reply, so that giving it again shows little."""

    tool: str
    arguments: Mapping[str, Any]
    text: str
    is_error: bool
    informs: bool

    @property
    def reply(self) -> Any:
        return as_json(self.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedCheck:
    name: str
    query: str
    actual: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedRun:
    name: str
    calls: tuple[RecordedCall, ...]
    checks: tuple[RecordedCheck, ...]
    org: str
    tenant: str
    caller: str


def as_json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def recorded_runs(folder: Path) -> list[RecordedRun]:
    return [_run(path.stem, json.loads(path.read_text())) for path in sorted(folder.glob("*.json"))]


def _run(name: str, task: Mapping[str, Any]) -> RecordedRun:
    recorded = task["_recorded"]
    written: set[str] = set()
    made: set[str] = set()
    calls = []
    for call in recorded["calls"]:
        result, tool = call["result"], call["tool"]
        read = _TABLE_OF_READ.get(tool)
        text = result["content"][0]["text"]
        reveals = tool in _REVEALING_UPDATES and not made & set(_texts(call["arguments"]))
        informs = (read is not None and read not in written) or reveals
        calls.append(
            RecordedCall(tool=tool, arguments=call["arguments"], text=text, is_error=result["isError"], informs=informs)
        )
        if tool in _TABLES_OF_WRITE and not result["isError"]:
            written.add(_TABLES_OF_WRITE[tool])
            made |= _made(tool, as_json(text))
    queries = {check["name"]: check["validation_config"]["query"] for check in task["verifiers"]}
    checks = tuple(
        RecordedCheck(name=check, query=queries[check], actual=value["actual"])
        for check, value in recorded["verifiers"].items()
    )
    everything = json.dumps(recorded["calls"])
    tenant = max(ORGANISATIONS, key=lambda one: everything.count(one) + everything.count(ORGANISATIONS[one][0][:8]))
    org, usual = ORGANISATIONS[tenant]
    replies = (as_json(call["result"]["content"][0]["text"]) for call in recorded["calls"])
    senders = [user for reply in replies for user in _senders(reply)]
    caller = senders[0] if senders else usual
    return RecordedRun(name=name, calls=tuple(calls), checks=checks, org=org, tenant=tenant, caller=caller)


def _made(tool: str, reply: Any) -> set[str]:
    """The id that a creating call gave."""
    return {reply["id"]} if tool.startswith(("create", "add")) and "id" in reply else set()


def _senders(reply: Any) -> Iterator[str]:
    """Who sent a message or created an event."""
    if isinstance(reply, Mapping) and ("eventDetail" in reply or "externalEventInformation" in reply):
        yield reply.get("from", reply.get("createdBy"))["user"]["id"]


@dataclass(slots=True, kw_only=True)
class Seed:
    """Rows by table and key, as reads revealed them."""

    domain: Domain
    rows: dict[str, dict[Any, dict[str, Any]]] = field(default_factory=dict)

    def put(self, table: str, key: Any, values: Mapping[str, Any]) -> None:
        """Values that are known already stay."""
        row = self.rows.setdefault(table, {}).setdefault(key, {})
        for name, value in values.items():
            row.setdefault(name, value)

    def reveal(self, run: RecordedRun, *, only_reads: bool = False) -> None:
        for call in run.calls:
            if call.informs and not call.is_error and not (only_reads and call.tool.startswith("update")):
                self._reveal(run, call)

    def _reveal(self, run: RecordedRun, call: RecordedCall) -> None:
        reply = call.reply
        match call.tool:
            case "list_users" | "list_teams" | "list_teams_apps" | "list_channels" | "list_all_channels":
                for item in reply["value"]:
                    self._item(_TABLE_OF_READ[call.tool], run, call, item)
            case "get_user":
                self._item("teams_users", run, call, reply)
            case "update_user":
                self._item(
                    "teams_users",
                    run,
                    call,
                    {k: v for k, v in reply.items() if k not in call.arguments or k == "userPrincipalName"},
                )
            case "update_team":
                self._item("teams", run, call, {k: v for k, v in reply.items() if k not in call.arguments})
            case "update_channel_tab":
                kept = {name: value for name, value in reply.items() if name not in call.arguments}
                self._tab(run, call, kept | {"app_id": reply["teamsApp_odata_bind"].split("'")[1]})
            case "list_tabs_in_channel":
                for item in reply["value"]:
                    self._tab(run, call, item)
            case "list_team_members":
                known = {"team_id": call.arguments["teamId"], "org_id": run.org}
                self.put("teams", (run.org, call.arguments["teamId"]), known)
                members = self.rows["teams"][run.org, call.arguments["teamId"]].setdefault("members", [])
                members += [item for item in reply["value"] if item["id"] not in {one["id"] for one in members}]
            case "get_files_folder":
                known = {"channel_id": call.arguments["channelId"], "org_id": run.org}
                self.put(
                    "channel_files_folders", reply["id"], {**self._values("channel_files_folders", reply), **known}
                )

    def _item(self, table: str, run: RecordedRun, call: RecordedCall, item: Mapping[str, Any]) -> None:
        values = {**self._values(table, item), "org_id": run.org}
        if table == "channels":
            values |= {"team_id": call.arguments["teamId"]}
        self.put(table, (run.org, values[KEYS[table]]), values)

    def _tab(self, run: RecordedRun, call: RecordedCall, item: Mapping[str, Any]) -> None:
        place = {"org_id": run.org, "team_id": call.arguments["teamId"], "channel_id": call.arguments["channelId"]}
        self.put("teams_channel_tabs", item["id"], {**self._values("teams_channel_tabs", item), **place})

    def _values(self, table: str, item: Mapping[str, Any]) -> dict[str, Any]:
        columns = self.domain.tables[table].by_name
        named = {
            _COLUMNS.get(table, {}).get(name, _SNAKE.sub("_", name).lower()): value for name, value in item.items()
        }
        return {name: value for name, value in named.items() if name in columns}


def fill(database: Database, domain: Domain, run: RecordedRun, others: Seed) -> None:
    """Write the run's overlay into an empty database."""
    seed = Seed(domain=domain)
    seed.reveal(run)
    for name, key in _referred(run):
        known = others.rows.get(name, {}).get(key, {})
        seed.put(name, key, {"org_id": key[0], KEYS[name]: key[1], **known})
    seed.put("teams_users", (run.org, run.caller), others.rows["teams_users"].get((run.org, run.caller), {}))
    for (org, user_id), user in seed.rows["teams_users"].items():
        known = others.rows["teams_users"].get((org, user_id), {})
        seed.put("teams_users", (org, user_id), {**known, "user_id": user_id, "org_id": org})
        stub = {"user_principal_name": f"{user_id}@example.org", "display_name": user_id}
        seed.put("teams_users", (org, user_id), stub)
        seed.put("teams_users", (org, user_id), {"mail": user["user_principal_name"]})  # alike wherever both are shown
        user["static_token"] = TOKEN if user_id == run.caller else None
    for call in run.calls:
        _needed(seed, run, call)
    database.insert(domain.tables["teams_orgs"], {"org_id": run.org, "tenant_id": run.tenant, "display_name": run.org})
    for name, rows in seed.rows.items():
        table = domain.tables[name]
        stamps = {column.name: SEEDED for column in table.columns if column.stamp}
        for row in rows.values():
            stored = {key: json.dumps(value) if isinstance(value, list | dict) else value for key, value in row.items()}
            database.insert(table, {**_defaults(table), **stamps, **stored})


def _needed(seed: Seed, run: RecordedRun, call: RecordedCall) -> None:
    """What must have been there for the reply to be what it is, although no read shows it."""
    if call.tool == "add_channel_member" and not call.is_error:  # its id tells the counter
        seed.put("channel_members", call.reply["id"] - 1, {"id": call.reply["id"] - 1})
    if call.tool == "add_tabs_to_channels" and not call.is_error:
        app = call.reply["teamsApp"]
        known = {"display_name": app["displayName"], "distribution_method": app["distributionMethod"]}
        seed.put("teams_apps", (run.org, app["id"]), {"org_id": run.org, "app_id": app["id"], **known})
    if match := re.fullmatch(r"User '(.+)' is already a member of the team", call.text):
        members = seed.rows["teams"][run.org, call.arguments["teamId"]].setdefault("members", [])
        if all(member["userId"] != match[1] for member in members):
            members.append({"id": f"membership_{match[1]}", "userId": match[1]})


def _defaults(table: Any) -> dict[str, Any]:
    return {column.name: column.default for column in table.columns if column.default is not None}


def _referred(run: RecordedRun) -> Iterator[tuple[str, tuple[str, str]]]:
    """Users, teams, channels and apps that calls of the run name, made by none of them and used with success."""
    made = {call.reply["id"] for call in run.calls if call.tool.startswith("create_") and not call.is_error}
    for call in run.calls:
        if call.is_error:
            continue
        for table, name in (("teams", "teamId"), ("teams", "team_id")):
            if name in call.arguments and call.arguments[name] not in made:
                yield table, (run.org, call.arguments[name])
        for value in _texts(call.arguments):
            if (match := _BIND.search(value)) and "@" not in value:
                yield "teams_users", (run.org, match[1] or match[2])
        for organizer in call.arguments.get("coOrganizers", ()):
            yield "teams_users", (run.org, organizer["id"])


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
