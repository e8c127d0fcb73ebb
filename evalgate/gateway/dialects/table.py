"""Every dialect by name. One more API is one more module and one more line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from evalgate.gateway.dialects.anthropic import Anthropic
from evalgate.gateway.dialects.dialect import Dialect
from evalgate.gateway.dialects.openai_chat import OpenAiChat

DIALECTS: Final[Mapping[str, Dialect]] = {
    dialect.name: dialect for dialect in (Anthropic(), OpenAiChat())
}


def find_dialect(method: str, path: str) -> tuple[Dialect, str] | None:
    """Return the dialect a request is of, and the API's own path of it."""
    for dialect in DIALECTS.values():
        route = dialect.route(method, path)
        if route is not None:
            return dialect, route
    return None
