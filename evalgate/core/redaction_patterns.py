"""The shapes of providers' keys: only those whose beginning nothing else has.

An id that a tool call is matched by must never look like one, so there is no guessing by
entropy or length.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from evalgate.core.redaction_words import LongWords

_WORD: Final = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
_ESCAPES: Final = (b"\\n", b"\\r", b"\\t", b"\\b", b"\\f")


class Extent(Enum):
    """How a key lies in the words of a text.

    ``WORD``: all of it is within one long word. ``TAIL``: it ends with one, and begins in what
    stands right before it. ``HEAD``: it begins with one. ``TEXT``: anywhere.
    """

    WORD = auto()
    TAIL = auto()
    HEAD = auto()
    TEXT = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """One kind of key.

    ``literal`` is a cheap test that spares most texts the regular expression. A group ``key``
    is the key itself, when the expression begins before it.
    """

    name: str
    literal: bytes
    regex: re.Pattern[bytes]
    extent: Extent = Extent.WORD

    def matches(self, data: bytes) -> Iterator[re.Match[bytes]]:
        """Yield where keys stand.

        What only ends like a key is skipped: ``task-`` holds ``sk-``. An escaped line end is no
        letter before it.
        """
        for match in self.regex.finditer(data):
            start = match.start()
            before = data[start - 1] if start else 0
            if before not in _WORD or data[max(0, start - 2) : start] in _ESCAPES:
                yield match

    def is_in(self, data: bytes) -> bool:
        """Tell whether a key of this kind is in the bytes."""
        return any(self.matches(data))

    def span(self, match: re.Match[bytes]) -> tuple[int, int]:
        """Return where the key itself begins and ends."""
        return match.span("key" if "key" in self.regex.groupindex else 0)


def _pattern(name: str, literal: bytes, regex: bytes, extent: Extent = Extent.WORD) -> Pattern:
    return Pattern(name=name, literal=literal, regex=re.compile(regex), extent=extent)


#: A private key is closed by its END line, or cut: then the long base64 runs are taken. Line
#: ends may be real or, in JSON text, escaped; a quote never belongs to a key.
_PEM: Final = (
    rb"-----BEGIN ([A-Z0-9 ]{0,40}PRIVATE KEY)-----"
    rb"(?:(?:[A-Za-z0-9+/=:,. \s-]|\\+[nrt]){0,20000}?-----END \1-----"
    rb"|(?:(?:\s|\\+[nrt])*[A-Za-z0-9+/=]{20,})+)"
)

#: A secret without a beginning of its own is known by the name that stands right before it.
_NAMED: Final = rb"[\"'\\\s:=]{1,12}(?P<key>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])"

#: Each key has a word of `LONG` bytes in it, or is looked for anywhere.
PATTERNS: Final = (
    # Models.
    _pattern("anthropic-key", b"sk-ant-", rb"sk-ant-[A-Za-z0-9_-]{16,}"),
    _pattern("openrouter-key", b"sk-or-", rb"sk-or-[A-Za-z0-9_-]{20,}"),
    _pattern("openai-key", b"sk-", rb"sk-(?:(?:proj|svcacct|admin)-[\w-]{20,}|[A-Za-z0-9]{32,})"),
    _pattern("google-key", b"AIza", rb"AIza[0-9A-Za-z_-]{35}(?![0-9A-Za-z_-])"),
    _pattern("google-oauth", b"ya29.", rb"ya29\.[0-9A-Za-z_-]{20,}", Extent.TAIL),
    _pattern("google-oauth", b"GOCSPX-", rb"GOCSPX-[0-9A-Za-z_-]{28}"),
    _pattern("groq-key", b"gsk_", rb"gsk_[A-Za-z0-9]{40,}"),
    _pattern("huggingface-token", b"hf_", rb"hf_[A-Za-z0-9]{30,}"),
    _pattern("perplexity-key", b"pplx-", rb"pplx-[A-Za-z0-9]{40,}"),
    _pattern("replicate-token", b"r8_", rb"r8_[A-Za-z0-9]{37}(?![A-Za-z0-9])"),
    _pattern("xai-key", b"xai-", rb"xai-[A-Za-z0-9]{60,}"),
    # Clouds.
    _pattern("aws-key-id", b"AKIA", rb"AKIA[0-9A-Z]{16}(?![0-9A-Za-z])"),
    _pattern("aws-key-id", b"ASIA", rb"ASIA[0-9A-Z]{16}(?![0-9A-Za-z])"),
    _pattern(
        "aws-secret", b"aws_secret_access_key", b"aws_secret_access_key" + _NAMED, Extent.TAIL
    ),
    _pattern(
        "aws-secret", b"AWS_SECRET_ACCESS_KEY", b"AWS_SECRET_ACCESS_KEY" + _NAMED, Extent.TAIL
    ),
    _pattern("aws-secret", b"SecretAccessKey", b"SecretAccessKey" + _NAMED, Extent.TAIL),
    _pattern("azure-key", b"AccountKey=", rb"AccountKey=(?P<key>[A-Za-z0-9+/]{86}==)"),
    _pattern("databricks-token", b"dapi", rb"dapi[0-9a-f]{32}(?![0-9A-Za-z])"),
    _pattern("digitalocean-token", b"_v1_", rb"do[opr]_v1_[0-9a-f]{64}"),
    # Forges and registries.
    _pattern("github-token", b"gh", rb"gh[pousr]_[A-Za-z0-9]{30,}"),
    _pattern("github-token", b"github_pat_", rb"github_pat_[A-Za-z0-9_]{30,}"),
    _pattern(
        "gitlab-token",
        b"gl",
        rb"gl(?:pat|rt|dt|ptt|oas|cbt|ft|soat|agent)-[\w-]{20,}(?:\.[0-9a-z]{2}\.[0-9a-z]{7,9})?",
    ),
    _pattern("npm-token", b"npm_", rb"npm_[A-Za-z0-9]{36}(?![A-Za-z0-9])"),
    _pattern("pypi-token", b"pypi-", rb"pypi-AgE[A-Za-z0-9_-]{50,}"),
    _pattern("docker-token", b"dckr_pat_", rb"dckr_pat_[A-Za-z0-9_-]{20,}"),
    # Services.
    _pattern("slack-token", b"xox", rb"xox[abeoprs]-[A-Za-z0-9-]{15,}"),
    _pattern("slack-token", b"xapp-", rb"xapp-[A-Za-z0-9-]{30,}"),
    _pattern(
        "slack-webhook",
        b"hooks.slack.com",
        rb"hooks\.slack\.com\\*/services\\*/(?P<key>T\w{6,14}\\*/B\w{6,14}\\*/\w{20,})",
        Extent.TAIL,
    ),
    _pattern("stripe-key", b"sk_", rb"sk_(?:live|test)_[A-Za-z0-9]{20,}"),
    _pattern("stripe-key", b"rk_", rb"rk_(?:live|test)_[A-Za-z0-9]{20,}"),
    _pattern("stripe-key", b"whsec_", rb"whsec_[A-Za-z0-9+/]{32,}"),
    _pattern("sendgrid-key", b"SG.", rb"SG\.[\w-]{22}\.[\w-]{43}(?![\w-])", Extent.TAIL),
    _pattern("linear-key", b"lin_api_", rb"lin_api_[A-Za-z0-9]{40}"),
    _pattern("vault-token", b"hvs.", rb"hvs\.[\w-]{24,}", Extent.TAIL),
    # Of any maker.
    _pattern("jwt", b"eyJ", rb"eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}", Extent.HEAD),
    _pattern("private-key", b"-----BEGIN ", _PEM, Extent.TEXT),
)


def _of(extent: Extent) -> tuple[Pattern, ...]:
    return tuple(pattern for pattern in PATTERNS if pattern.extent is extent)


_WORD_ONES, _TAIL_ONES, _HEAD_ONES, _TEXT_ONES = map(_of, Extent)


def suspects(data: bytes, found: LongWords) -> list[Pattern]:
    """Return the patterns that are worth a try on bytes with these long words, in order."""
    likely = [one for one in _TEXT_ONES if one.literal in data]
    if found.words:
        words, context = found.words, found.context
        likely += [one for one in _HEAD_ONES if one.literal in words]
        likely += [one for one in _WORD_ONES if one.literal in words and one.is_in(words)]
        likely += [one for one in _TAIL_ONES if one.literal in context and one.is_in(context)]
    return sorted(likely, key=PATTERNS.index) if len(likely) > 1 else likely
