"""A chat-completions endpoint on loopback: scripted replies out, and everything it was sent remembered."""

import asyncio
from contextlib import asynccontextmanager

from aiohttp import web
from aiohttp.test_utils import TestServer


def chat_reply(content="ok", *, finish="stop", tool_calls=None, usage=None, **choice):
    message = {"role": "assistant", "content": content}
    if tool_calls:
        message["tool_calls"] = [
            {"id": f"c{n}", "type": "function", "function": {"name": name, "arguments": arguments}}
            for n, (name, arguments) in enumerate(tool_calls)
        ]
    usage = usage or {"prompt_tokens": 10, "completion_tokens": 3}
    return {"choices": [{"message": message, "finish_reason": finish, **choice}], "usage": usage}


class FakeEndpoint:
    """`script`: per request a reply object, an (HTTP status, body text, headers) triple, or "hang" / "drop"."""

    def __init__(self, script):
        self.script = list(script)
        self.bodies = []
        self.headers = []
        self.now = 0
        self.most_at_once = 0
        self.arrived = asyncio.Semaphore(0)  # one permit a request
        self.release = asyncio.Event()

    async def handle(self, request):
        self.bodies.append(await request.json())
        self.headers.append(dict(request.headers))
        self.now += 1
        self.most_at_once = max(self.most_at_once, self.now)
        self.arrived.release()
        try:
            return await self.answer(request, self.script.pop(0) if len(self.script) > 1 else self.script[0])
        finally:
            self.now -= 1

    async def answer(self, request, step):
        if step == "hang":
            await self.release.wait()
            return web.json_response(chat_reply())
        if step == "drop":
            request.transport.close()
            return web.Response()
        if isinstance(step, tuple):
            status, text, headers = step
            return web.Response(status=status, text=text, headers=headers)
        return web.json_response(step)


@asynccontextmanager
async def served(*script):
    endpoint = FakeEndpoint(script)
    app = web.Application()
    app.router.add_post("/v1/chat/completions", endpoint.handle)
    async with TestServer(app, host="127.0.0.1") as server:
        endpoint.url = str(server.make_url("/v1"))
        try:
            yield endpoint
        finally:
            endpoint.release.set()
