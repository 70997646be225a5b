"""What is shipped is what its table says: every file, its size and hash, and who rebuilds and compares it."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ASSETS = ROOT / "robustops" / "assets"
MOST_BYTES = 16_000_000
ROW = re.compile(
    r"^\| (\S+/\S+) \| [^|]+ \| ([\d,]+) \| ([0-9a-f]{64}) \| `(python [^`|]+)` \| (\S+) \|$", re.MULTILINE
)


def shipped() -> dict[str, bytes]:
    """Every file that is data, by its path."""
    files = [path for path in ASSETS.rglob("*") if path.is_file() and path.name != "README.md"]
    return {path.relative_to(ASSETS).as_posix(): path.read_bytes() for path in files}


def table() -> list[tuple[str, ...]]:
    return ROW.findall((ASSETS / "README.md").read_text())


def test_the_table_names_every_file_with_its_size_and_hash() -> None:
    listed = {path: (int(size.replace(",", "")), sha256) for path, size, sha256, _, _ in table()}
    assert listed == {path: (len(data), hashlib.sha256(data).hexdigest()) for path, data in shipped().items()}


def test_all_assets_together_are_at_most_16_mb() -> None:
    assert sum(path.stat().st_size for path in ASSETS.rglob("*") if path.is_file()) <= MOST_BYTES


def test_every_asset_has_a_test_that_compares_it_and_a_readme_with_its_command() -> None:
    for path, _, _, command, test in table():
        folder = (ASSETS / path).parent
        assert Path(test).name in (folder / "README.md").read_text() or folder.name == "tiny-base"
        assert (ROOT / test).is_file()
        assert command.split()[2] in (folder / "README.md").read_text()
