"""The kept part of a program's output: its head and its tail, and a count of all of it."""

from __future__ import annotations

import re
from typing import Final

KEEP = 512 * 1024

#: The rest of a line that was cut.
_LINE: Final = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n|\Z)")
#: Where a word ends; no key has such a byte in it.
_BLANK: Final = re.compile(rb"[\x00-\x20]")

#: Long words, and borders of keys of several lines: a key may go on there, or its name was cut.
#: Between the two stands no more than these few characters.
_KEYS: Final = re.compile(
    rb"(?:[\s:=\"'\\]*(?:[^\x00-\x20]{16,}|-----[ -~]{0,60}-----)(?![^\x00-\x20]))*"
)


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
        """Return head and tail; where bytes are missing between them, a line says how many.

        What lies at the two edges is left out as well, as far as it may be a piece of a secret:
        nobody could tell it from other text any more.
        """
        head, tail = bytes(self._head), bytes(self._tail[-self._keep :])
        if self.total == len(head) + len(tail):
            return head + tail
        head, tail = _whole_head(head), _whole_tail(tail)
        missing = self.total - len(head) - len(tail)
        return head + b"\n[... %d bytes left out ...]\n" % missing + tail


def _whole_tail(tail: bytes) -> bytes:
    """Return the tail without the line that was cut, and without what a key may go on in.

    Of a line that takes up more than half, only the word that was cut is dropped.
    """
    line = _LINE.match(tail)
    cut = line.end() if line else 0
    if cut > len(tail) // 2:
        blank = _BLANK.search(tail)
        cut = blank.end() if blank else len(tail)
    keys = _KEYS.match(tail, cut)
    return tail[keys.end() if keys else cut :]


def _whole_head(head: bytes) -> bytes:
    return _whole_tail(head[::-1])[::-1]
