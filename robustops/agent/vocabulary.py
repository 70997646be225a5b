"""Which tokenizer token ids belong to. A model folder in, a fingerprint out. Light: it loads no tokenizer."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from robustops.core.errors import ConfigError


def vocabulary_sha256(folder: Path) -> str:
    """Hash over every (token, id) of the folder's tokenizer, so that equal hashes mean that ids stand for equal text.

    Raises ConfigError for a folder without a readable tokenizer.json.
    """
    path = folder / "tokenizer.json"
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        tokens = dict(content["model"]["vocab"])
        tokens |= {token["content"]: token["id"] for token in content["added_tokens"]}
    except FileNotFoundError as error:
        raise ConfigError(f"{path}: no such file; save the tokenizer there, or write model.path=FOLDER") from error
    except (KeyError, TypeError, ValueError) as error:
        raise ConfigError(f"{path}: holds no vocabulary of token and id ({type(error).__name__}: {error})") from error
    listed = json.dumps(sorted(tokens.items()), ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(listed.encode()).hexdigest()
