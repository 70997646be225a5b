"""Train and evaluate language-model agents that finish enterprise tasks and recover when tools fail."""

__version__ = "0.1.0"
