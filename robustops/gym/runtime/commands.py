"""An image, a name and a port in, the command lines of one runtime out. Runs nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from robustops.gym.runtime.images import Image

# Some five descriptors stay open with every database; a container's default of 1,024 is gone after two hundred.
NUM_DESCRIPTORS = 65536
HOST = "127.0.0.1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """`may_fail`: clearing away what may not be there."""

    argv: tuple[str, ...]
    may_fail: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """`run` stays in the foreground for the container's whole life; `prepare` goes before, `stop` after it."""

    name: str
    port: int
    prepare: tuple[Step, ...]
    run: tuple[str, ...]
    stop: tuple[Step, ...]
    scratch: Path | None = None  # a folder of this container's own, to be made before and removed after


def docker(image: Image, name: str, port: int, folder: Path) -> Launch:
    published = f"{HOST}:{port}:{image.port}"
    limit = f"nofile={NUM_DESCRIPTORS}:{NUM_DESCRIPTORS}"
    platform = ("--platform", "linux/amd64")
    return Launch(
        name=name,
        port=port,
        prepare=(
            Step(argv=("docker", "rm", "--force", name), may_fail=True),
            Step(argv=("docker", "pull", "--quiet", *platform, image.pinned)),
        ),
        run=(
            *("docker", "run", "--rm", "--init", "--name", name, *platform),
            *("--ulimit", limit, "--publish", published, image.pinned),
        ),
        stop=(Step(argv=("docker", "stop", "--time", "5", name), may_fail=True),),
    )


def udocker(image: Image, name: str, port: int, folder: Path) -> Launch:
    """No digests and no network of its own: the newest image, moved to the port."""
    environment = [f"--env={key}={value}" for key, value in image.moved_to(port).items()]
    return Launch(
        name=name,
        port=port,
        prepare=(
            Step(argv=("udocker", "rm", name), may_fail=True),
            Step(argv=("udocker", "pull", image.latest)),
            Step(argv=("udocker", "create", f"--name={name}", image.latest)),
        ),
        run=("udocker", "run", *environment, "--workdir=/app", name, *image.command(HOST, port)),
        stop=(Step(argv=("udocker", "rm", name), may_fail=True),),
    )


def apptainer(image: Image, name: str, port: int, folder: Path) -> Launch:
    """No network of its own: moved to the port. Databases lie in a folder, as a tmpfs overlay holds 64 MiB alone."""
    environment = [part for key, value in image.moved_to(port).items() for part in ("--env", f"{key}={value}")]
    scratch = folder / name
    return Launch(
        name=name,
        port=port,
        prepare=(),
        run=(
            *("apptainer", "exec", "--containall", "--cleanenv", "--writable-tmpfs", "--pwd", "/app"),
            *("--bind", f"{scratch}:{image.data}", *environment),
            *(f"docker://{image.pinned}", *image.command(HOST, port)),
        ),
        stop=(),
        scratch=scratch,
    )


RUNTIMES: Mapping[str, Callable[[Image, str, int, Path], Launch]] = {
    "docker": docker,
    "udocker": udocker,
    "apptainer": apptainer,
}
