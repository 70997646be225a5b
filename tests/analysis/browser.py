"""Headless Chromium for tests: open a page from disk, run JavaScript in it, take its picture. Loopback only."""

from __future__ import annotations

import base64
import itertools
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import aiohttp

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--remote-debugging-port=0",
    "--no-first-run",
    "--disable-dev-shm-usage",
)


def find_chromium() -> str | None:
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


class Browser:
    """`async with Browser(path) as browser`: one page; `errors` collects what its scripts threw."""

    def __init__(self, program: str, *, width: int = 1500, height: int = 1000) -> None:
        self._profile = tempfile.TemporaryDirectory(prefix="chromium", ignore_cleanup_errors=True)
        size = f"--window-size={width},{height}"
        self._process = subprocess.Popen(
            [program, *FLAGS, size, f"--user-data-dir={self._profile.name}", "about:blank"],
            stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            text=True,
        )
        self._numbers = itertools.count(1)
        self.errors: list[str] = []

    async def __aenter__(self) -> Browser:
        assert self._process.stderr is not None
        line = next(text for text in self._process.stderr if "DevTools listening on" in text)
        port = line.split("ws://", 1)[1].split("/", 1)[0]
        self._http = aiohttp.ClientSession()
        async with self._http.get(f"http://{port}/json/list") as response:
            pages = [page for page in await response.json() if page["type"] == "page"]
        self._socket = await self._http.ws_connect(pages[0]["webSocketDebuggerUrl"], max_msg_size=0)
        await self._send("Runtime.enable")
        await self._send("Page.enable")
        return self

    async def __aexit__(self, *failure: object) -> None:
        await self._socket.close()
        await self._http.close()
        self._process.terminate()
        self._process.wait(10)
        assert self._process.stderr is not None
        self._process.stderr.close()
        self._profile.cleanup()

    async def _send(self, method: str, **params: Any) -> dict[str, Any]:
        number = next(self._numbers)
        await self._socket.send_json({"id": number, "method": method, "params": params})
        while True:
            message = await self._socket.receive_json(timeout=30)
            if message.get("method") == "Runtime.exceptionThrown":
                self.errors.append(str(message["params"]["exceptionDetails"]))
            if message.get("id") == number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]

    async def open(self, page: Path, fragment: str = "") -> None:
        """Load a page; a change of the fragment alone is no load, so an empty page comes between."""
        for url in ("about:blank", page.resolve().as_uri() + fragment):
            await self._send("Page.navigate", url=url)
        await self.run("new Promise((done) => document.readyState === 'complete' ? done() : (window.onload = done))")

    async def run(self, script: str) -> Any:
        """The value of a JavaScript expression, promises awaited."""
        found = await self._send("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in found:
            raise RuntimeError(f"{script}: {found['exceptionDetails']}")
        return found["result"].get("value")

    async def until(self, condition: str) -> None:
        """Wait, frame by frame, until a JavaScript condition holds; at most ten seconds."""
        await self.run(
            "new Promise((done, fail) => { const end = performance.now() + 10000;"
            f" const look = () => ({condition}) ? done() : performance.now() > end ? fail(new Error('waited in vain'))"
            " : requestAnimationFrame(look); look(); })"
        )

    async def picture(self, path: Path) -> None:
        shot = await self._send("Page.captureScreenshot", format="png")
        path.write_bytes(base64.b64decode(shot["data"]))
