"""Places out of text: the paths of this one run, which evalgate knows and need not guess."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import lru_cache

from evalgate.core.redaction import Span

#: A place begins after anything but a word, an escaped line end, or the letter of ``-I`` / ``-L``.
_BEFORE = rb"(?:(?<![\w.~-])|(?<=\\[nrtbf])|(?<=-[IL]))"
#: ... and ends before anything that would make it the start of a longer name.
_AFTER = rb"(?![\w-]|\.\w)"
_SHORTEST = 2
_SHORTEST_SLUG = 8


def scrub_paths(text: str, places: Mapping[str, str]) -> str:
    """Replace each place by ``<LABEL>``, longest path first.

    ``places`` is label -> absolute path. Agents also write a path as one word for a folder name,
    with ``-`` for everything but letters and digits: after a slash that becomes ``<LABEL:slug>``.
    """
    data = text.encode("utf-8", "surrogatepass")
    return scrub_bytes(data, places).decode("utf-8", "surrogatepass")


def scrub_bytes(data: bytes, places: Mapping[str, str]) -> bytes:
    """Do the same to bytes, such as the JSON text of a request; JSON stays JSON."""
    for needle, regex, label in _rules(tuple(sorted(places.items()))):
        if needle in data:
            data = regex.sub(lambda _, label=label: label, data)  # type: ignore[misc]
    return data


def place_spans(text: str, old: Mapping[str, str], new: Mapping[str, str]) -> list[Span]:
    """Return where the places of one run stand in a text, and those of another to put there."""
    shared = [label for label in old if label in new]
    paths = {f"<{label}>".encode(): new[label] for label in shared}
    slugs = {f"<{label}:slug>".encode(): _slug(new[label]) for label in shared}
    targets = paths | slugs
    data = text.encode("utf-8", "surrogatepass")
    spans: list[Span] = []
    for _, regex, label in _rules(tuple(sorted((name, old[name]) for name in shared))):
        for match in regex.finditer(data):
            start = len(data[: match.start()].decode("utf-8", "surrogatepass"))
            end = start + len(match.group().decode("utf-8", "surrogatepass"))
            if all(end <= span.start or start >= span.end for span in spans):
                spans.append(Span(start=start, end=end, text=targets[label]))
    return sorted(spans, key=lambda span: span.start)


@lru_cache(maxsize=256)
def _rules(places: tuple[tuple[str, str], ...]) -> list[tuple[bytes, re.Pattern[bytes], bytes]]:
    rules: list[tuple[bytes, re.Pattern[bytes], bytes]] = []
    for label, place in sorted(places, key=lambda item: (-len(item[1]), item)):
        path = place.rstrip("/")
        if len(path) < _SHORTEST:
            continue
        plain = path.encode("utf-8", "surrogateescape")
        escaped = json.dumps(path, ensure_ascii=False)[1:-1].encode("utf-8", "surrogateescape")
        for form in dict.fromkeys((plain, escaped)):
            whole = re.compile(_BEFORE + re.escape(form) + _AFTER)
            rules.append((form, whole, f"<{label}>".encode()))
        slug = _slug(path).encode()
        if len(slug) >= _SHORTEST_SLUG:
            folder = re.compile(rb"(?<=/)" + re.escape(slug) + rb"(?![A-Za-z0-9])")
            rules.append((slug, folder, f"<{label}:slug>".encode()))
    return rules


def _slug(path: str) -> str:
    return re.sub(r"[^A-Za-z0-9]", "-", path)
