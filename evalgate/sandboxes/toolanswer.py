"""What a sandbox answers to a request: one JSON document a line, bytes as base64."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from evalgate.sandboxes.toolrequest import from_base64, to_base64

_HIGHEST_CODE: Final = 255


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolAnswer:
    """What came of a request; None is what was not said, or what is of another kind.

    ``output`` is that of a program, which ended by itself with ``exit_code``, or was ended since
    it was ``late`` or ``cancelled``; ``data`` is a file that was read. ``size`` counts the bytes
    of the whole output, or of the file. ``error`` says why nothing was done.
    """

    exit_code: int | None = None
    output: bytes | None = None
    data: bytes | None = None
    size: int | None = None
    late: bool = False
    cancelled: bool = False
    error: str = ""

    @classmethod
    def load(cls, document: Mapping[str, Any]) -> ToolAnswer:
        """Read a document of somebody who may say anything: only what is sound is believed."""
        error = document.get("error")
        return cls(
            exit_code=_count(document.get("exit_code"), most=_HIGHEST_CODE),
            output=from_base64(document.get("output")),
            data=from_base64(document.get("data")),
            size=_count(document.get("bytes")),
            late=document.get("timed_out") is True,
            cancelled=document.get("cancelled") is True,
            error=error if isinstance(error, str) else "",
        )

    def dump(self) -> dict[str, Any]:
        """Return the document."""
        document: dict[str, Any] = {}
        if self.output is not None:
            document |= {"exit_code": self.exit_code, "output": to_base64(self.output)}
        if self.data is not None:
            document["data"] = to_base64(self.data)
        if self.size is not None:
            document["bytes"] = self.size
        if self.output is not None:
            document["timed_out"] = self.late
        if self.cancelled:
            document["cancelled"] = True
        return {**document, "error": self.error} if self.error else document


def _count(value: object, *, most: float = math.inf) -> int | None:
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if 0 <= value <= most else None
