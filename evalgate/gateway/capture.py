"""One request on its way: what came in is keyed, what goes out is kept, secrets replaced."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from evalgate.core.exchange import Ending, Exchange
from evalgate.core.redaction import Redactor
from evalgate.gateway.matching import Keyed
from evalgate.gateway.sse import edit_stream, is_stream


@dataclass(slots=True, kw_only=True)
class Capture:
    """Collects a response; ``slot`` is the place of the exchange in the order of arrival."""

    request: Keyed
    slot: int
    began: float
    started: float = field(default_factory=time.monotonic)
    status: int = 0
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytearray = field(default_factory=bytearray)
    ending: Ending = Ending.COMPLETE

    def exchange(self, redactor: Redactor) -> Exchange:
        """Return the exchange as it is stored."""
        return Exchange(
            dialect=self.request.dialect,
            method=self.request.method,
            path=self.request.path,
            request=self.request.request,
            key=self.request.key,
            status=self.status,
            headers={name: redactor.text(value) for name, value in self.headers.items()},
            body=clean_body(bytes(self.body), redactor),
            ending=self.ending,
            began=round(self.began, 3),
            seconds=round(time.monotonic() - self.started, 3),
        )


def clean_body(body: bytes, redactor: Redactor) -> bytes:
    """Return a response without secrets, also where a stream cuts one into pieces."""
    clean = redactor.data(body)
    return edit_stream(clean, redactor.spans) if is_stream(clean) else clean
