"""The csm domain of the synthetic generator."""

from __future__ import annotations

from robustops.data.synth import csm_choice, csm_lookup, csm_world
from robustops.data.synth.csm_rules import POLICY
from robustops.data.synth.draft import Domain

CSM = Domain(
    name="csm",
    server="sn-csm-server",
    url="http://localhost:8001",
    policy=POLICY,
    templates=(*csm_lookup.TEMPLATES, *csm_choice.TEMPLATES),
    build=csm_world.build,
)
