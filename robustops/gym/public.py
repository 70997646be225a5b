"""The public tool servers: which domain each serves, under which name, on which port."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicServer:
    domain: str
    name: str
    port: int

    @property
    def url(self) -> str:
        return f"http://localhost:{self.port}"


PUBLIC_SERVERS = (
    PublicServer(domain="csm", name="sn-csm-server", port=8001),
    PublicServer(domain="teams", name="gym-teams-mcp", port=8002),
    PublicServer(domain="calendar", name="gym-calendar", port=8003),
    PublicServer(domain="email", name="gym-email-mcp", port=8004),
    PublicServer(domain="itsm", name="gym-itsm-mcp", port=8006),
    PublicServer(domain="hr", name="sn-hr-internal", port=8008),
    PublicServer(domain="drive", name="gym-google-drive-mcp", port=8009),
)
BY_DOMAIN = {server.domain: server for server in PUBLIC_SERVERS}
BY_NAME = {server.name: server for server in PUBLIC_SERVERS}
