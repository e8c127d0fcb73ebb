"""Places out of text: the paths of this one run, which evalgate knows and need not guess."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from evalgate.core.redaction import Span

#: A place begins after anything but a word: after an escaped line end, or after ``-I`` or ``-L``.
#: Asked of each hit and not in the search: an expression is fast when it begins with its literal.
_BEFORE = re.compile(rb"(?:^|[^\w.~-]|\\[nrtbf]|-[IL])\Z")
_BEFORE_SLUG = re.compile(rb"/\Z")
#: ... and ends before anything that would make it the start of a longer name.
_AFTER = rb"(?![\w-]|\.\w)"
_AFTER_SLUG = rb"(?![A-Za-z0-9])"
_SHORTEST = 2
_SHORTEST_SLUG = 8


def replace_places(data: bytes, places: Mapping[str, str]) -> bytes:
    """Replace each place by ``<LABEL>``, longest path first; JSON text stays JSON text.

    ``places`` is label -> absolute path. Agents also write a path as one word for a folder name,
    with ``-`` for everything but letters and digits: after a slash that becomes ``<LABEL:slug>``.
    """
    for rule in _rules(tuple(sorted(places.items()))):
        if rule.form in data:
            data = _replaced(data, rule)
    return data


def place_spans(text: str, old: Mapping[str, str], new: Mapping[str, str]) -> list[Span]:
    """Return where the places of one run stand in a text, and those of another to put there."""
    shared = [label for label in old if label in new]
    paths = {f"<{label}>".encode(): new[label] for label in shared}
    slugs = {f"<{label}:slug>".encode(): _slug(new[label]) for label in shared}
    targets = paths | slugs
    data = text.encode("utf-8", "surrogatepass")
    spans: list[Span] = []
    for rule in _rules(tuple(sorted((name, old[name]) for name in shared))):
        for match in _matches(data, rule):
            start = len(data[: match.start()].decode("utf-8", "surrogatepass"))
            end = start + len(match.group().decode("utf-8", "surrogatepass"))
            if all(end <= span.start or start >= span.end for span in spans):
                spans.append(Span(start=start, end=end, text=targets[rule.label]))
    return sorted(spans, key=lambda span: span.start)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rule:
    """One form of a place, what may stand before it, and the label for it."""

    form: bytes
    regex: re.Pattern[bytes]
    before: re.Pattern[bytes]
    label: bytes


def _matches(data: bytes, rule: _Rule) -> Iterator[re.Match[bytes]]:
    for match in rule.regex.finditer(data):
        if rule.before.search(data[max(0, match.start() - 2) : match.start()]):
            yield match


def _replaced(data: bytes, rule: _Rule) -> bytes:
    pieces: list[bytes] = []
    end = 0
    for match in _matches(data, rule):
        pieces += [data[end : match.start()], rule.label]
        end = match.end()
    return b"".join([*pieces, data[end:]])


@lru_cache(maxsize=256)
def _rules(places: tuple[tuple[str, str], ...]) -> list[_Rule]:
    rules: list[_Rule] = []
    for label, place in sorted(places, key=lambda item: (-len(item[1]), item)):
        path = place.rstrip("/")
        if len(path) < _SHORTEST:
            continue
        plain = path.encode("utf-8", "surrogateescape")
        escaped = json.dumps(path, ensure_ascii=False)[1:-1].encode("utf-8", "surrogateescape")
        forms = dict.fromkeys((plain, escaped))
        rules += [_rule(form, _AFTER, _BEFORE, f"<{label}>") for form in forms]
        slug = _slug(path).encode()
        if len(slug) >= _SHORTEST_SLUG:
            rules.append(_rule(slug, _AFTER_SLUG, _BEFORE_SLUG, f"<{label}:slug>"))
    return rules


def _rule(form: bytes, after: bytes, before: re.Pattern[bytes], label: str) -> _Rule:
    regex = re.compile(re.escape(form) + after)
    return _Rule(form=form, regex=regex, before=before, label=label.encode())


def _slug(path: str) -> str:
    return re.sub(r"[^A-Za-z0-9]", "-", path)
