"""A container that is made and started while others still work: it waits for what to do."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable
from typing import Final

from evalgate.sandboxes.docker import Engine
from evalgate.sandboxes.engine_error import EngineError
from evalgate.sandboxes.inside import inner_text
from evalgate.sandboxes.settings import ContainerSettings

#: What runs in every container: it reads from the stream what it is for.
_COMMAND: Final = ("/bin/sh", "-c", inner_text("entry.sh"), "evalgate")


class Started:
    """One container, in a thread of its own until somebody asks for its stream.

    Nothing is in it before something is sent: it can wait as long as the stage before it takes.
    """

    def __init__(
        self, engine: Engine, name: str, image: str, settings: Callable[[], ContainerSettings]
    ) -> None:
        """Begin to make it; for its settings the engine may have to be asked."""
        self.name = name
        self._engine, self._image, self._settings = engine, image, settings
        self._open = contextlib.ExitStack()
        self._stream: socket.socket | None = None
        self._trouble: Exception | None = None
        self._thread = threading.Thread(target=self._start, name=f"start-{name}", daemon=True)
        self._thread.start()

    def _start(self) -> None:
        try:
            self._engine.create(self.name, self._image, _COMMAND, self._settings())
            stream = self._open.enter_context(self._engine.attached(self.name))
            self._engine.start(self.name)
        except Exception as error:  # noqa: BLE001 - whoever waits for the stream raises it
            self._trouble = error
        else:
            self._stream = stream

    def stream(self) -> socket.socket:
        """Return its open stream, once it is started.

        Raises:
            EngineError: it could not be made or started.
        """
        self._thread.join()
        if self._trouble is not None:
            raise self._trouble
        if self._stream is None:
            raise EngineError("a container was not started")
        return self._stream

    def remove(self) -> None:
        """Remove it with all that runs in it.

        Raises:
            EngineError: it can not be removed.
        """
        self._thread.join()
        self._open.close()
        self._engine.remove(self.name)
