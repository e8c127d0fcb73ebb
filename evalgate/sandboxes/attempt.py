"""One try at a stage in a container: what is sent, what is heard, what becomes of it."""

from __future__ import annotations

import contextlib
import secrets
import shlex
import socket
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from evalgate.core.files import Tree
from evalgate.errors import NotAvailableError
from evalgate.protocols import Stage, StageResult, StageStatus, Stop
from evalgate.sandboxes.archive import read_listing, restore, unpack
from evalgate.sandboxes.conversation import Conversation
from evalgate.sandboxes.forwarding import FORWARD, forwarded, forwarder
from evalgate.sandboxes.packing import pack
from evalgate.sandboxes.room import PLACES, PLACES_INSIDE, SEALED, TOP
from evalgate.sandboxes.taking import TooLargeError
from evalgate.sandboxes.tunnel import Tunnel
from evalgate.sandboxes.variables import SYSTEM_DIRECTORIES, build_environment, new_token

_PATH: Final = ":".join(SYSTEM_DIRECTORIES)
#: How much longer than its limit a stage may take before the engine ends it: starting a
#: container and laying the files in, or reading them back.
_GRACE: Final = 60.0
#: How much longer than its limit a program may run, once it is known that it does: its clock
#: inside is a process that it can stop.
_LATE: Final = 0.7
_LOOK: Final = 0.02
_CHUNK: Final = 1 << 20
#: What stands for the end of a line in a word that is quoted for the entry.
_LINE_END: Final = "'\"$newline\"'"


@dataclass(slots=True, kw_only=True)
class Attempt:
    """One try at a stage: what is sent, what is heard, what becomes of it."""

    stage: Stage
    sent: bytes
    talk: Conversation
    started: bool = False
    began: float = field(default_factory=time.monotonic)
    _ended: float | None = None
    _done: threading.Event = field(default_factory=threading.Event)
    _socket: socket.socket | None = None

    @classmethod
    def of(cls, stage: Stage, image_env: Mapping[str, str]) -> Attempt:
        """Prepare what is sent for a stage; the image's variables are below all others."""
        path = image_env.get("PATH") or _PATH
        own = build_environment(stage, PLACES_INSIDE, path=path, token=new_token())
        env = {**image_env, **own}
        trees: dict[str, Tree] = dict(stage.trees)
        places, argv = list(PLACES), list(stage.argv)
        if stage.reach is not None:
            trees[FORWARD] = forwarder()
            places.append(FORWARD)
            argv = forwarded(stage, TOP)
        data = pack(places, trees, sealed=(*SEALED, FORWARD))
        word = secrets.token_hex(16).encode()
        variables = [f"{name}={value}" for name, value in env.items()]
        words = [
            *(str(len(data)), f"{stage.timeout:.3f}", " ".join(stage.keep), env["PATH"]),
            *("no" if stage.reach is None else "yes", stage.argv[0], *variables, *argv),
        ]
        # A shell reads a line to its end and no further, whatever tools the image has.
        told = shlex.join(words).replace("\n", _LINE_END).encode("utf-8", "surrogateescape")
        attempt = cls(
            stage=stage,
            sent=b"%b\n%b\n%b" % (word, told, data),
            talk=Conversation(word=word, tunnel=None),
        )
        if stage.reach is not None:
            attempt.talk.tunnel = Tunnel(stage.reach, attempt._send)
        return attempt

    def listen(self, stream: socket.socket) -> None:
        """Begin to send and to hear; what is not heard would hold the engine up."""
        self._socket = stream
        for work in (self._lay, self._hear):
            threading.Thread(target=work, name=f"container-{work.__name__}", daemon=True).start()

    def _send(self, data: bytes) -> None:
        if self._socket is not None:
            self._socket.sendall(data)

    def _lay(self) -> None:
        with contextlib.suppress(OSError):
            self._send(self.sent)

    def _hear(self) -> None:
        try:
            while self._socket is not None and (chunk := self._socket.recv(_CHUNK)):
                self.talk.feed(chunk)
        except OSError:
            pass
        finally:
            self._done.set()

    def wait(self, stop: Stop) -> StageStatus | None:
        """Wait for the last word; return a status when the container has to be ended instead."""
        while not self._done.wait(_LOOK):
            if stop.is_set():
                return StageStatus.INTERRUPTED
            if self.talk.overflow:
                break
            late = self._late(time.monotonic())
            if late is not None:
                return late
        return StageStatus.TOO_LARGE if self.talk.overflow else None

    def _late(self, now: float) -> StageStatus | None:
        """Tell what is late, if anything: the container, its program, or the reading back."""
        self._ended = self._ended or (now if self.talk.end is not None else None)
        if self._ended is not None:
            return StageStatus.TOO_LARGE if now > self._ended + _GRACE else None
        if self.talk.begun is not None:
            limit = self.talk.begun + self.stage.timeout + _LATE
            return StageStatus.TIMEOUT if now > limit else None
        return StageStatus.ENGINE if now > self.began + self.stage.timeout + _GRACE else None

    def hang_up(self, stream: socket.socket) -> None:
        """End the stream and the tunnel."""
        with contextlib.suppress(OSError):
            stream.shutdown(socket.SHUT_RDWR)
        if self.talk.tunnel is not None:
            self.talk.tunnel.close()
        self._done.wait(_GRACE)

    def cut(self, status: StageStatus) -> StageResult:
        """Return what is known of a container that had to be ended."""
        if status is StageStatus.TOO_LARGE and self.talk.last_words is not None:
            result = self.judged(whole=False)
            if result.status is StageStatus.TOO_LARGE:
                return result
        details = {
            StageStatus.TOO_LARGE: f"{self.stage.keep[0]}: more than is ever taken",
            StageStatus.ENGINE: "the container did not end in time",
        }
        return self.result(status, detail=details.get(status, ""))

    def judged(self, *, whole: bool) -> StageResult:
        """Read the last words of a container; they are not ``whole`` when it was cut short.

        Raises:
            NotAvailableError: the files can not be laid in, or the image lacks a program.
        """
        words = self.talk.last_words
        if words is None:
            return self.result(StageStatus.ENGINE, detail="the container ended without a word")
        if self.talk.tunnel is not None and self.talk.tunnel.trouble:
            return self.result(StageStatus.NOT_FOUND, detail=self.talk.tunnel.trouble)
        (kind, *told), rest = words
        detail = told[0] if told else ""
        if kind == "missing":
            return self.result(StageStatus.NOT_FOUND, detail=detail)
        if kind == "setup" and self.talk.begun is None:
            raise NotAvailableError(f"a container can not be made ready: {detail}")
        code, _, took = detail.partition(" ")
        if kind != "ended" or not (code.isdecimal() and took.isdecimal()):
            return self.result(StageStatus.ENGINE, detail=f"a container said {kind} {detail}")
        seconds = int(took) / 1000
        late = int(code) == 128 + 9 and seconds >= self.stage.timeout
        status = StageStatus.TIMEOUT if late else StageStatus.EXITED
        try:
            trees, details, complete = self._read(rest, whole=whole)
        except ValueError as error:
            return self.result(StageStatus.ENGINE, detail=f"files can not be read: {error}")
        if not complete and status is StageStatus.EXITED:
            status = StageStatus.TOO_LARGE
        return self.result(
            status,
            exit_code=None if late else int(code),
            seconds=seconds,
            trees=trees,
            detail="; ".join(details),
        )

    def _read(self, rest: bytes, *, whole: bool) -> tuple[dict[str, Tree], list[str], bool]:
        listed, found, tar = (b"\0" + rest).partition(b"\0\0")
        if not found:
            raise ValueError("the container ended while they were listed")
        listings, details = {}, []
        for place in self.stage.keep:
            try:
                listings[place] = read_listing(listed, place)
            except TooLargeError as error:
                details.append(f"{place}: {error}")
                continue
            if listings[place].skipped:
                details.append(f"{place}: not a file, left out: {listings[place].described()}")
        if listings and not whole:
            raise ValueError("the container ended while they were sent")
        changed = unpack(tar) if listings else {}
        trees: dict[str, Tree] = {}
        for place, listing in listings.items():
            try:
                trees[place] = restore(place, self.stage.trees.get(place, {}), listing, changed)
            except TooLargeError as error:
                details.append(f"{place}: {error}")
        return trees, details, len(trees) == len(self.stage.keep)

    def result(
        self,
        status: StageStatus,
        *,
        exit_code: int | None = None,
        seconds: float | None = None,
        trees: Mapping[str, Tree] | None = None,
        detail: str = "",
    ) -> StageResult:
        """Put the result together; what took no ``seconds`` of its own took them since it began."""
        since = self.began if self.talk.begun is None else self.talk.begun
        return StageResult(
            status=status,
            exit_code=exit_code,
            log=self.talk.log.render(),
            log_bytes=self.talk.log.total,
            seconds=round(time.monotonic() - since, 3) if seconds is None else seconds,
            trees=trees or {},
            detail=detail,
        )
