"""What an itsm server says over HTTP when it refuses a call: the status, and a body of which one was seen live."""

import pytest
from aiohttp import ClientSession
from aiohttp.test_utils import TestServer
from cases_itsm import CASES

from robustops.gym.client import HttpGym
from robustops.gym.public import BY_DOMAIN
from robustops.gym.server import make_app

NEW_GROUP = {"name": "Night", "type": "IT Support"}


@pytest.fixture
async def post():
    async with TestServer(make_app("itsm"), host="127.0.0.1") as server, ClientSession() as client:
        seed = {"database_id": "db_1", "sql_content": CASES.seed}
        async with client.post(server.make_url("/api/seed-database"), json=seed) as answer:
            assert answer.status == 200

        async def call(name, arguments, **headers):
            body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
            sent = {"x-database-id": "db_1", **headers}
            async with client.post(server.make_url("/mcp"), json=body, headers=sent) as answer:
                return answer.status, (await answer.json())["detail"]

        yield call


async def test_writing_to_oneself_is_refused_in_the_form_that_was_seen_live(post):
    status, detail = await post("send_notification", {"incident_id": "INC_001", "email": "ada@north.example"})
    assert status == 400
    assert detail.pop("timestamp").endswith("Z")
    assert detail == {
        "details": [
            {
                "code": "CANNOT_SEND_TO_SELF",
                "context": {},
                "field": "email",
                "message": "Cannot send notification to yourself",
            }
        ],
        "error": True,
        "error_code": "VALIDATION_ERROR",
        "message": "One or more validation errors occurred",
        "request_id": None,
    }


@pytest.mark.parametrize(
    ("name", "arguments", "status", "code", "field"),
    [
        ("get_user", {"user_id": "USER_099"}, 404, "NOT_FOUND", None),
        ("update_change", {"change_id": "CHG_099", "risk": "low"}, 404, "NOT_FOUND", "change_id"),
        ("create_incident", {"short_description": "Smoke"}, 400, "MISSING_FIELD", "caller_id"),
        ("list_incidents", {"status": "open"}, 400, "INVALID_ENUM_VALUE", "status"),
        ("create_incident", {"caller_id": "USER_099", "short_description": "S"}, 400, "INVALID_REFERENCE", "caller_id"),
        ("update_incident", {"incident_id": "INC_001", "status": "new"}, 400, "NO_CHANGES_DETECTED", None),
        ("add_new_user_group", {**NEW_GROUP, "manager_id": "USER_002"}, 400, "INVALID_MANAGER_ROLE", "manager_id"),
        (
            "add_child_incident",
            {"parent_incident": "INC_1", "child_incident": "INC_1"},
            400,
            "INVALID_RELATIONSHIP",
            None,
        ),
    ],
)
async def test_a_refusal_tells_its_code_and_the_field_that_it_is_about(post, name, arguments, status, code, field):
    answered, detail = await post(name, arguments)
    assert (answered, detail["details"][0]["code"], detail["details"][0]["field"]) == (status, code, field)


async def test_a_token_of_nobody_is_a_401(post):
    status, detail = await post("list_users", {}, **{"x-itsm-user-token": "forged"})
    assert (status, detail["error_code"]) == (401, "UNAUTHORIZED")


async def test_our_client_shows_a_refusal_as_an_empty_object(tmp_path):
    task = CASES.task(tmp_path)
    async with TestServer(make_app("itsm"), host="127.0.0.1") as server:
        gym = HttpGym({BY_DOMAIN["itsm"].name: str(server.make_url(""))})
        try:
            async with gym.open(task) as session:
                for name in ("get_user", "create_incident", "list_incidents"):
                    result = await session.call(name, CASES.refusals[name].arguments)
                    assert (result.observation, result.is_error) == ("{}", True)
        finally:
            await gym.close()
