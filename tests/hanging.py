"""A way to an engine that can be made to hang: bytes go both ways, then nowhere."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class HangingWay:
    """The way; ``asked`` are the first lines of what was said since it hangs."""

    address: str
    hangs: threading.Event = field(default_factory=threading.Event)
    asked: list[str] = field(default_factory=list)

    def carry(self, source: socket.socket, target: socket.socket, *, to_engine: bool) -> None:
        """Carry what one side says to the other, as long as the way is open."""
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                if not self.hangs.is_set():
                    target.sendall(data)
                elif to_engine:
                    self.asked.append(data.partition(b"\r\n")[0].decode("utf-8", "replace"))
            if not self.hangs.is_set():
                target.shutdown(socket.SHUT_WR)


@contextlib.contextmanager
def open_hanging_way(place: Path, engine: str) -> Iterator[HangingWay]:
    """Listen at a unix socket, and lead to the engine at another one."""
    way = HangingWay(f"unix://{place}")
    ends: list[socket.socket] = []
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(place))
        listener.listen()

        def accept() -> None:
            with contextlib.suppress(OSError):
                while True:
                    near, _ = listener.accept()
                    far = socket.socket(socket.AF_UNIX)
                    far.connect(engine.removeprefix("unix://"))
                    ends.extend((near, far))
                    for source, target in ((near, far), (far, near)):
                        threading.Thread(
                            target=way.carry,
                            args=(source, target),
                            kwargs={"to_engine": source is near},
                            daemon=True,
                        ).start()

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        try:
            yield way
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()
            for end in ends:
                with contextlib.suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)
                end.close()
