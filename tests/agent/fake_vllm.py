"""A server that answers as vLLM's does in development mode, for tests of what talks to one."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from safetensors.torch import load_file

from robustops.agent.vllm_worker import METHOD


class FakeVllm:
    """Answers as a vLLM server in development mode; `version` and `weights` are what it holds."""

    def __init__(self) -> None:
        self.version, self.weights, self.resets = "default", None, 0
        self.bodies, self.calls = [], []
        self.statuses: list[int] = []  # of the next completions; then 200
        self.unhealthy_polls = 0
        self.hang_ups = 0  # further connections that get no answer, as from a process that is gone
        self.ignores_updates, self.empties_cache, self.rpc_status = False, True, 200
        self.choice = {"token_ids": [5, 6], "logprobs": {"token_logprobs": [-0.5, -0.25]}, "finish_reason": "stop"}
        self.http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.url = f"http://127.0.0.1:{self.http.server_port}"
        threading.Thread(target=self.http.serve_forever, args=(0.01,), daemon=True).start()

    def restart(self) -> None:
        self.version, self.weights = "default", None

    def answer(self, path: str, body: dict) -> tuple[int, dict]:
        self.calls.append(path)
        match path.split("?")[0]:
            case "/health":
                if self.unhealthy_polls:
                    self.unhealthy_polls -= 1
                    return 503, {}
                return 200, {}
            case "/collective_rpc" if self.rpc_status != 200:
                return self.rpc_status, {"detail": "Not Found"}
            case "/collective_rpc":
                assert body["method"] == METHOD
                self.weights = load_file(f"{body['kwargs']['folder']}/model.safetensors")
            case "/reset_prefix_cache":
                self.resets += 1
                return 200, {"success": self.empties_cache}
            case "/update_weight_version":
                self.version = self.version if self.ignores_updates else body["new_version"]
            case "/weight_info":
                return 200, {"weight_version": self.version}
            case "/v1/completions":
                self.bodies.append(body)
                if self.statuses and (status := self.statuses.pop(0)) != 200:
                    if status == 500:
                        self.restart()
                    return status, {"error": "gone"}
                return 200, {"choices": [self.choice]}
        return 200, {}

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        fake = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.do_POST()

            def do_POST(self) -> None:
                if fake.hang_ups:
                    fake.hang_ups -= 1
                    return
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                status, answer = fake.answer(self.path, json.loads(body or b"{}"))
                content = json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, format: str, *args: object) -> None:
                pass

        return Handler
