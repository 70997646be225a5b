"""Real itsm tasks on their real seed: every scripted run ends with the outcome that its authors state."""

import json
import logging

import pytest
from reliability_suite import Script, scripts, suite_root

from robustops.gym.embedded import EmbeddedGym
from robustops.gym.verify import verify

SCRIPTS = scripts("itsm")
GYM = EmbeddedGym()

pytestmark = pytest.mark.skipif(suite_root() is None, reason="the package agentrelbench is not installed")


def test_the_package_holds_the_tasks_that_are_to_be_run():
    assert len({script.task.task_id for script in SCRIPTS}) >= 14
    assert sum(script.succeeds for script in SCRIPTS) >= 14
    assert sum(not script.succeeds for script in SCRIPTS) >= 20


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
async def test_a_scripted_run_ends_with_its_stated_outcome(script: Script):
    async with GYM.open(script.task) as session:
        for call in script.calls:
            assert (await session.call(call.name, call.arguments)).executed, call.name
        verdict = await verify(session, script.task, graph=None, calls=script.calls, answer=script.answer, judge=None)
    assert verdict.scored == len(script.task.checks) > 0
    assert verdict.parity is script.succeeds


async def test_the_real_seed_fits_the_declared_tables(caplog):
    with caplog.at_level(logging.WARNING):
        async with EmbeddedGym().open(SCRIPTS[0].task) as session:
            reply = await session.query("SELECT COUNT(*) AS n FROM incident")
    assert reply["data"] == [{"n": 23}]
    assert "added as found" not in caplog.text


async def test_a_created_incident_is_that_of_the_live_server():
    """From the logs of a live server: id, number, defaults, caller's organisation, columns shown."""
    arguments = {
        "caller_id": "USER_002",
        "category": "hardware",
        "priority": "moderate",
        "short_description": "M1 replay incident B",
    }
    async with GYM.open(SCRIPTS[0].task) as session:
        created = json.loads((await session.call("create_incident", arguments)).text)
        stored = (await session.query("SELECT * FROM incident WHERE incident_id = 'INC_024'"))["data"][0]
    time = "2026-06-01T09:00:01.000000"
    values = {
        "incident_id": "INC_024",
        "number": "INC-000024",
        "status": "new",
        "impact": "low",
        "urgency": "low",
        "created_at": time,
        "updated_at": time,
        **arguments,
    }
    assert {name: value for name, value in created.items() if value is not None} == values
    assert len(created) == 30
    assert not created.keys() & {"org_id", "contact_type", "service_display"}
    assert (stored["org_id"], stored["contact_type"], stored["created_at"]) == ("ORG_001", None, time.replace("T", " "))
