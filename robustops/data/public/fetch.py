"""A pinned hub revision or an address in, a local folder or file out. Interrupted downloads go on where they stopped.

Knows nothing of tasks.
"""

from __future__ import annotations

import hashlib
import urllib.error
import urllib.request
from pathlib import Path

from huggingface_hub import snapshot_download
from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError, RepositoryNotFoundError

from robustops.core.errors import TaskError

OFFLINE_HINT = "on a machine without network, use source=local source.path=FOLDER with a copy"
CHUNK_BYTES = 1 << 20


def fetch_revision(repo: str, revision: str, folder: Path, *, under: str = "", endpoint: str | None = None) -> Path:
    """Download a data set's files at one revision into `folder`; files that are there already are not fetched again.

    `under`: only the files below this folder of the repository. Raises TaskError naming repository and revision.
    """
    try:
        snapshot_download(
            repo,
            repo_type="dataset",
            revision=revision,
            local_dir=folder,
            allow_patterns=f"{under}/*" if under else None,
            endpoint=endpoint,
        )
    except (HfHubHTTPError, RepositoryNotFoundError, LocalEntryNotFoundError, OSError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise TaskError(f"source: cannot fetch {repo} at revision {revision}: {reason}; {OFFLINE_HINT}") from error
    return folder / under if under else folder


def fetch_file(url: str, path: Path, *, sha256: str | None, max_bytes: int) -> Path:
    """Download one file, resuming what an earlier try left in `<path>.part`; `path` appears only when it is whole.

    Raises TaskError for an address that does not answer, a file over `max_bytes` or another hash than `sha256`.
    """
    if path.is_file() and (sha256 is None or file_sha256(path) == sha256):
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.part")
    try:
        _append_rest(url, part, max_bytes=max_bytes)
    except (urllib.error.URLError, OSError) as error:
        raise TaskError(f"source: cannot fetch {url}: {error}; run it again to go on, or {OFFLINE_HINT}") from error
    found = file_sha256(part)
    if sha256 is not None and found != sha256:
        part.unlink()
        raise TaskError(f"source: {url}: hash {found[:12]}, expected {sha256[:12]}; the file there has changed")
    part.replace(path)
    return path


def _append_rest(url: str, part: Path, *, max_bytes: int) -> None:
    start = part.stat().st_size if part.is_file() else 0
    request = urllib.request.Request(url, headers={"Range": f"bytes={start}-"} if start else {})
    try:
        answer = urllib.request.urlopen(request, timeout=60)
    except urllib.error.HTTPError as error:
        if error.code == 416:  # nothing is left to send: the part is whole
            return
        raise
    with answer, part.open("ab" if answer.status == 206 else "wb") as file:
        wanted = file.tell() + int(answer.headers.get("Content-Length", 0))
        while chunk := answer.read(CHUNK_BYTES):
            file.write(chunk)
            if file.tell() > max_bytes:
                raise TaskError(
                    f"source: {url}: larger than {max_bytes >> 20} MiB; raise source.max_mib if it is right"
                )
        if file.tell() < wanted:  # reading in chunks hides a connection that ended early
            raise OSError(f"the connection ended after {file.tell()} of {wanted} bytes")


def file_sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def tree_sha256(files: list[Path], root: Path) -> str:
    """One hash over names and contents, in the order of the names; for a flat folder it is the publishers' own rule."""
    digest = hashlib.sha256()
    for path in sorted(files):
        digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()
