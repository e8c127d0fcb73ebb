"""Replies of whatever kind, edited as the texts that their pieces make together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from evalgate.core.json import Json
from evalgate.gateway.dialects.arrays import edit_array, is_array
from evalgate.gateway.dialects.dialect import Dialect
from evalgate.gateway.dialects.table import DIALECTS
from evalgate.gateway.reading import parse
from evalgate.gateway.streams.blocks import Find, edit_blocks, may_have_blocks
from evalgate.gateway.streams.joining import Link, written
from evalgate.gateway.streams.sse import edit_stream, is_stream

_STRANDS: Final = tuple(
    dialect.strand for dialect in DIALECTS.values() if type(dialect).strand is not Dialect.strand
)


def edit_pieces(body: bytes, find: Find) -> bytes | None:
    """Edit a stream of events or of one JSON array; None for a reply that comes whole."""
    if is_stream(body):
        return edit_stream(body, find, _strand)
    return edit_array(body, find, _strand) if is_array(body) else None


def edit_joined(body: bytes, find: Find) -> bytes:
    """Edit every text that is cut: over the pieces of a stream, or over blocks side by side.

    ``find`` sees them joined. What stays as it was stays so byte for byte.
    """
    edited = edit_pieces(body, find)
    if edited is None and may_have_blocks(body):
        whole = Link(raw=body, value=parse(body))
        edited = written(whole) if edit_blocks(whole.value, find) else body
    return body if edited is None else edited


def _strand(event: Json, path: Sequence[str | int]) -> tuple[str, ...] | None:
    """Ask every dialect: a body alone does not say whose it is."""
    return next((found for one in _STRANDS if (found := one(event, path)) is not None), None)
