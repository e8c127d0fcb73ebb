"""The scripted upstream: an HTTP server on loopback that keeps nothing between requests.

The task is in the URL and the turn in the conversation that comes with each request, so a
retry gets the same reply and trials at the same time do not meet.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from http import HTTPStatus
from typing import Final
from urllib.parse import quote, unquote

import orjson
from aiohttp import web

from evalgate.core.json import Json, JsonObject
from evalgate.gateway import reading
from evalgate.gateway.loopback import Loopback
from evalgate.gateway.scripted.gemini import GeminiVoice
from evalgate.gateway.scripted.plan import Plan, Said
from evalgate.gateway.scripted.saying import Saying, tokens
from evalgate.gateway.scripted.table import Address, Wants, find_address, find_models

_TASK: Final = "/t-"
_CLIENT_MAX_SIZE: Final = 64 << 20
_GRACE_SECONDS: Final = 1.0

#: What a turn of calls alone becomes for a request that offers no tools, such as the one some
#: agents make for a title: no model calls what it was not offered.
_NO_TOOLS: Final = Said(text="No tool was offered.")


def at_task(url: str, task: str) -> str:
    """Return the base URL at which a scripted upstream plays one task's replies."""
    return f"{url}{_TASK}{quote(task, safe='')}"


class ScriptedServer:
    """Serves plans by model id; made by `open_scripted`."""

    def __init__(self, plans: Mapping[str, Plan]) -> None:
        """Prepare a server that is not open yet."""
        self._plans = plans
        self._server = Loopback(
            self._handle,
            name="evalgate-scripted",
            max_size=_CLIENT_MAX_SIZE,
            grace=_GRACE_SECONDS,
        )

    @property
    def url(self) -> str:
        """The base URL; nothing answers there until it is open."""
        return f"http://127.0.0.1:{self._server.port}"

    def open(self) -> None:
        """Start the thread and listen on a free port of the loopback."""
        self._server.open()

    def close(self) -> None:
        """Close what is open and end the thread."""
        self._server.close()

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        task, path = _split(request.rel_url.raw_path)
        if request.method == "GET":
            return self._models(path)
        address = find_address(path)
        if request.method != "POST" or address is None:
            return _refused(HTTPStatus.NOT_FOUND, f"no scripted API at {request.method} {path}")
        return await self._post(request, address, task)

    async def _post(self, request: web.Request, address: Address, task: str) -> web.StreamResponse:
        body = await request.read()
        asked = reading.parse(body)
        if not isinstance(asked, Mapping):
            return _refused(HTTPStatus.BAD_REQUEST, "the request is not a JSON object")
        model = address.model or reading.text(asked, "model")
        plan = self._plans.get(model)
        if plan is None:
            return _refused(HTTPStatus.NOT_FOUND, f"the model {model!r} is not scripted")
        if address.wants is Wants.COUNT:
            number = tokens(len(body))
            return _json({"totalTokens": number} if address.is_gemini else {"input_tokens": number})
        turn = address.voice.turns(asked)
        said = plan.said(task, turn)
        if said is None:
            return _refused(HTTPStatus.NOT_FOUND, f"{plan.name} has no plan for the task {task!r}")
        if said.calls and not address.voice.has_tools(asked):
            said = replace(said, calls=()) if said.text else _NO_TOOLS
        saying = Saying(said=said, turn=turn, model=model, asked=asked, size=len(body))
        wants = address.wants or (Wants.STREAM if asked.get("stream") is True else Wants.REPLY)
        if wants is Wants.REPLY:
            return _json(address.voice.whole(saying))
        if isinstance(address.voice, GeminiVoice) and request.query.get("alt") != "sse":
            return _json([*address.voice.values(saying)])
        return await _stream(request, address.voice.events(saying))

    def _models(self, path: str) -> web.Response:
        asked = find_models(path)
        if asked is None:
            return _json({}) if path in {"", "/"} else _refused(HTTPStatus.NOT_FOUND, "not here")
        if asked:
            if asked in self._plans:
                return _json(_model(asked))
            return _refused(HTTPStatus.NOT_FOUND, f"the model {asked!r} is not scripted")
        every: Json = [_model(model) for model in sorted(self._plans)]
        return _json({"object": "list", "data": every, "models": every, "has_more": False})


@contextmanager
def open_scripted(plans: Mapping[str, Plan]) -> Iterator[str]:
    """Serve plans (by model id) while the context is open; yield the base URL.

    Requests go to `at_task` of it.
    """
    server = ScriptedServer(plans)
    server.open()
    try:
        yield server.url
    finally:
        server.close()


def _split(path: str) -> tuple[str, str]:
    """Return the task a path names, and the path of the API after it."""
    if not path.startswith(_TASK):
        return "", path
    task, _, rest = path.removeprefix(_TASK).partition("/")
    return unquote(task), f"/{rest}"


def _model(model: str) -> JsonObject:
    """Describe a model so that clients of every API can read it: the paths are the same."""
    shown = f"{model} (scripted)"
    methods: Json = ["generateContent", "countTokens"]
    return {
        "id": model,
        "name": f"models/{model}",
        "object": "model",
        "type": "model",
        "display_name": shown,
        "displayName": shown,
        "created": 0,
        "created_at": "1970-01-01T00:00:00Z",
        "owned_by": "scripted",
        "supportedGenerationMethods": methods,
    }


async def _stream(request: web.Request, events: Iterator[bytes]) -> web.StreamResponse:
    response = web.StreamResponse(headers={"content-type": "text/event-stream; charset=utf-8"})
    try:
        await response.prepare(request)
        for event in events:
            await response.write(event)
        await response.write_eof()
    except ConnectionError:  # whoever asked has gone; nothing is kept, so nothing is lost
        return response
    return response


def _json(value: Json) -> web.Response:
    return web.Response(body=orjson.dumps(value), content_type="application/json")


def _refused(status: HTTPStatus, message: str) -> web.Response:
    """Return an error in a shape that clients of every dialect can read."""
    error: Json = {"type": "invalid_request_error", "message": message, "code": int(status)}
    body: Json = {"type": "error", "error": error}
    return web.Response(
        status=status,
        body=orjson.dumps(body),
        content_type="application/json",
        headers={"x-should-retry": "false"},
    )
