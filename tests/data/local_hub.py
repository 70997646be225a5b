"""A hub and a file server on one local port: data sets at revisions, plain files, byte ranges, failures on demand."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote


class LocalHub:
    """`files`: content by path, `<repo>@<revision>/<name>` for data sets. `cut`: bytes sent before a break, by path."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self.files = dict(files)
        self.cut: dict[str, int] = {}
        self.fetched: list[tuple[str, str]] = []  # path and Range header
        self.url = ""

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        path = unquote(handler.path).split("?")[0].lstrip("/")
        parts = path.split("/")
        if parts[:2] == ["api", "datasets"]:
            self._listing(handler, "/".join(parts[2:4]), parts[5])
        elif parts[0] == "datasets":
            self._file(handler, f"{parts[1]}/{parts[2]}@{parts[4]}/{'/'.join(parts[5:])}", commit=parts[4])
        else:
            self._file(handler, path, commit="")

    def _listing(self, handler: BaseHTTPRequestHandler, repo: str, revision: str) -> None:
        start = f"{repo}@{revision}/"
        names = [name.removeprefix(start) for name in self.files if name.startswith(start)]
        if not names:
            handler.send_response(404)
            handler.send_header("X-Error-Code", "RevisionNotFound")
            handler.end_headers()
            return
        if "/tree/" in handler.path:
            content = [
                {"type": "file", "path": name, "size": len(self.files[start + name]), "oid": "0"} for name in names
            ]
        else:
            content = {"id": repo, "sha": revision, "siblings": [{"rfilename": name} for name in names]}
        self._send(handler, json.dumps(content).encode(), {"Content-Type": "application/json"})

    def _file(self, handler: BaseHTTPRequestHandler, path: str, *, commit: str) -> None:
        content = self.files.get(path)
        if content is None:
            handler.send_error(404)
            return
        wanted = handler.headers.get("Range", "")
        if handler.command == "GET":
            self.fetched.append((path, wanted))
        headers = {"ETag": f'"{hashlib.sha1(content).hexdigest()}"', "X-Repo-Commit": commit}
        start = int(wanted.removeprefix("bytes=").split("-")[0] or 0) if wanted else 0
        if start and start >= len(content):
            handler.send_error(416)
            return
        self._send(handler, content[start:], headers, status=206 if start else 200, cut=self.cut.pop(path, None))

    def _send(self, handler, content: bytes, headers: Mapping[str, str], *, status: int = 200, cut: int | None = None):
        handler.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(content))}.items():
            handler.send_header(name, value)
        handler.end_headers()
        if handler.command == "GET":
            handler.wfile.write(content[:cut])
        if cut is not None:
            handler.connection.close()


@contextmanager
def local_hub(files: Mapping[str, bytes]) -> Iterator[LocalHub]:
    hub = LocalHub(files)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.0"

        def do_GET(self) -> None:
            hub.answer(self)

        do_HEAD = do_GET

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    hub.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
