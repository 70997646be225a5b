"""The mark of a value that has no default and must be given."""

from typing import Any

REQUIRED: Any = "???"  # OmegaConf's word for it
