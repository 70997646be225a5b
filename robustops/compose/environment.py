"""What jobs take from the machine around them: secrets by variable, a temporary folder of this user's own. Light."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from robustops.core.errors import ConfigError


def own_temporary_folder() -> Path:
    """Where this user's processes leave word for one another on this machine."""
    return Path(tempfile.gettempdir()) / f"robustops-{os.getuid()}"


def secret_of(variable: str, key: str) -> str | None:
    """The environment variable's value; None where no variable is named. Raises ConfigError for an empty one."""
    if not variable:
        return None
    if not os.environ.get(variable):
        raise ConfigError(f"{key}={variable}: this environment variable is not set; export {variable}=...")
    return os.environ[variable]
