"""What jobs take from the machine around them: secrets by variable, folders. Light: serving needs nothing else."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from robustops.core.errors import ConfigError
from robustops.gym.tool_snapshots import Advertised, read_tool_snapshots


def own_temporary_folder() -> Path:
    """Where this user's processes leave word for one another on this machine.

    Raises ConfigError where somebody else was there first: on a shared machine anyone may make that name.
    """
    folder = Path(tempfile.gettempdir()) / f"robustops-{os.getuid()}"
    if folder.is_symlink() or (folder.exists() and folder.stat().st_uid != os.getuid()):
        raise ConfigError(f"{folder}: is a link or of another user; set TMPDIR to a folder of your own")
    return folder


def secret_of(variable: str, key: str) -> str | None:
    """The environment variable's value; None where no variable is named. Raises ConfigError for an empty one."""
    if not variable:
        return None
    if not os.environ.get(variable):
        raise ConfigError(f"{key}={variable}: this environment variable is not set; export {variable}=...")
    return os.environ[variable]


def tool_snapshots(folder: str | None) -> Advertised:
    """What servers told of their tools, from the folder that the configuration names. Raises ConfigError."""
    return read_tool_snapshots(Path(folder).expanduser().absolute()) if folder else {}
