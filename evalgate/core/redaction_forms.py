"""The forms in which a known value travels: as it is, escaped, percent-encoded, base64, hex.

A form is an expression that is compiled when it is first needed, and needles that must be in a
text before that. The needles are looked for in the long words of a text where they can be.
"""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from evalgate.core.redaction_words import LONG, is_long_word

#: These stand for themselves wherever a text is put, so a run of them is in every form.
_PLAIN: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._")

#: A backslash of JSON, of JSON inside a string of JSON, and of one more level.
_ESCAPE: Final = r"(?:\\\\\\\\|\\\\|\\)"
_SHORT_ESCAPES: Final = {"\n": "n", "\r": "r", "\t": "t", "\b": "b", "\f": "f", "/": "/"}

#: Tools cut base64 into lines, at 76 characters mostly, and may indent them.
_BREAK: Final = r"(?:\s|\\{1,4}[nrt]){0,40}"

#: The last code point that JSON escapes as one unit of UTF-16.
_ONE_UNIT: Final = 0xFFFF

#: A needle shorter than this is in too many texts.
_NEEDLE: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """One form of the value called ``name``.

    The form may be in a text when one of ``needles`` is in it; ``in_words`` tells that the long
    words of the text are enough to look through. Without needles it may always be.
    """

    name: str
    source: str
    length: int
    needles: tuple[bytes, ...]
    in_words: bool

    def may_be_in(self, text: bytes) -> bool:
        """Tell whether the expression is worth a try."""
        return not self.needles or any(needle in text for needle in self.needles)

    @property
    def regex(self) -> re.Pattern[bytes]:
        """What finds the form in bytes."""
        return _compiled(self.source)


@lru_cache(maxsize=1024)
def _compiled(source: str) -> re.Pattern[bytes]:
    return re.compile(source.encode("utf-8", "surrogatepass"))


@lru_cache(maxsize=256)
def forms_of(name: str, value: str) -> tuple[Form, ...]:
    """Return the forms of a value, each once."""
    return (_escaped(name, value), *_hexadecimal(name, value), *_base64(name, value))


def _escaped(name: str, value: str) -> Form:
    """As it is, in JSON however deep, in a URL, in HTML: each character in one of its forms."""
    raw = value.encode("utf-8", "surrogatepass")
    run = _longest(value, _PLAIN)
    whole = run == value and is_long_word(raw)
    needles = (run.encode(),) if len(run) >= _NEEDLE else ()
    # The longer the value, the earlier its turn: it may have a shorter one inside.
    return Form(
        name=name,
        source="".join(map(_character, value)),
        length=len(raw),
        needles=needles,
        in_words=whole or is_long_word(needles[0] if needles else b""),
    )


def _character(one: str) -> str:
    if one in _PLAIN:
        return re.escape(one)
    code = ord(one)
    percent = "".join(f"%(?:25)*(?i:{byte:02x})" for byte in one.encode("utf-8", "surrogatepass"))
    units = [f"{code:04x}"]
    if code > _ONE_UNIT:
        pair = one.encode("utf-16-be").hex()
        units = [pair[:4], pair[4:]]
    unicode = "".join(f"{_ESCAPE}u(?i:{unit})" for unit in units)
    ways = [percent, unicode, f"&#0*{code};", f"&#[xX]0*(?i:{code:x});"]
    if (entity := html.escape(one)) != one:
        ways.append(re.escape(entity))
    if one in _SHORT_ESCAPES:
        ways.append(_ESCAPE + _SHORT_ESCAPES[one])
    match one:
        case '"':
            ways.append(r'(?:\\{7}|\\{3}|\\)?"')
        case "'":
            ways.append(r"\\?'")
        case "\\":
            ways.append(r"(?:\\{8}|\\{4}|\\{2}|\\)")
        case "\n":
            ways.append(r"\r?\n")
        case " ":
            ways.append(r"[ +]")
        case _:
            ways.append(re.escape(one))
    return f"(?:{'|'.join(ways)})"


def _hexadecimal(name: str, value: str) -> Iterator[Form]:
    written = value.encode("utf-8", "surrogatepass").hex()
    for text in dict.fromkeys((written, written.upper())):
        needle = text.encode()
        yield Form(
            name=name,
            source=text,
            length=len(text),
            needles=(needle,),
            in_words=is_long_word(needle),
        )


def _base64(name: str, value: str) -> Iterator[Form]:
    """At each of three offsets, in both alphabets, in one line or cut into several."""
    raw = value.encode("utf-8", "surrogatepass")
    for offset in range(3):
        encoded = base64.b64encode(b"\0" * offset + raw).decode()
        # Only the characters that depend on the value alone, whatever stands around it.
        core = encoded[-(-8 * offset // 6) : 8 * (offset + len(raw)) // 6]
        yield Form(
            name=name,
            source=_BREAK.join(map(_digit, core)),
            length=len(core),
            needles=_needles(core),
            in_words=len(core) >= LONG,
        )


def _digit(one: str) -> str:
    if one == "+":
        return r"(?:[+-]|%(?:25)*2[bB]|\\{1,4}u002[bB])"
    if one == "/":
        return r"(?:\\{0,4}/|_|%(?:25)*2[fF])"
    return one


def _needles(core: str) -> tuple[bytes, ...]:
    """Return a needle of each half: a line end that cuts the one leaves the other whole."""
    plain = _PLAIN - set("-._")
    middle = len(core) // 2
    both = [_longest(half, plain) for half in (core[:middle], core[middle:])]
    if len(core) < LONG or min(map(len, both)) < _NEEDLE:
        both = [_longest(core, plain)]
    return tuple(run.encode() for run in both) if len(both[0]) >= _NEEDLE else ()


def _longest(text: str, characters: frozenset[str] | set[str]) -> str:
    longest = start = 0
    begin = 0
    for position, one in enumerate(f"{text}\0"):
        if one not in characters:
            if position - begin > longest:
                longest, start = position - begin, begin
            begin = position + 1
    return text[start : start + longest]
