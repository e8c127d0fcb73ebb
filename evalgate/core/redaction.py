"""Secrets out of text: known values in the forms they travel in, and the shapes providers use."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import quote, quote_plus

#: Values shorter than this are words of everyday text and would be "found" everywhere.
SHORTEST = 8

#: A value of unknown use must look like a key: as long as this, or of letters and digits both.
_LONG = 16

_SUFFIXES = ("KEY", "TOKEN", "SECRET", "PASSWORD")
_WORD = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
_ESCAPES = (b"\\n", b"\\r", b"\\t", b"\\b", b"\\f")


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A stretch of text, or of bytes, and what is put in its place."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pattern:
    """``literal`` is a cheap test that spares most texts the regular expression."""

    name: str
    literal: bytes
    regex: re.Pattern[bytes]


def _pattern(name: str, literal: bytes, regex: bytes) -> _Pattern:
    return _Pattern(name=name, literal=literal, regex=re.compile(regex))


#: A private key is closed by its END line, or cut: then the long base64 runs are taken. Line
#: ends may be real or, in JSON text, escaped; a quote never belongs to a key.
_PEM = (
    rb"-----BEGIN ([A-Z0-9 ]{0,40}PRIVATE KEY)-----"
    rb"(?:(?:[A-Za-z0-9+/=:,. \s-]|\\+[nrt]){0,20000}?-----END \1-----"
    rb"|(?:(?:\s|\\+[nrt])*[A-Za-z0-9+/=]{20,})+)"
)

#: Each expression begins with its literal: that is what makes the search fast.
PATTERNS = (
    _pattern("anthropic-key", b"sk-ant-", rb"sk-ant-[A-Za-z0-9_-]{16,}"),
    _pattern("openai-key", b"sk-", rb"sk-(?:(?:proj|svcacct|admin)-[\w-]{20,}|[A-Za-z0-9]{32,})"),
    _pattern("aws-key-id", b"AKIA", rb"AKIA[0-9A-Z]{16}(?![0-9A-Za-z])"),
    _pattern("github-token", b"gh", rb"gh[pousr]_[A-Za-z0-9]{30,}"),
    _pattern("github-token", b"github_pat_", rb"github_pat_[A-Za-z0-9_]{30,}"),
    _pattern("slack-token", b"xox", rb"xox[abeoprs]-[A-Za-z0-9-]{10,}"),
    _pattern("google-key", b"AIza", rb"AIza[0-9A-Za-z_-]{35}(?![0-9A-Za-z_-])"),
    _pattern("jwt", b"eyJ", rb"eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}"),
    _pattern("private-key", b"-----BEGIN ", _PEM),
)


class Redactor:
    """Replaces secrets by stable labels: equal text gives equal text on every machine.

    A known value becomes ``<secret:NAME>``, also where it is base64 (at any offset), URL-encoded
    or escaped for JSON; what looks like a provider's key becomes ``<secret:kind>``. There is no
    guessing by entropy: it would eat the ids that tool calls are matched by.
    """

    def __init__(self, secrets: Mapping[str, str]) -> None:
        """Know these values by name; those too short to be told from words are ignored."""
        self._secrets = {name: value for name, value in secrets.items() if len(value) >= SHORTEST}
        self._forms = _forms(self._secrets)

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
        for form, name in self._forms:
            if form in data:
                data = data.replace(form, f"<secret:{name}>".encode())
        for pattern in PATTERNS:
            if pattern.literal in data:
                data = _replace(data, pattern)
        return data

    def leaks(self, data: bytes) -> list[str]:
        """Return the sorted names of the secrets and kinds of keys found in the bytes."""
        names = {name for form, name in self._forms if form in data}
        names.update(pattern.name for pattern in PATTERNS if any(_matches(data, pattern)))
        return sorted(names)

    def spans(self, text: str) -> list[Span]:
        """Return where secrets stand in a text, in order and apart from one another."""
        found: list[Span] = []
        for form, name in self._forms:
            needle = form.decode("utf-8", "surrogatepass")
            if needle in text:
                hits = re.finditer(re.escape(needle), text)
                found += [_span(hit.start(), hit.end(), name) for hit in hits]
        data = text.encode("utf-8", "surrogatepass")
        for pattern in PATTERNS:
            for match in _matches(data, pattern):
                # Patterns match ASCII only, so bytes and characters differ in what is before.
                start = len(data[: match.start()].decode("utf-8", "surrogatepass"))
                found.append(_span(start, start + len(match.group()), pattern.name))
        return _apart(found)


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


def _forms(secrets: Mapping[str, str]) -> list[tuple[bytes, str]]:
    """Longest first, so that no form is cut by a shorter one inside it."""
    forms: dict[bytes, str] = {}
    for name, value in secrets.items():
        for form in _forms_of(value):
            forms.setdefault(form, name)
    return sorted(forms.items(), key=lambda item: (-len(item[0]), item[0]))


def _forms_of(value: str) -> Iterator[bytes]:
    raw = value.encode("utf-8", "surrogatepass")
    yield raw
    yield quote(raw, safe="").encode()
    yield quote_plus(raw).encode()
    for escaped in (json.dumps(value), json.dumps(value, ensure_ascii=False)):
        inner = escaped[1:-1]
        yield inner.encode("utf-8", "surrogatepass")
        yield inner.replace("/", "\\/").encode("utf-8", "surrogatepass")
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        for offset in range(3):
            yield _core(encode(b"\0" * offset + raw), offset, len(raw))


def _core(encoded: bytes, offset: int, length: int) -> bytes:
    """Return the characters that depend on the secret alone, whatever stands around it."""
    first = -(-8 * offset // 6)
    last = 8 * (offset + length) // 6
    return encoded[first:last]


def _matches(data: bytes, pattern: _Pattern) -> Iterator[re.Match[bytes]]:
    """Skip what only ends like a key: ``task-`` holds ``sk-``; an escaped line end is no letter."""
    if pattern.literal not in data:
        return
    for match in pattern.regex.finditer(data):
        start = match.start()
        before = data[start - 1] if start else 0
        if before not in _WORD or data[max(0, start - 2) : start] in _ESCAPES:
            yield match


def _replace(data: bytes, pattern: _Pattern) -> bytes:
    pieces: list[bytes] = []
    end = 0
    for match in _matches(data, pattern):
        pieces += [data[end : match.start()], f"<secret:{pattern.name}>".encode()]
        end = match.end()
    return b"".join([*pieces, data[end:]]) if pieces else data


def _span(start: int, end: int, name: str) -> Span:
    return Span(start=start, end=end, text=f"<secret:{name}>")


def _apart(spans: list[Span]) -> list[Span]:
    kept: list[Span] = []
    for span in sorted(spans, key=lambda span: (span.start, -span.end)):
        if not kept or span.start >= kept[-1].end:
            kept.append(span)
    return kept
