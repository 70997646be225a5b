"""The email domain of the synthetic generator."""

from __future__ import annotations

from robustops.data.synth import email_labels, email_messages, email_world
from robustops.data.synth.draft import Domain
from robustops.data.synth.email_rules import POLICY

EMAIL = Domain(
    name="email",
    server="gym-email-mcp",
    url="http://localhost:8004",
    policy=POLICY,
    templates=(*email_labels.TEMPLATES, *email_messages.TEMPLATES),
    build=email_world.build,
)
