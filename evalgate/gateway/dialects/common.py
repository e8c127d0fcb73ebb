"""What several dialects say in the same way."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

import orjson

from evalgate.core.json import Json, JsonObject
from evalgate.core.trajectory import Usage
from evalgate.gateway import reading

#: From here on an HTTP status is the server's fault.
_SERVER: Final = 500

_MODELS: Final = re.compile(r"(?:.*/v1)?(/models(?:/.+)?)")


def models_path(method: str, path: str) -> str | None:
    """Return ``/v1/models`` or ``/v1/models/ID`` when that is asked; ids may hold slashes.

    Some clients put ``/v1`` into their base URL, some do not.
    """
    found = _MODELS.fullmatch(path) if method == "GET" else None
    return f"/v1{found[1]}" if found else None


def body_model(body: bytes) -> str | None:
    """Return the model that a body names in its member ``model``."""
    return reading.text(reading.parse(body), "model") or None


def split(asked: JsonObject, part_of: Callable[[str], str]) -> dict[str, Json]:
    """Return the parts of a request: one that has a single member is that member's value.

    ``parameters`` is always there and always an object.
    """
    parts: dict[str, Json] = {}
    rest: dict[str, Json] = {}
    for name, value in asked.items():
        part = part_of(name)
        if part == "parameters":
            rest[name] = value
        else:
            parts[part] = value
    return {**parts, "parameters": rest}


def error_text(error: Json) -> str:
    """Return the message of an error, given as an object or as a string."""
    return reading.text(error, "message") or reading.text(error) or "an error without a message"


def error_word(status: int, words: Mapping[int, str], *, asker: str, server: str) -> str:
    """Return an API's word for an error; without one of its own: whose fault it is."""
    return words.get(status, server if status >= _SERVER else asker)


def arguments(said: str) -> Json:
    """Return the arguments of a call, which come as JSON in a string, or that string."""
    parsed = reading.parse(said) if said else {}
    return said if parsed is None else parsed


def written(value: Json) -> str:
    """Return a value that is no text as JSON; what is read can be too deep to be written."""
    try:
        return orjson.dumps(value).decode()
    except orjson.JSONEncodeError:
        return "[nested too deeply]"


def openai_usage(usage: JsonObject, *, asked: str, said: str) -> Usage:
    """Read the counts of an OpenAI-like API; ``asked`` and ``said`` name its two totals.

    Cached tokens are part of the first total, and none named means none. Reasoning is part of
    the second one, but for some servers that count it beside and in ``total_tokens`` alone.
    """
    prompt = reading.count(usage, asked)
    if prompt is None:
        return Usage()
    details = f"{asked}_details"
    read = _cached(usage, details)
    kept = reading.count(usage, details, "cache_write_tokens") or 0
    return Usage(
        input_tokens=max(0, prompt - read - kept),
        output_tokens=_output(usage, prompt, said),
        cache_read_tokens=read,
        cache_write_tokens=kept,
    )


def _cached(usage: JsonObject, details: str) -> int:
    """Return what came from the cache; DeepSeek and Moonshot also have names of their own."""
    places = ((details, "cached_tokens"), ("prompt_cache_hit_tokens",), ("cached_tokens",))
    return next((count for p in places if (count := reading.count(usage, *p)) is not None), 0)


def _output(usage: JsonObject, prompt: int, said: str) -> int | None:
    output = reading.count(usage, said)
    total = reading.count(usage, "total_tokens")
    if output is None:
        # An API without a completion, as embeddings, has no count of one.
        return 0 if total == prompt else None
    reasoning = reading.count(usage, f"{said}_details", "reasoning_tokens") or 0
    return output + reasoning if total == prompt + output + reasoning else output
