"""A provider that echoes the key must not hand it to the agent: it is veiled on the way back."""

from __future__ import annotations


class Veil:
    """Replaces one value in a stream of chunks; holds back only what may be its beginning."""

    def __init__(self, value: str | None, label: str) -> None:
        """Put the label in the place of a value; None veils nothing."""
        self._value = (value or "").encode()
        self._label = label.encode()
        self._held = b""

    def pass_on(self, chunk: bytes) -> bytes:
        """Return what can be relayed now."""
        if not self._value:
            return chunk
        data = (self._held + chunk).replace(self._value, self._label)
        kept = self._beginning(data)
        self._held = data[len(data) - kept :]
        return data[: len(data) - kept]

    def rest(self) -> bytes:
        """Return what was held back, once the stream has ended."""
        held, self._held = self._held, b""
        return held

    def _beginning(self, data: bytes) -> int:
        """Return how many last bytes are a beginning of the value."""
        longest = min(len(data), len(self._value) - 1)
        sizes = range(longest, 0, -1)
        return next((size for size in sizes if data.endswith(self._value[:size])), 0)
