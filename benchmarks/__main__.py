"""Run the benchmarks one after another, each in a process of its own: `python -m benchmarks [NAME ...]`.

Every one measures its baseline in the same run and appends a row to benchmarks/results.jsonl.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
# what the benchmarks share or call
PARTS = {"__init__", "__main__", "advantages_measured", "csm", "naive", "rollout_work", "served", "table"}
NAMES = sorted(path.stem for path in FOLDER.glob("*.py") if path.stem not in PARTS)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"which to run: {', '.join(NAMES)} (default: all)")
    wanted = parser.parse_args().names or NAMES
    if unknown := [name for name in wanted if name not in NAMES]:
        print(f"error: no benchmark {unknown[0]!r}; there are {', '.join(NAMES)}", file=sys.stderr)
        return 2
    failed = []
    for number, name in enumerate(wanted, start=1):
        print(f"[{number}/{len(wanted)}] {name}", flush=True)
        if subprocess.run([sys.executable, str(FOLDER / f"{name}.py")], cwd=FOLDER.parent, check=False).returncode:
            failed.append(name)
    if failed:
        print(f"error: failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
