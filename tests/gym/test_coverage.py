"""Every tool of every embedded domain: advertised as the public server advertises it, and executed both ways."""

import json

import pytest
from executed import execute
from tool_cases import domain_cases

from robustops.gym.domains import FOLDERS, load_domain
from robustops.gym.public import BY_DOMAIN

# What a schema says beside its prose: an argument's kind and its bounds.
KINDS = ("type", "enum", "oneOf", "anyOf")
BOUNDS = ("minLength", "maxLength", "pattern", "format", "minimum", "maximum", "minItems", "maxItems", "default")


@pytest.fixture(params=FOLDERS)
def name(request):
    return request.param


@pytest.fixture
def snapshot(name, shared):
    path = shared / "eog" / "tools" / f"{name}.json"
    if not path.is_file():
        pytest.skip(f"{path.name}: the schemas of this server are not beside the checkout")
    return json.loads(path.read_text())["tools"]


@pytest.fixture
def advertised(snapshot):
    return {tool["name"]: {"description": tool["description"], **tool["inputSchema"]} for tool in snapshot}


def outline(schema, words):
    """The words of a schema and of the schemas inside it; enumerations and required names as sets."""
    kept = {word: schema[word] for word in words if word in schema}
    for word in ("enum", "type"):
        if isinstance(kept.get(word), list):
            kept[word] = frozenset(kept[word])
    if "minLength" in kept and "enum" in schema:
        del kept["minLength"]  # says nothing beside an enumeration, and the servers are not consistent about it
    if "required" in schema:
        kept["required"] = frozenset(schema["required"])
    if "items" in schema:
        kept["items"] = outline(schema["items"], words)
    if "properties" in schema:
        kept["properties"] = {name: outline(inner, words) for name, inner in schema["properties"].items()}
    return kept


def outlines(schemas, words):
    return {name: outline({"properties": {}, "required": [], **schema}, words) for name, schema in schemas.items()}


def declared(name):
    return {tool.name: {"description": tool.doc, **tool.input_schema} for tool in load_domain(name).tools.values()}


def test_every_public_server_is_embedded_with_512_tools_in_all():
    assert set(FOLDERS) == set(BY_DOMAIN)
    assert sum(len(load_domain(name).tools) for name in FOLDERS) == 512


def test_the_tools_are_those_of_the_server_in_its_order(name, advertised):
    assert list(load_domain(name).tools) == list(advertised)


def test_parameters_have_the_advertised_types_and_enumerations_and_the_same_are_required(name, advertised):
    ours, theirs = outlines(declared(name), KINDS), outlines(advertised, KINDS)
    assert {tool: ours.get(tool) for tool in theirs} == theirs


def test_parameters_have_the_advertised_order_bounds_formats_and_defaults(name, advertised):
    ours, theirs = outlines(declared(name), BOUNDS), outlines(advertised, BOUNDS)
    assert {tool: ours.get(tool) for tool in theirs} == theirs
    assert {tool: list(schema["properties"]) for tool, schema in ours.items()} == {
        tool: list(schema.get("properties", ())) for tool, schema in theirs.items()
    }


def test_schemas_of_replies_are_advertised_where_the_server_does_so(name, snapshot):
    ours = {tool.name for tool in load_domain(name).tools.values() if tool.output_schema is not None}
    assert ours == {tool["name"] for tool in snapshot if tool.get("outputSchema") is not None}


def test_every_description_is_our_own(name, advertised):
    """What a word or two say can be said in one way only."""
    for tool, schema in declared(name).items():
        theirs = descriptions(advertised[tool])
        assert schema["description"], tool
        assert [text for text in descriptions(schema) if text in theirs and len(text) >= 20] == []


def descriptions(schema):
    """Every description inside a schema, its tool's own where the server gives it."""
    inner = schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ()
    own = schema.get("description") if isinstance(schema, dict) else None
    return ([own] if isinstance(own, str) else []) + [text for part in inner for text in descriptions(part)]


async def test_every_tool_is_executed_with_success_and_with_a_refusal(name, tmp_path, record_property):
    """Each write shows the stated row difference and no other, each read and each refusal leaves the rows alone."""
    cases = domain_cases(name)
    tools = load_domain(name).tools
    assert cases.successes.keys() | cases.refusals.keys() <= tools.keys()
    executed = await execute(cases, tmp_path)
    record_property("executed_tools", executed.line)
    assert executed.faults == []
    assert executed.succeeded == executed.refused == tools.keys()
