"""The declared tools against the schemas that a real csm server advertises: names, types, enumerations, reply keys."""

import json
from pathlib import Path

import pytest

from robustops.gym.domains import load_domain

ADVERTISED = Path(__file__).resolve().parents[2] / ".." / "shared" / "eog" / "tools" / "csm.json"
CSM = load_domain("csm")


@pytest.fixture(scope="module")
def advertised():
    if not ADVERTISED.is_file():
        pytest.skip("the advertised schemas are not beside this checkout")
    return {tool["name"]: tool for tool in json.loads(ADVERTISED.read_text())["tools"]}


def shape(schema):
    """A parameter's schema without its prose; enumerations as sets."""
    kept = {name: value for name, value in schema.items() if name not in ("description", "title")}
    if "enum" in kept:
        kept["enum"] = frozenset(kept["enum"])
    if "items" in kept:
        kept["items"] = shape(kept["items"])
    return kept


def without_trivial_bounds(schema):
    """A minimum length says nothing beside an enumeration, and the servers are not consistent about it."""
    return {name: value for name, value in schema.items() if not (name == "minLength" and "enum" in schema)}


def test_the_tools_are_the_advertised_ones_in_their_order(advertised):
    assert list(CSM.tools) == list(advertised)
    assert len(CSM.tools) == 89


def test_parameters_have_the_advertised_names_and_types(advertised):
    for name, tool in advertised.items():
        ours = {
            param: without_trivial_bounds(shape(s)) for param, s in CSM.tools[name].input_schema["properties"].items()
        }
        theirs = {param: without_trivial_bounds(shape(s)) for param, s in tool["inputSchema"]["properties"].items()}
        assert (name, ours) == (name, theirs)


def test_the_same_parameters_are_required(advertised):
    for name, tool in advertised.items():
        ours = CSM.tools[name].input_schema.get("required", [])
        assert (name, set(ours)) == (name, set(tool["inputSchema"].get("required", [])))


def test_replies_have_the_advertised_keys_in_their_order(advertised):
    for name, tool in advertised.items():
        ours, theirs = CSM.tools[name].output_schema, tool["outputSchema"]
        assert (name, ours["type"]) == (name, theirs["type"])
        keys = [list((schema.get("items") or schema)["properties"]) for schema in (ours, theirs)]
        assert (name, keys[0]) == (name, keys[1])


def test_every_description_is_our_own(advertised):
    for name, tool in advertised.items():
        assert CSM.tools[name].doc
        assert CSM.tools[name].doc != tool["description"]
        theirs = {param: schema.get("description") for param, schema in tool["inputSchema"]["properties"].items()}
        for param in CSM.tools[name].params:
            assert param.schema.get("description") != theirs[param.name] or len(theirs[param.name]) < 20
