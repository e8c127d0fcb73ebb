"""The image of a trial: named by the configuration, or built from what lies beside this file."""

from __future__ import annotations

import hashlib
import logging
import os
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from evalgate.errors import NotAvailableError
from evalgate.sandboxes.docker import Engine, EngineError

#: Names another base for the image, where no registry has the usual one.
BASE_VARIABLE: Final = "EVALGATE_BASE_IMAGE"

_BASE: Final = "python:3.12-slim"
_INPUTS: Final = "evalgate.inputs"
_FOLDER: Final = Path(__file__).parent / "image"

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class Image:
    """An image that is there, or is made when its inputs have changed.

    ``named`` is used as it is; otherwise the Dockerfile in ``folder`` is built on the base.
    """

    named: str = ""
    folder: Path = _FOLDER
    _ready: str = ""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def unavailable(self, engine: Engine) -> str | None:
        """Say why no container can be made of it; it is built when it is not there."""
        try:
            self.ready(engine)
        except NotAvailableError as error:
            return error.message
        return None

    def ready(self, engine: Engine) -> str:
        """Return the image's name, once it is there.

        Raises:
            NotAvailableError: it is not there and can not be built.
        """
        with self._lock:
            if not self._ready:
                try:
                    self._ready = self._found(engine) if self.named else self._built(engine)
                except EngineError as error:
                    message = f"the engine at {engine.address} fails: {error}"
                    raise NotAvailableError(message) from error
            return self._ready

    def _found(self, engine: Engine) -> str:
        if engine.labels(self.named) is None:
            raise NotAvailableError(
                f"the image {self.named} is not there",
                hint=f"docker pull {self.named}, or leave sandbox.image out",
            )
        return self.named

    def _built(self, engine: Engine) -> str:
        base = os.environ.get(BASE_VARIABLE, "") or _BASE
        digest = self._digest(base, engine.labels(base))
        tag = f"evalgate-sandbox:{digest}"
        found = engine.labels(tag)
        if found is None or found.get(_INPUTS) != digest:
            _log.warning("building the image %s on %s", tag, base)
            engine.build(self.folder, tag=tag, args={"BASE_IMAGE": base}, labels={_INPUTS: digest})
        return tag

    def _digest(self, base: str, labels: object) -> str:
        """Return 12 hex that name the Dockerfile and the base it stands on."""
        said = hashlib.sha256(f"1\0{base}\0{labels}\0".encode())
        said.update((self.folder / "Dockerfile").read_bytes())
        return said.hexdigest()[:12]
