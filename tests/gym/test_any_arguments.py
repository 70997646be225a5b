"""Whatever a model sends to whatever tool of a domain is answered, and the digest stays that of the contents."""

import asyncio
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tool_cases import domain_cases

from robustops.gym.database import Database
from robustops.gym.domains import FOLDERS, load_domain
from robustops.gym.embedded import EmbeddedGym
from robustops.gym.snapshot import unpack

GYM = EmbeddedGym()
JUNK = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=8)
    | st.sampled_from([10**30, "\ud800", "%", "'", "me", "primary", "2026-13-01T99:00:00Z", "9999-12-31T23:59:59Z", -1])
)
TIMES = ("2026-07-06T09:00:00Z", "2026-07-06T10:00:00", "2026-07-06", "0001-01-01T00:00:00+14:00", "1e400", "")


def from_schema(schema, words):
    """Values that the schema allows, and now and then others. `words`: texts that occur in the seed and its cases."""
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    match schema.get("type"):
        case "string":
            return st.sampled_from(words) | st.sampled_from(TIMES) | st.text(max_size=6)
        case "integer":
            return st.integers(schema.get("minimum", -3), schema.get("maximum", 300))
        case "number":
            return st.floats(0, 100)
        case "boolean":
            return st.booleans()
        case "array":
            return st.lists(from_schema(schema.get("items", {}), words), max_size=3)
        case "object" if schema.get("properties"):
            required = set(schema.get("required", ()))
            fields = {name: from_schema(inner, words) for name, inner in schema["properties"].items()}
            return st.fixed_dictionaries(
                {name: value for name, value in fields.items() if name in required},
                optional={name: value for name, value in fields.items() if name not in required},
            )
        case "object":
            return st.dictionaries(st.text(max_size=3), JUNK, max_size=2)
    return JUNK


def texts_in(value):
    if isinstance(value, dict):
        return {text for inner in value.values() for text in texts_in(inner)}
    if isinstance(value, list | tuple):
        return {text for inner in value for text in texts_in(inner)}
    return {value} if isinstance(value, str) else set()


def nested(innermost, name, depth):
    value = innermost
    for _ in range(depth):
        value = {**innermost, name: [value]}
    return value


@st.composite
def calls(draw, domain, known, words):
    """A tool with the arguments of its case, some of them replaced by what its schema allows or by anything."""
    name = draw(st.sampled_from(sorted(domain.tools)))
    arguments = dict(draw(st.sampled_from(known[name])))
    for param in domain.tools[name].params:
        match draw(st.integers(0, 5)):
            case 0 | 1:
                arguments[param.name] = draw(from_schema(param.schema, words))
            case 2:
                arguments[param.name] = draw(JUNK)
            case 3:
                arguments.pop(param.name, None)
    return name, arguments


@pytest.mark.parametrize("name", FOLDERS)
def test_every_call_is_answered_and_the_digest_follows(name, tmp_path, sized):
    domain, cases = load_domain(name), domain_cases(name)
    task = cases.task(tmp_path)
    known = {tool: [cases.successes[tool].arguments, cases.refusals[tool].arguments] for tool in domain.tools}
    words = sorted(texts_in([*known.values()]))

    async def scenario(history):
        async with GYM.open(task) as session:
            for tool, arguments in history:
                result = await session.call(tool, arguments)
                assert isinstance(json.loads(result.observation), dict)
            (server,) = unpack(await session.snapshot(), expected=domain.servers[:1]).servers
            fresh = Database()
            fresh.load(server.content, {})
            assert fresh.digests == server.digests
            fresh.close()

    @given(st.lists(calls(domain, known, words), min_size=1, max_size=4))
    @settings(max_examples=sized(200), suppress_health_check=list(HealthCheck))
    def played(history):
        asyncio.run(scenario(history))

    played()


@pytest.mark.parametrize(
    ("name", "tool", "arguments"),
    [
        ("email", "list_messages", {"userId": "me", "q": "(" * 5000}),
        ("email", "list_messages", {"userId": "me", "q": "word " * 5000}),
        ("email", "create_draft", {"message": {"payload": nested({"headers": [{"name": "To"}]}, "parts", 900)}}),
        ("calendar", "create_event", {"extendedProperties": {"private": nested({}, "a", 900)}}),
    ],
)
async def test_endless_arguments_are_refused_and_leave_no_trace(name, tool, arguments, tmp_path):
    cases = domain_cases(name)
    async with GYM.open(cases.task(tmp_path)) as session:
        before = await session.state_hash()
        result = await session.call(tool, {**cases.successes[tool].arguments, **arguments})
        assert any(words in result.text for words in ("nested too deeply", "terms, at most", "recursion"))
        assert await session.state_hash() == before
