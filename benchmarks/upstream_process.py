"""A provider with prepared answers, in a process of its own: ``python -m … SUITE``.

SUITE is a suite as JSON. ``/READER/NAME/v1/messages`` gives each reader the replies of the
conversation NAME one after the other, and begins again after the last. The first event of a reply
leaves by itself, and with a paced suite each does.
The port is the only line on stdout.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator
from itertools import cycle

from aiohttp import web

from benchmarks.conversations import PATH, Suite

_PAUSE = 0.001
_GAP = b"\n\n"


def _pieces(reply: bytes, *, paced: bool) -> list[bytes]:
    if paced:
        return [event + _GAP for event in reply.removesuffix(_GAP).split(_GAP)]
    first, gap, rest = reply.partition(_GAP)
    return [first + gap, rest]


async def serve(suite: Suite) -> None:
    """Serve a suite until the process is ended."""
    replies = {one.name: one.replies for one in suite.conversations()}
    readers: dict[str, Iterator[bytes]] = {}

    async def answer(request: web.Request) -> web.StreamResponse:
        await request.read()
        name = request.match_info["name"]
        reply = next(readers.setdefault(request.path, cycle(replies[name])))
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        response.headers["request-id"] = f"req_{len(reply)}"
        await response.prepare(request)
        for piece in _pieces(reply, paced=suite.paced):
            await response.write(piece)
            # The transport joins what is written in one turn of the loop, and the reader what
            # comes in one.
            await asyncio.sleep(_PAUSE if suite.paced else 0)
        await response.write_eof()
        return response

    app = web.Application(client_max_size=64 << 20)
    app.router.add_post(f"/{{reader}}/{{name}}{PATH}", answer)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    print(runner.addresses[0][1], flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    given = json.loads(sys.argv[1])
    asyncio.run(serve(Suite(**{**given, "edits": tuple(given["edits"])})))
