"""The replies of the csm tools against the schemas that a real server advertises for them; it alone has any."""

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


def test_replies_have_the_advertised_keys_in_their_order(advertised):
    for name, tool in advertised.items():
        ours, theirs = CSM.tools[name].output_schema, tool["outputSchema"]
        assert (name, ours["type"]) == (name, theirs["type"])
        keys = [list((schema.get("items") or schema)["properties"]) for schema in (ours, theirs)]
        assert (name, keys[0]) == (name, keys[1])
