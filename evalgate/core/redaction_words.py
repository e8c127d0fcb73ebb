"""The long words of a text: nearly every key is one, and most texts have next to none.

To look through them alone is what makes it cheap to look for many keys.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

#: The characters of a word: those of base64 and of the keys of providers.
CHARACTERS: Final = frozenset(
    b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+/="
)

#: Shorter words are no keys that a pattern knows.
LONG: Final = 20

#: What stands before a word is looked at too: some keys begin with a word and a dot.
_BEFORE: Final = 64

_CLASSES: Final = bytes(120 if code in CHARACTERS else 32 for code in range(256))
_RUN: Final = b"x" * LONG


def is_long_word(text: bytes) -> bool:
    """Tell whether `long_words` would keep this text whole, wherever it stands."""
    return len(text) >= LONG and CHARACTERS.issuperset(text)


@dataclass(frozen=True, slots=True)
class LongWords:
    """The words of `LONG` bytes or more, in order; empty when there are none.

    ``words`` holds each with the two bytes before it, ``context`` with all that may belong to it.
    """

    words: bytes = b""
    context: bytes = b""


_NONE: Final = LongWords()


def long_words(data: bytes) -> LongWords:
    """Return the long words of a text."""
    classes = data.translate(_CLASSES)
    start = classes.find(_RUN)
    if start < 0:
        return _NONE
    words: list[bytes] = []
    context: list[bytes] = []
    while start >= 0:
        end = classes.find(b" ", start + LONG)
        end = len(data) if end < 0 else end
        words.append(data[max(start - 2, 0) : end])
        context.append(data[max(start - _BEFORE, 0) : end])
        start = classes.find(_RUN, end)
    return LongWords(b" ".join(words), b" ".join(context))
