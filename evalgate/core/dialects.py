"""The model APIs by name, and the variables in which their clients look for a server.

What each of them says on the wire is known to the gateway alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

#: The dialects a model can be asked in.
SPOKEN: Final = ("anthropic", "openai-chat", "openai-responses", "gemini")

#: Whatever is of no dialect and is passed on as it is.
PASSTHROUGH: Final = "passthrough"

#: Variable -> what stands after the gateway's own URL in it.
BASE_URLS: Final[Mapping[str, str]] = {
    "ANTHROPIC_BASE_URL": "",
    "GOOGLE_GEMINI_BASE_URL": "",
    "OPENAI_API_BASE": "/v1",
    "OPENAI_BASE_URL": "/v1",
}

#: Clients do not start without a key in these; the gateway holds the real one.
KEYS: Final = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY")
