"""Secrets out of text: known values in the forms they travel in, and the shapes providers use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from evalgate.core.redaction_forms import Form, forms_of
from evalgate.core.redaction_patterns import Pattern, suspects
from evalgate.core.redaction_words import long_words

#: Values shorter than this are words of everyday text and would be "found" everywhere.
SHORTEST: Final = 8

#: A value of unknown use must look like a key: as long as this, or of letters and digits both.
_LONG: Final = 16

#: A key right behind another one can only be told from a word once the first is gone.
_ROUNDS: Final = 32

_SUFFIXES: Final = ("KEY", "TOKEN", "SECRET", "PASSWORD")


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A stretch of text, or of bytes, and what is put in its place."""

    start: int
    end: int
    text: str


class Redactor:
    """Replaces secrets by stable labels: equal text gives equal text on every machine.

    A known value becomes ``<secret:NAME>``, also where it is base64 (at any offset, in lines),
    hex, percent-encoded or escaped for JSON or HTML; what looks like a provider's key becomes
    ``<secret:kind>``. There is no guessing by entropy: it would eat the ids that tool calls are
    matched by. A text without secrets costs one look at its long words.
    """

    def __init__(self, secrets: Mapping[str, str]) -> None:
        """Know these values by name; those too short to be told from words are ignored."""
        self._secrets = {name: value for name, value in secrets.items() if len(value) >= SHORTEST}
        forms = [form for name, value in self._secrets.items() for form in forms_of(name, value)]
        self._in_words = [form for form in forms if form.in_words]
        self._elsewhere = [form for form in forms if not form.in_words]

    @property
    def known(self) -> frozenset[tuple[str, str]]:
        """The values it knows by name: two that know the same clean alike."""
        return frozenset(self._secrets.items())

    def also(self, secrets: Mapping[str, str]) -> Redactor:
        """Return a redactor that knows these too; a value keeps the name it is known by."""
        known = set(self._secrets.values())
        more = {name: value for name, value in secrets.items() if value not in known}
        return Redactor({**more, **self._secrets})

    def text(self, text: str) -> str:
        """Return the text without secrets."""
        return self.data(text.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogatepass")

    def data(self, data: bytes) -> bytes:
        """Return the bytes without secrets; JSON text stays JSON text."""
        for _ in range(_ROUNDS):
            clean = self._cleaned(data)
            if clean == data:
                break
            data = clean
        return data

    def _cleaned(self, data: bytes) -> bytes:
        forms, patterns = self._suspects(data)
        for form in forms:
            label = _label(form.name).encode()
            data = form.regex.sub(label.replace(b"\\", b"\\\\"), data)
        for pattern in patterns:
            data = _replace(data, pattern)
        return data

    def leaks(self, data: bytes) -> list[str]:
        """Return the sorted names of the secrets and kinds of keys found in the bytes."""
        forms, patterns = self._suspects(data)
        names = {form.name for form in forms if form.regex.search(data)}
        names.update(pattern.name for pattern in patterns if pattern.is_in(data))
        return sorted(names)

    def spans(self, text: str) -> list[Span]:
        """Return where secrets stand in a text, in order and apart from one another."""
        data = text.encode("utf-8", "surrogatepass")
        forms, patterns = self._suspects(data)
        hits = [(form.name, *hit.span()) for form in forms for hit in form.regex.finditer(data)]
        hits += [(kind.name, *kind.span(hit)) for kind in patterns for hit in kind.matches(data)]
        kept: list[Span] = []
        for name, start, end in sorted(hits, key=lambda hit: (hit[1], -hit[2])):
            begin, stop = _characters(data, start), _characters(data, end)
            if not kept or begin >= kept[-1].end:
                kept.append(Span(start=begin, end=stop, text=_label(name)))
        return kept

    def _suspects(self, data: bytes) -> tuple[list[Form], list[Pattern]]:
        """Return what may be in the bytes, by tests that cost next to nothing."""
        found = long_words(data)
        forms = [form for form in self._elsewhere if form.may_be_in(data)]
        if found.words:
            forms += [form for form in self._in_words if form.may_be_in(found.words)]
        if len(forms) > 1:
            # Longest first, so that no form is cut by a shorter one inside it.
            forms.sort(key=lambda form: (-form.length, form.source))
        return forms, suspects(data, found)


def known_secrets(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables whose names end in KEY, TOKEN, SECRET or PASSWORD, with values.

    Only what looks like a key is taken: 16 characters or more, or 8 or more with both letters
    and digits. A password that is a word, as ``postgres``, is everyday text and would be
    "found" in code that has nothing to do with it. The keys of configured models need no such
    test: the wire knows them as what they are.
    """
    return {
        name: value
        for name, value in sorted(environ.items())
        if name.upper().endswith(_SUFFIXES) and _is_like_a_key(value)
    }


def _is_like_a_key(value: str) -> bool:
    mixed = any(map(str.isalpha, value)) and any(map(str.isdigit, value))
    return len(value) >= (SHORTEST if mixed else _LONG)


def _label(name: str) -> str:
    return f"<secret:{name}>"


def _replace(data: bytes, pattern: Pattern) -> bytes:
    pieces: list[bytes] = []
    position = 0
    for match in pattern.matches(data):
        start, end = pattern.span(match)
        pieces += [data[position:start], _label(pattern.name).encode()]
        position = end
    return b"".join([*pieces, data[position:]]) if pieces else data


def _characters(data: bytes, position: int) -> int:
    return len(data[:position].decode("utf-8", "surrogatepass"))
