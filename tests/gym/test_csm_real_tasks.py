"""Real tasks on their real seed: every scripted run ends with the outcome that its authors state."""

import pytest
from reliability_suite import Script, scripts, suite_root

from robustops.gym.embedded import EmbeddedGym
from robustops.gym.verify import verify

SCRIPTS = scripts("csm")
GYM = EmbeddedGym()

needs_suite = pytest.mark.skipif(suite_root() is None, reason="the package agentrelbench is not installed")


@needs_suite
def test_the_package_holds_the_tasks_that_are_to_be_run():
    assert len({script.task.task_id for script in SCRIPTS}) >= 19
    assert sum(script.succeeds for script in SCRIPTS) >= 19
    assert sum(not script.succeeds for script in SCRIPTS) >= 38


@needs_suite
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
async def test_a_scripted_run_ends_with_its_stated_outcome(script: Script):
    async with GYM.open(script.task) as session:
        for call in script.calls:
            result = await session.call(call.name, call.arguments)
            assert result.executed
        verdict = await verify(session, script.task, graph=None, calls=script.calls, answer=script.answer, judge=None)
    assert verdict.scored == len(script.task.checks) > 0
    assert verdict.parity is script.succeeds
