"""The kept part of a program's output: its head and its tail, and a count of all of it."""

from __future__ import annotations

KEEP = 512 * 1024


class Output:
    """Takes any number of bytes and holds no more than about 2 MiB of them."""

    def __init__(self, keep: int = KEEP) -> None:
        self.total = 0
        self._keep = keep
        self._head = bytearray()
        self._tail = bytearray()

    def add(self, chunk: bytes) -> None:
        """Count a chunk and keep what belongs to the head or, for now, to the tail."""
        self.total += len(chunk)
        room = self._keep - len(self._head)
        if room > 0:
            self._head += chunk[:room]
            chunk = chunk[room:]
        self._tail += chunk
        # Cutting only when twice the size is there keeps a flood at one copy per byte.
        if len(self._tail) > 2 * self._keep:
            del self._tail[: -self._keep]

    def render(self) -> bytes:
        """Return head and tail; where bytes are missing between them, a line says how many."""
        tail = bytes(self._tail[-self._keep :])
        missing = self.total - len(self._head) - len(tail)
        if not missing:
            return bytes(self._head) + tail
        return bytes(self._head) + b"\n[... %d bytes left out ...]\n" % missing + tail
