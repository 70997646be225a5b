"""Served domains spoken to as the benchmark's own harness does it: its order, ids, headers and reading of answers.

Every case of every tool is played over HTTP and, beside it, in process; what the model would see must be equal.
"""

import itertools
import json
from contextlib import asynccontextmanager

import aiohttp
import pytest
from aiohttp.test_utils import TestServer
from tool_cases import domain_cases

from robustops.core.task import Task
from robustops.gym.client import HttpGym
from robustops.gym.domains import FOLDERS, load_domain, load_toolbox
from robustops.gym.embedded import EmbeddedGym
from robustops.gym.server import DATABASES, make_app


class UpstreamClient:
    """One connection's worth of the harness: the database header on calls and queries alone, ids from 2 upwards."""

    def __init__(self, http, context):
        self.http = http
        self.context = {self.header(key): str(value) for key, value in context.items()}
        self.ids = itertools.count(2)
        self.database_id = ""
        self.session = {}

    @staticmethod
    def header(key):
        key = key.strip()
        return key if key.startswith("x-") else "x-" + key.lower().replace("_", "-")

    async def rpc(self, method, params, headers):
        body = {"jsonrpc": "2.0", "id": next(self.ids), "method": method, "params": params}
        accept = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        async with self.http.post("/mcp", json=body, headers={**accept, **self.session, **headers}) as response:
            if response.status != 200:
                return response.status, None
            if "mcp-session-id" in response.headers:
                self.session = {"mcp-session-id": response.headers["mcp-session-id"]}
            answer = await response.json()
            assert answer["id"] == body["id"]
            return 200, answer

    async def connect(self):
        params = {
            "protocolVersion": "2024-11-05",
            "capabilities": {"tools": {}},
            "clientInfo": {"name": "standalone-benchmark-executor", "version": "1.0.0"},
        }
        _, answer = await self.rpc("initialize", params, self.context)
        assert answer["result"]["protocolVersion"] == "2024-11-05"
        note = {"jsonrpc": "2.0", "method": "notifications/initialized", "params": {}}
        async with self.http.post("/mcp", json=note, headers=self.session) as response:
            assert response.status in (200, 204)
        _, answer = await self.rpc("tools/list", {}, self.context)
        return answer["result"]["tools"]

    async def seed(self, database_id, sql):
        body = {"database_id": database_id, "name": "Auto DB", "description": "Auto-created", "sql_content": sql}
        async with self.http.post("/api/seed-database", json=body) as response:
            assert response.status == 200, await response.text()
        self.database_id = database_id

    async def observation(self, name, arguments):
        """What the harness shows the model: the result object as JSON, {} on a failure, null on a JSON-RPC error."""
        headers = {**self.context, "x-database-id": self.database_id}
        status, answer = await self.rpc("tools/call", {"name": name, "arguments": arguments}, headers)
        return json.dumps(answer.get("result")) if status == 200 else "{}"

    async def query(self, sql):
        headers = {**self.context, "Content-Type": "application/json", "x-database-id": self.database_id}
        body = {"query": sql, "database_id": self.database_id}
        async with self.http.post("/api/sql-runner", json=body, headers=headers) as response:
            return response.status, await response.json()

    async def delete(self):
        async with self.http.delete("/api/delete-database", json={"database_id": self.database_id}) as response:
            return response.status


@asynccontextmanager
async def upstream(domain, context):
    async with (
        TestServer(make_app(domain), host="127.0.0.1") as server,
        aiohttp.ClientSession(server.make_url("/")) as http,
    ):
        yield UpstreamClient(http, context), server.app[DATABASES]


def played(cases):
    """Every case once: the refusals first, as a success may write what a refusal needs to be absent."""
    stated = [*cases.refusals.items(), *cases.successes.items()]
    return [(name, dict(case.arguments)) for name, case in stated if getattr(case, "context", None) is None]


@pytest.mark.parametrize("domain", FOLDERS)
async def test_the_harness_sees_over_http_what_the_embedded_gym_shows(domain, tmp_path):
    cases, declared = domain_cases(domain), load_domain(domain)
    gym = EmbeddedGym(toolboxes=(load_toolbox(domain),))
    async with upstream(domain, cases.context) as (client, databases), gym.open(cases.task(tmp_path)) as session:
        tools = await client.connect()
        assert [tool["name"] for tool in tools] == list(declared.tools)
        await client.seed("db_1764161541283_4okzzqdyk", cases.seed)
        for name, arguments in played(cases):
            seen = await client.observation(name, arguments)
            assert json.loads(seen) == json.loads((await session.call(name, arguments)).observation), name
        for table in declared.tables:
            status, reply = await client.query(f'SELECT * FROM "{table}"')
            assert (status, reply) == (200, await session.query(f'SELECT * FROM "{table}"'))
        assert await client.delete() == 200
        assert len(databases) == 0


@pytest.mark.parametrize("domain", FOLDERS)
async def test_the_sql_runner_cuts_at_a_hundred_rows_where_the_domains_server_does(domain, tmp_path):
    cases, declared = domain_cases(domain), load_domain(domain)
    numbers = "(WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 150) SELECT i FROM n)"
    async with upstream(domain, cases.context) as (client, _):
        await client.seed("db_1", cases.seed)
        _, reply = await client.query(f"SELECT i FROM {numbers};")
        cut = declared.query_limit is not None
        assert reply["row_count"] == (100 if cut else 150)
        assert reply["query"] == f"SELECT i FROM {numbers}" + (" LIMIT 100" if cut else "")
        assert (await client.query(f"SELECT i FROM {numbers} LIMIT 120"))[1]["row_count"] == 120
        assert (await client.query("SELECT one FROM nowhere")) == (400, {"detail": "no such table: nowhere"})


@pytest.mark.parametrize("domain", FOLDERS)
async def test_a_tool_that_the_server_lacks_is_an_answer_in_its_own_envelope(domain, tmp_path):
    cases, declared = domain_cases(domain), load_domain(domain)
    async with upstream(domain, cases.context) as (client, _):
        await client.seed("db_1", cases.seed)
        seen = json.loads(await client.observation("no_such_tool", {}))
    assert seen["content"][0]["text"] == "Unknown tool: no_such_tool"
    assert ("structuredContent" in seen) is (declared.reply_style == "full")


async def test_two_domains_of_one_task_share_the_clock_over_http_as_in_process(tmp_path):
    """Writes alternate between the servers, so that a clock of its own would give the second server other seconds."""
    parts = [domain_cases(name) for name in ("csm", "itsm")]
    tasks = [cases.task(tmp_path) for cases in parts]
    task = Task(
        task_id="hybrid",
        domain="hybrid",
        policy="",
        request="",
        tools=(),
        servers=tuple(each.servers[0] for each in tasks),
        checks=(),
        seed_root=str(tmp_path),
    )
    writes = [[(name, case.arguments) for name, case in cases.successes.items() if case.changes][:6] for cases in parts]
    calls = [call for pair in zip(*writes, strict=True) for call in pair]
    async with TestServer(make_app("csm")) as one, TestServer(make_app("itsm")) as two:
        remote = HttpGym({"csm": str(one.make_url("")), "itsm": str(two.make_url(""))})
        toolboxes = [load_toolbox("csm"), load_toolbox("itsm")]
        async with EmbeddedGym(toolboxes=toolboxes).open(task) as embedded, remote.open(task) as session:
            assert session.tools == embedded.tools
            for name, arguments in calls:
                seen = (await session.call(name, arguments)).observation
                assert seen == (await embedded.call(name, arguments)).observation
                assert await session.state_hash() == await embedded.state_hash()
            snapshot, digest = await session.snapshot(), await session.state_hash()
            await session.call(*calls[0])
            await session.restore(snapshot)
            assert await session.state_hash() == digest
            await embedded.restore(snapshot)
            name, arguments = calls[1]
            assert (await session.call(name, arguments)).text == (await embedded.call(name, arguments)).text
        await remote.close()
