"""Replies that come in pieces, of whatever kind, edited as the texts they make together."""

from __future__ import annotations

from evalgate.gateway.dialects.arrays import edit_array, is_array
from evalgate.gateway.streams.joining import Find
from evalgate.gateway.streams.sse import edit_stream, is_stream


def edit_pieces(body: bytes, find: Find) -> bytes | None:
    """Edit a stream of events or of one JSON array; None for a reply that comes whole."""
    if is_stream(body):
        return edit_stream(body, find)
    return edit_array(body, find) if is_array(body) else None
