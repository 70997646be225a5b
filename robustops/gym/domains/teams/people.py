"""Users of the caller's organisation: the one that an id, a principal name or a bind URL means, and changes to them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from robustops.gym.domains.teams.odata import read_filter, selected, sort_items
from robustops.gym.domains.teams.wire import CONTEXT, iso
from robustops.gym.operations.kind import ToolFailure
from robustops.gym.operations.records import Records, Row, reading, writing

_BIND = re.compile(r"users(?:\('(?P<quoted>[^']*)'\)|/(?P<plain>[^/]+))\s*$")
_LISTS = frozenset(
    {"businessPhones", "otherMails", "interests", "skills", "pastProjects", "responsibilities", "schools"}
)
_BOOLEANS = frozenset({"accountEnabled", "onPremisesSyncEnabled", "isResourceAccount"})
# Properties in the order of a reply; an empty column name where the server has the property and stores nothing.
_COLUMNS: Mapping[str, str] = {
    "id": "user_id",
    "userPrincipalName": "user_principal_name",
    "displayName": "display_name",
    "accountEnabled": "account_enabled",
    "givenName": "given_name",
    "surname": "surname",
    "jobTitle": "job_title",
    "mail": "mail",
    "mailNickname": "mail_nickname",
    "businessPhones": "business_phones",
    "mobilePhone": "mobile_phone",
    "officeLocation": "office_location",
    "preferredLanguage": "preferred_language",
    "department": "department",
    "companyName": "company_name",
    "usageLocation": "usage_location",
    "city": "city",
    "state": "state",
    "country": "country",
    "streetAddress": "street_address",
    "postalCode": "postal_code",
    "employeeId": "employee_id",
    "employeeType": "employee_type",
    "userType": "user_type",
    "employeeHireDate": "employee_hire_date",
    "otherMails": "other_mails",
    "onPremisesSyncEnabled": "on_premises_sync_enabled",
    "identities": "",
    "passwordPolicies": "",
    "aboutMe": "about_me",
    "birthday": "birthday",
    "interests": "interests",
    "skills": "skills",
    "mySite": "my_site",
    "preferredName": "preferred_name",
    "faxNumber": "fax_number",
    "ageGroup": "age_group",
    "lastPasswordChangeDateTime": "",
    "isResourceAccount": "is_resource_account",
    "pastProjects": "past_projects",
    "responsibilities": "responsibilities",
    "schools": "schools",
    "employeeOrgData": "employee_org_data",
    "orgId": "org_id",
    "createdDateTime": "created_at",
    "lastModifiedDateTime": "updated_at",
    "softDeleted": "soft_deleted",
}
_LISTED = (
    *("businessPhones", "displayName", "givenName", "id", "jobTitle", "mail", "mobilePhone", "officeLocation"),
    *("preferredLanguage", "surname", "userPrincipalName"),
)
_SETTABLE = tuple(name for name in _COLUMNS if name not in ("id", "orgId", "softDeleted", "createdDateTime"))
_ENTITY = {"@odata.context": f"{CONTEXT}users/$entity"}


def find_user(records: Records, name: str) -> Row | None:
    """The user of the caller's organisation with this id or principal name."""
    org = {"org_id": records.caller["org_id"], "soft_deleted": 0}
    by_id = records.first("teams_users", {"user_id": name, **org})
    return by_id or records.first("teams_users", {"user_principal_name": name, **org})


def known_user(records: Records, name: str) -> Row:
    """Raises ToolFailure."""
    user = find_user(records, name)
    if user is None:
        raise ToolFailure(f"User not found: {name} or not from your organization")
    return user


def bound_user(records: Records, url: str) -> Row:
    """The user that a bind URL means: `.../users('X')` or `.../users/X`. Raises ToolFailure."""
    match = _BIND.search(url)
    if match is None:
        raise ToolFailure(f"Invalid user reference: {url}")
    return known_user(records, match["quoted"] if match["quoted"] is not None else match["plain"])


def mail_of(user: Row) -> str:
    return str(user["mail"] or user["user_principal_name"])


def _property(user: Row, name: str) -> Any:
    column = _COLUMNS.get(name, "")
    value = user.get(column) if column else None
    if name in _LISTS or name == "employeeOrgData":
        return json.loads(value) if isinstance(value, str) and value else value
    if name in _BOOLEANS or name == "softDeleted":
        return None if value is None else bool(value)
    if name in ("createdDateTime", "lastModifiedDateTime"):
        return iso(value)
    return value


def _item(user: Row, names: Sequence[str]) -> dict[str, Any]:
    return {**_ENTITY, **{name: _property(user, name) for name in names if name in _COLUMNS}}


def _list_users(records: Records, arguments: Mapping[str, Any]) -> Any:
    where = {"org_id": records.caller["org_id"], "soft_deleted": 0}
    users = records.find("teams_users", where, order="user_principal_name")
    if text := arguments.get("_filter"):
        condition = read_filter(text, "flat")
        if condition is not None:
            users = [user for user in users if condition(partial(_property, user))]
    sort_items(users, arguments.get("_orderby"), _property)
    skip, top = arguments.get("_skip", 0), arguments.get("_top", 100)
    shown = users[skip : skip + top]
    names = selected(arguments.get("_select")) or _LISTED
    reply: dict[str, Any] = {"@odata.context": f"{CONTEXT}users", "value": [_item(user, names) for user in shown]}
    if skip + top < len(users):
        reply["@odata.nextLink"] = f"https://graph.microsoft.com/v1.0/users?$top={top}&$skip={skip + top}"
    return {**reply, "@odata.count": len(shown)} if arguments.get("_count") else reply


def _named(records: Records, arguments: Mapping[str, Any]) -> Row:
    """The user that userId or userPrincipalName, or both alike, mean. Raises ToolFailure."""
    names = [arguments[key] for key in ("userId", "userPrincipalName") if key in arguments]
    if not names:
        raise ToolFailure("Either userId or userPrincipalName is required")
    users = [known_user(records, name) for name in names]
    if users[0]["user_id"] != users[-1]["user_id"]:
        raise ToolFailure("userId and userPrincipalName do not refer to the same user")
    return users[0]


def _get_user(records: Records, arguments: Mapping[str, Any]) -> Any:
    user = _named(records, arguments)
    names = selected(arguments.get("_select"))
    return _item(user, names or tuple(_COLUMNS))


def _trimmed(value: Any) -> Any:
    return value.strip() if isinstance(value, str) else value


def _create_user(records: Records, arguments: Mapping[str, Any]) -> Any:
    name, org = arguments["userPrincipalName"], records.caller["org_id"]
    if not arguments["displayName"].strip():
        raise ToolFailure("Validation errors:\n- displayName: displayName cannot be empty")
    if records.first("teams_users", {"org_id": org, "user_principal_name": name}):
        raise ToolFailure(f"User with userPrincipalName '{name}' already exists in your organization")
    values = {_COLUMNS[key]: _trimmed(arguments[key]) for key in _SETTABLE if key in arguments}
    given: Row = {"org_id": org, "user_id": records.ids.uuid(), **values}
    return _item(records.add("teams_users", given), tuple(_COLUMNS))


def _update_user(records: Records, arguments: Mapping[str, Any]) -> Any:
    user = _named(records, arguments)
    names = [key for key in _SETTABLE if key in arguments and key != "userPrincipalName"]
    values = {_COLUMNS[key]: _trimmed(arguments[key]) for key in names}
    if not values:
        raise ToolFailure("At least one field must be provided for update")
    key = {"org_id": user["org_id"], "user_id": user["user_id"]}
    cleared = {column: None if value == "" else value for column, value in values.items()}
    records.change("teams_users", key, {**cleared, "updated_at": records.now})
    return _item(records.find("teams_users", key)[0], tuple(_COLUMNS))


def _delete_user(records: Records, arguments: Mapping[str, Any]) -> Any:
    user = _named(records, arguments)
    key = {"org_id": user["org_id"], "user_id": user["user_id"]}
    records.change("teams_users", key, {"soft_deleted": 1, "updated_at": records.now})


def _set_status_message(records: Records, arguments: Mapping[str, Any]) -> Any:
    user = known_user(records, arguments["user_id"])
    status = arguments["statusMessage"]
    values = {
        "status_message": status["message"]["content"],
        "expiry_date_time": status.get("expiryDateTime"),
        "updated_at": records.now,
    }
    key = {"user_id": user["user_id"]}
    if records.first("teams_presence_sessions", key):
        records.change("teams_presence_sessions", key, values)
    else:
        records.add("teams_presence_sessions", {"org_id": user["org_id"], **key, **values})
    return 200


KINDS = {
    "list_users": reading(_list_users),
    "create_user": writing(_create_user),
    "get_user": reading(_get_user),
    "update_user": writing(_update_user),
    "delete_user": writing(_delete_user),
    "set_user_status_message": writing(_set_status_message),
}
