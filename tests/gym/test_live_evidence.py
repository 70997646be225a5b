"""What was seen at live csm and itsm servers, asked of ours on the same real seeds: replays, surfaces, isolation."""

import json

import pytest
from aiohttp import ClientSession
from aiohttp.test_utils import TestServer
from reliability_suite import scripts, suite_root

from robustops.gym.domains import load_domain, load_toolbox
from robustops.gym.embedded import EmbeddedGym
from robustops.gym.seed import build_seed
from robustops.gym.seeds import SeedStore, read_seed
from robustops.gym.server import make_app

SEEDS = SeedStore()
GYM = EmbeddedGym(seeds=SEEDS)
TIMES_OF_REPLIES = {"assigned_at"}  # no column, but a time

pytestmark = pytest.mark.skipif(suite_root() is None, reason="the package agentrelbench is not installed")


@pytest.fixture(scope="module")
def real_tasks():
    return {domain: scripts(domain)[0].task for domain in ("csm", "itsm")}


@pytest.fixture
def evidence(shared):
    return lambda name: json.loads((shared / "eog" / "evidence_live" / f"{name}.json").read_text())


def times(domain):
    """The columns that a wall clock writes, whichever table they are in."""
    return {name for table in load_domain(domain).tables.values() for name in table.volatile} | TIMES_OF_REPLIES


def without(reply, names):
    return {name: value for name, value in reply.items() if name not in names}


@pytest.mark.parametrize("domain", ["csm", "itsm"])
def test_the_tools_that_write_are_those_that_were_seen_to(domain, evidence):
    toolbox = load_toolbox(domain)
    seen = {entry["name"]: entry["class"] for entry in evidence("test1_classification")[domain]["classified"]}
    ours = {name: "state-changing" if toolbox[name].is_write else "read-only" for name in toolbox.domain.tools}
    assert ours == seen


@pytest.mark.parametrize("domain", ["csm", "itsm"])
async def test_replayed_calls_get_the_live_replies_but_for_their_times(domain, real_tasks, evidence):
    live = evidence(f"test3_replay_{domain}")["replicas"]["R1"]["call_log"]
    async with GYM.open(real_tasks[domain]) as session:
        for call in live:
            reply = json.loads((await session.call(call["tool"], call["arguments"])).text)
            assert reply.keys() == call["parsed_result"].keys(), call["tool"]
            assert without(reply, times(domain)) == without(call["parsed_result"], times(domain)), call["tool"]


@pytest.mark.parametrize("domain", ["csm", "itsm"])
async def test_what_varied_between_live_replays_is_what_our_clock_writes(domain, real_tasks, evidence):
    """There the wall clock made replays differ in these columns alone; here nothing differs."""
    recorded = evidence(f"test3_replay_{domain}")
    varying = {(entry["table"], entry["column"]) for entry in recorded["varying_columns"].values()}
    declared = {(name, column) for name, table in load_domain(domain).tables.items() for column in table.volatile}
    assert varying <= declared
    hashes = set()
    for _ in range(2):
        async with GYM.open(real_tasks[domain]) as session:
            for call in recorded["replicas"]["R1"]["call_log"]:
                await session.call(call["tool"], call["arguments"])
            hashes.add(await session.state_hash())
    assert len(hashes) == 1


@pytest.mark.parametrize("domain", ["csm", "itsm"])
def test_one_seed_gives_one_database(domain, real_tasks):
    sql = read_seed(suite_root(), real_tasks[domain].servers[0].seed_file)
    first, second = (build_seed(load_domain(domain), sql) for _ in range(2))
    assert (first.database, first.digests) == (second.database, second.digests)
    assert (first.added_columns, first.added_tables) == ((), ())


async def test_the_real_csm_seed_has_the_rows_that_the_live_server_counted(real_tasks, evidence):
    surface, repeated = evidence("test4_sql_runner_surface"), evidence("test2_seed_repeatability")
    async with GYM.open(real_tasks["csm"]) as session:
        listed = await session.query("SELECT name FROM sqlite_master WHERE type = 'table'")
        names = {row["name"] for row in listed["data"]}
        counts = {name: (await session.query(f"SELECT COUNT(*) AS n FROM {name}"))["data"][0]["n"] for name in names}
    assert counts == surface["row_counts"]
    assert sum(counts.values()) == repeated["total_rows_db1"]


async def test_the_sql_runner_limits_refuses_and_joins_as_the_live_one_did(real_tasks, evidence):
    surface = evidence("test4_sql_runner_surface")
    unlimited, limited = surface["implicit_limit_truncation"], surface["explicit_limit_override"]
    async with GYM.open(real_tasks["csm"]) as session:
        reply = await session.query(unlimited["query_sent"])
        assert reply["query"] == unlimited["echoed_query_from_server"]
        assert len(reply["data"]) == unlimited["rows_returned_without_explicit_limit"]
        assert len((await session.query(limited["query_sent"]))["data"]) == limited["rows_returned"]
        assert await session.query("PRAGMA table_info(user)") == {"detail": "Only read-only SELECT queries are allowed"}
        joined = await session.query(
            "SELECT c.case_id, c.state, u.first_name, u.last_name FROM customer_case c "
            "LEFT JOIN user u ON u.user_id = c.assigned_to ORDER BY c.case_id LIMIT 5"
        )
        assert joined["data"] == surface["join_sample"]
        grouped = await session.query(
            "SELECT a.name AS account_name, COUNT(*) AS case_count FROM customer_case c "
            "JOIN account a ON a.account_id = c.account_id JOIN contract k ON k.account_id = a.account_id "
            "GROUP BY a.account_id ORDER BY a.account_id LIMIT 5"
        )
        assert grouped["data"] == surface["three_table_join_sample"]


async def test_one_connection_writes_to_two_databases_call_by_call_without_mixing(real_tasks, evidence):
    recorded = evidence("test5_isolation")
    task = real_tasks["csm"]
    sql = read_seed(suite_root(), task.servers[0].seed_file)
    caller = {name.strip(): value for name, value in task.servers[0].context.items()}
    names = {recorded["db_a"]: "A", recorded["db_b"]: "B"}
    async with TestServer(make_app("csm", seeds=SEEDS), host="127.0.0.1") as server, ClientSession() as client:

        async def post(path, body, headers=None):
            async with client.post(server.make_url(path), json=body, headers=headers) as answer:
                assert answer.status == 200, await answer.text()
                return await answer.json()

        for database_id in names:
            await post("/api/seed-database", {"database_id": database_id, "sql_content": sql})
        for number, call in enumerate(recorded["call_log"]):
            params = {"name": call["tool"], "arguments": call["arguments"]}
            body = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
            answer = await post("/mcp", body, {**caller, "x-database-id": call["routed_to_db_id"]})
            reply = json.loads(answer["result"]["content"][0]["text"])
            assert without(reply, times("csm")) == without(call["parsed_result"], times("csm"))
        query = "SELECT COUNT(*) AS n, SUM(short_description LIKE 'ISOLATION TEST%') AS ours FROM customer_case"
        for database_id, name in names.items():
            body = {"query": query, "database_id": database_id}
            counted = await post("/api/sql-runner", body, {**caller, "x-database-id": database_id})
            assert counted["data"] == [{"n": recorded["customer_case_row_count_after"][name], "ours": 1}]
