"""What a container says on its one stream: a log, frames of a tunnel, then how it ended."""

from __future__ import annotations

import struct
import time
from dataclasses import dataclass, field
from typing import Final

from evalgate.sandboxes.archive import MAX_LIST
from evalgate.sandboxes.output import Output
from evalgate.sandboxes.taking import MAX_BYTES, MAX_FILES
from evalgate.sandboxes.tunnel import Tunnel

_HEAD: Final = struct.Struct(">BxxxI")
_STDERR: Final = 2
#: A tar of what is taken back is no longer: contents, and two blocks or so for each file.
_MOST: Final = MAX_BYTES + MAX_FILES * 4096 + MAX_LIST
#: Longer than any word that the entry says about an end.
_WORDS: Final = 4096


@dataclass(slots=True, kw_only=True)
class Conversation:
    """Reads the stream of an attached container: frames of an output's number and a length.

    ``word`` is what the entry was given to tell its own lines from all others' output: the first
    says that the program begins, which is noted in ``begun`` (seconds of the monotonic clock).
    ``end`` is what follows the other, ``overflow`` whether that is more than is ever taken.
    """

    word: bytes
    tunnel: Tunnel | None
    log: Output = field(default_factory=Output)
    end: bytearray | None = None
    overflow: bool = False
    begun: float | None = None
    _first: bytes | None = b""
    _held: bytearray = field(default_factory=bytearray)
    _tail: bytes = b""

    def feed(self, data: bytes) -> None:
        """Take what the engine sent."""
        self._held += data
        while len(self._held) >= _HEAD.size:
            kind, length = _HEAD.unpack_from(self._held)
            if len(self._held) < _HEAD.size + length:
                return
            chunk = bytes(self._held[_HEAD.size : _HEAD.size + length])
            del self._held[: _HEAD.size + length]
            if kind == _STDERR:
                self.log.add(chunk)
            elif self._first is not None:
                self._hear_first(self._first + chunk)
            else:
                self._hear(chunk)

    def _hear_first(self, said: bytes) -> None:
        """Hear the first line: the entry speaks before any program does."""
        line, found, rest = said.partition(b"\n")
        if not found:
            self._first = said
            return
        self._first = None
        if line == self.word + b"begun":
            self.begun = time.monotonic()
            said = rest
        self._hear(said)

    def _hear(self, chunk: bytes) -> None:
        if self.end is not None:
            if len(self.end) + len(chunk) > _MOST:
                self.overflow = True
            else:
                self.end += chunk
            return
        seen = self._tail + chunk
        at = seen.find(self.word)
        if self.tunnel is not None:
            # What was said before the last word counts; a frame that was cut is of no use.
            self.tunnel.feed(chunk[: max(0, at - len(self._tail))] if at >= 0 else chunk)
        if at >= 0:
            self.end = bytearray(seen[at + len(self.word) :])
        self._tail = seen[-len(self.word) :]

    @property
    def last_words(self) -> tuple[list[str], bytes] | None:
        """The words that tell the end, and the bytes after them; None before they are whole."""
        if self.end is None:
            return None
        line, found, rest = bytes(self.end).partition(b"\n")
        if not found or len(line) > _WORDS:
            return None
        return line.decode("utf-8", "replace").split(" ", 1), rest
