"""Any other endpoint of a provider: recorded and replayed, and hardly read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import orjson

from evalgate.core.dialects import PASSTHROUGH
from evalgate.core.json import Json
from evalgate.gateway import reading
from evalgate.gateway.dialects.common import body_model, error_text, openai_usage
from evalgate.gateway.dialects.dialect import NO_HEADERS, Asked, Dialect, Reply
from evalgate.gateway.streams.sse import is_stream, read_events

#: With these a client asks what there is, and has nothing made.
_SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})


class Passthrough(Dialect):
    """Whatever no other dialect knows, as embeddings or files: no turn, and one part in all."""

    name = PASSTHROUGH
    is_unknown = True

    def route(self, method: str, path: str, headers: Mapping[str, str] = NO_HEADERS) -> str | None:  # noqa: ARG002 - of the protocol
        """Return the path as it is: nobody knows where a base URL ends."""
        return path if path.startswith("/") else None

    def is_turn(self, path: str) -> bool:  # noqa: ARG002 - of the protocol
        """Tell that nothing here is known to be a model's turn."""
        return False

    def is_paid(self, method: str, path: str) -> bool:  # noqa: ARG002 - of the protocol
        """Tell that whatever makes something may cost money."""
        return method not in _SAFE

    def part_of(self, member: str) -> str:  # noqa: ARG002 - of the protocol
        """Return the one part."""
        return "parameters"

    def read_request(self, body: bytes) -> Asked:
        """Read a request: all that is JSON is parameters."""
        value = reading.parse(body)
        parts: dict[str, Json] = {} if value is None else {"parameters": value}
        return Asked(model=body_model(body), parts=parts)

    def read_reply(self, body: bytes) -> Reply:
        """Read an error, a model and counts where they are as everywhere.

        Counts only by the names of OpenAI's older APIs: by the newer ones it can not be told
        whether cached tokens are among them.
        """
        if is_stream(body):
            values = read_events(body)
        else:
            value = reading.parse(body)
            values = [] if value is None else [value]
        last: Json = values[-1] if values else None
        error = reading.member(last, "error")
        usage = reading.mapping(last, "usage")
        return Reply(
            usage=openai_usage(usage, asked="prompt_tokens", said="completion_tokens"),
            model=reading.text(last, "model") or None,
            finished=bool(values) and error is None,
            error=None if error is None else error_text(error),
        )

    def error(self, status: int, message: str) -> bytes:
        """Return the body of an error in the shape that most APIs share."""
        return orjson.dumps({"error": {"code": status, "message": message}})
