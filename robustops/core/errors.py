"""The exception tree. `UserError` is somebody's mistake: one line, exit 2. The rest is the world's.

    RobustopsError
    |- UserError            what, where, got, expected, next step
    |  |- ConfigError       a key, group or value of the configuration
    |  |- TaskError         a task file or data-set row
    |  |- SplitError        a split manifest, or a case outside its part
    |  |- ManifestError     a fault manifest
    |  |- SeedError         a seed database
    |  `- TableError        a run folder or result table
    |- GymError             a tool server that does not answer as agreed
    |  |- GymTimeout
    |  |- GymUnavailable
    |  `- SnapshotUnsupported
    |- PolicyError          an engine or endpoint that produced no usable sample
    `- SyncError            trainer and engine do not hold the same weights

Every class keeps one message argument, so that instances cross process borders by pickle.
"""


def first_line(error: BaseException) -> str:
    """The first line of its text, or its name where it has none: libraries write pages, a report has one line."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


class RobustopsError(Exception):
    """Root of every error this project raises on purpose."""


class UserError(RobustopsError):
    """A mistake that the person at the keyboard can mend; its text is the whole report."""


class ConfigError(UserError):
    pass


class TaskError(UserError):
    pass


class SplitError(UserError):
    pass


class ManifestError(UserError):
    pass


class SeedError(UserError):
    pass


class TableError(UserError):
    pass


class GymError(RobustopsError):
    """Infrastructure: the episode is no evidence about the policy."""


class GymTimeout(GymError):
    pass


class GymUnavailable(GymError):
    pass


class SnapshotUnsupported(GymError):
    pass


class PolicyError(RobustopsError):
    pass


class SyncError(RobustopsError):
    pass
