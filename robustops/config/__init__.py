"""The typed configuration. YAML holds choices (`conf/`), `tree` holds shape, `check` refuses what cannot be.

Config objects stop at `compose`: no component below takes one.
"""

from robustops.config.check import known_keys, nearest, register, typed
from robustops.config.tree import GrpoConfig, RunConfig, ServeConfig, SftConfig

__all__ = ["GrpoConfig", "RunConfig", "ServeConfig", "SftConfig", "known_keys", "nearest", "register", "typed"]
