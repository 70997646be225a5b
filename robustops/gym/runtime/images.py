"""The images of the public tool servers: what to run, on which port it listens, and how it is moved to another.

A server's MCP side calls its own REST side over HTTP. Where the container has no network of its own, the port has to
change, and `environment` tells the one side where the other one went.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

REPOSITORY = "shivakrishnareddyma225/enterpriseops-gym-mcp-"
_OWN_URL = "http://127.0.0.1:{port}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """`environment`: values with `{port}` in place of the port. `data`: where the container keeps its databases."""

    domain: str
    digest: str
    port: int = 8005
    app: str = "main:app"
    data: str = "/app/mcp_databases"
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def pinned(self) -> str:
        return f"{REPOSITORY}{self.domain}@sha256:{self.digest}"

    @property
    def latest(self) -> str:
        """For a runtime that cannot name a digest."""
        return f"{REPOSITORY}{self.domain}:latest"

    def command(self, host: str, port: int) -> tuple[str, ...]:
        """The server's own start, on another port."""
        return ("python", "-m", "uvicorn", self.app, "--host", host, "--port", str(port))

    def moved_to(self, port: int) -> dict[str, str]:
        return {name: value.format(port=port) for name, value in self.environment.items()}


IMAGES = {
    image.domain: image
    for image in (
        Image(
            domain="csm",
            digest="eaa456ac9aa85728426e7d3813a0bbca0949d6a8695be30e26f03894e6e6b189",
            data="/app/databases",
            environment={"API_BASE_URL": _OWN_URL},
        ),
        Image(
            domain="teams",
            digest="602655e46f6501885540c36dc9b12114cb173c75063d7f25c17ed0652695fa78",
            environment={"API_PORT": "{port}"},
        ),
        Image(
            domain="calendar",
            digest="994c5421a6dd065861bc7f813a177f6d408875e9df60fe8d012959bc4510da02",
            port=8003,
            environment={"API_PORT": "{port}"},
        ),
        Image(
            domain="email",
            digest="69c2081fe4ab0962b86233f9fb52b307b8ad0019f6746ba64ce75851036201cd",
            environment={"API_PORT": "{port}"},
        ),
        Image(
            domain="itsm",
            digest="a234ae3fb7cee196ba25e6b9957969dea829919b6e8271dddae128f065aaf39f",
            environment={"ITSM_API_BASE_URL": _OWN_URL},
        ),
        Image(
            domain="hr",
            digest="1ea1c1d64d4be35e8062e56f00b8318e9e6c09289cfa56bcfd0595bfa59ac64d",
            environment={"HR_API_BASE_URL": _OWN_URL},
        ),
        Image(
            domain="drive",
            digest="3475962fcf6da7675e194dbf138de01fa3e96134a302ad47316e4111a5e63f32",
            app="app.main:app",
            environment={
                "FASTAPI_BASE_URL": _OWN_URL,
                "MCP_SERVER_HOST": "127.0.0.1",
                "MCP_SERVER_PORT": "{port}",
            },
        ),
    )
}
