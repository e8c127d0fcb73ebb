"""The least a replay can cost: read a request, parse it, write it canonically, hash it.

    python -m benchmarks.floor_process REPLY_BYTES

A hand-made server of just enough HTTP; nothing is matched, kept or checked, and every answer is
the same. The port is the only line on stdout.
"""

from __future__ import annotations

import asyncio
import hashlib
import sys

import orjson

_GAP = b"\r\n\r\n"
_LENGTH = b"content-length:"


class Floor(asyncio.Protocol):
    """One connection, kept alive."""

    def __init__(self, answer: bytes) -> None:
        """Answer every request with these bytes."""
        self._answer = answer
        self._pieces: list[bytes] = []
        self._missing = 0
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        if isinstance(transport, asyncio.Transport):
            self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Collect a body, and answer once it is whole."""
        if not self._missing:
            head, _, data = data.partition(_GAP)
            lengths = [line for line in head.split(b"\r\n") if line.lower().startswith(_LENGTH)]
            self._missing = int(lengths[0][len(_LENGTH) :])
            if not data:
                return
        self._pieces.append(data)
        self._missing -= len(data)
        if self._missing or self._transport is None:
            return
        value = orjson.loads(b"".join(self._pieces))
        self._pieces.clear()
        hashlib.sha256(orjson.dumps(value, option=orjson.OPT_SORT_KEYS)).hexdigest()
        self._transport.write(self._answer)


async def serve(size: int) -> None:
    """Serve until the process is ended."""
    head = f"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: {size}\r\n\r\n"
    answer = head.encode() + b"." * size
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Floor(answer), "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1])))
