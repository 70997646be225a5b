"""A stand-in for docker, udocker and apptainer: notes its arguments and, asked to run, serves a leaking container.

Run as a script with the runtime's own arguments. `FAKE_LOG` names the file of the notes, `FAKE_MODE` what goes wrong:
`dies` ends at once, `mute` never answers, `no-pull` cannot fetch an image, empty is well-behaved. A well-behaved one
runs out of descriptors after `FAKE_SEEDS` seeds.
"""

import json
import os
import re
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar


def note(what, argv):
    with open(os.environ["FAKE_LOG"], "a") as log:
        log.write(json.dumps([what, *argv]) + "\n")


class Container(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    databases: ClassVar[set[str]] = set()
    num_seeds = 0

    def do_GET(self):
        self.reply(200, {"status": "healthy", "pid": os.getpid()})

    def do_POST(self):
        body = self.body()
        if self.path == "/api/seed-database":
            Container.num_seeds += 1
            if Container.num_seeds > int(os.environ.get("FAKE_SEEDS", "1000000")):
                return self.reply(500, {"detail": "Failed to seed database: unable to open database file"})
            self.databases.add(body["database_id"])
            return self.reply(200, {"success": True})
        if self.headers.get("x-database-id", "") not in self.databases:
            return self.reply(404, {"detail": "no such database"})
        if self.path == "/api/die":
            threading.Thread(target=os._exit, args=(7,)).start()
        return self.reply(200, {"data": [{"pid": os.getpid()}], "headers": dict(self.headers)})

    def do_DELETE(self):
        self.databases.discard(self.body()["database_id"])
        self.reply(200, {"success": True})

    def body(self):
        return json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")

    def reply(self, status, value):
        content = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


def main(name, argv):
    note("call", [name, *argv])
    mode = os.environ.get("FAKE_MODE", "")
    if "pull" in argv[:1] and mode == "no-pull":
        sys.exit("manifest unknown")
    if argv[0] in ("rm", "stop"):
        sys.exit(1)  # nothing of that name
    if argv[0] not in ("run", "exec"):
        return
    if mode == "dies":
        sys.exit("exec format error")
    text = " ".join(argv)
    port = re.search(r"--publish 127\.0\.0\.1:(\d+):", text) or re.search(r"--port (\d+)", text)
    if mode == "mute":
        threading.Event().wait()
    with ThreadingHTTPServer(("127.0.0.1", int(port.group(1))), Container) as server:
        note("up", [port.group(1), str(os.getpid())])
        server.serve_forever()


if __name__ == "__main__":
    main(os.path.basename(sys.argv[1]), sys.argv[2:])
