"""Which dialect a request speaks and what it asks for, by the end of its path."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final
from urllib.parse import unquote

from evalgate.gateway.scripted.anthropic import AnthropicVoice
from evalgate.gateway.scripted.gemini import GeminiVoice
from evalgate.gateway.scripted.openai_chat import OpenAiChatVoice
from evalgate.gateway.scripted.openai_responses import OpenAiResponsesVoice
from evalgate.gateway.scripted.saying import Voice

_GEMINI = GeminiVoice()

VOICES: Final[Mapping[str, Voice]] = {
    "/messages": AnthropicVoice(),
    "/chat/completions": OpenAiChatVoice(),
    "/responses": OpenAiResponsesVoice(),
}

_GEMINI_PATH: Final = re.compile(
    r"/models/([^/:]+):(generateContent|streamGenerateContent|countTokens)$"
)
_MODELS_PATH: Final = re.compile(r"/(?:v1|v1beta)/models(?:/([^/:]+))?$")


class Wants(StrEnum):
    """What a request asks for."""

    REPLY = "reply"
    STREAM = "stream"
    COUNT = "count"


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Where a post goes: the dialect, what it wants, and the model when the path names it.

    ``wants`` None leaves it to the body, which says ``stream`` or not.
    """

    voice: Voice
    wants: Wants | None = None
    model: str = ""

    @property
    def is_gemini(self) -> bool:
        """Tell whether a stream that did not ask for events is a JSON list."""
        return self.voice is _GEMINI


def find_address(path: str) -> Address | None:
    """Return where a post goes, None when it is of no dialect."""
    named = _GEMINI_PATH.search(path)
    if named:
        kinds = {"generateContent": Wants.REPLY, "streamGenerateContent": Wants.STREAM}
        wants = kinds.get(named[2], Wants.COUNT)
        return Address(voice=_GEMINI, wants=wants, model=unquote(named[1]))
    if path.endswith("/messages/count_tokens"):
        return Address(voice=VOICES["/messages"], wants=Wants.COUNT)
    voice = next((voice for end, voice in VOICES.items() if path.endswith(end)), None)
    return None if voice is None else Address(voice=voice)


def find_models(path: str) -> str | None:
    """Return the model whose description is asked for, empty for all, None for no such path."""
    found = _MODELS_PATH.search(path)
    return unquote(found[1] or "") if found else None
