"""Every dialect by name.

One more API is a module here and a line in this table, its name in `evalgate.core.dialects`
(with the variables its clients read), and its row in docs/wire.md. To be played from a plan it
needs a voice in ``scripted/``; a provider that is to be known by name, a row in ``providers``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from evalgate.gateway.dialects.anthropic import Anthropic
from evalgate.gateway.dialects.dialect import NO_HEADERS, Dialect
from evalgate.gateway.dialects.gemini import Gemini
from evalgate.gateway.dialects.openai_chat import OpenAiChat
from evalgate.gateway.dialects.openai_responses import OpenAiResponses
from evalgate.gateway.dialects.passthrough import Passthrough

#: In the order in which they are asked: what two of them could mean is of the first, and the
#: last one takes whatever is left.
DIALECTS: Final[Mapping[str, Dialect]] = {
    dialect.name: dialect
    for dialect in (Anthropic(), Gemini(), OpenAiResponses(), OpenAiChat(), Passthrough())
}


def find_dialect(
    method: str, path: str, headers: Mapping[str, str] = NO_HEADERS
) -> tuple[Dialect, str] | None:
    """Return the dialect a request is of, and the API's own path of it; None without a path.

    Three APIs list their models at ``/v1/models``. Anthropic's is asked with the header
    ``anthropic-version``, Gemini's with ``x-goog-api-key``; without either, and without
    headers, it is OpenAI's. ``headers`` has names in lower case, or does not mind their case.
    """
    for dialect in DIALECTS.values():
        route = dialect.route(method, path, headers)
        if route is not None:
            return dialect, route
    return None
