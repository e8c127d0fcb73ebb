"""Which tests a test program reported, read from its own words."""

from __future__ import annotations

import re

# "test_first (test_pages.PagesTest.test_first) ... ok"; Python 3.10 leaves the last word out.
_HEADER = re.compile(r"^(\w+) \(([\w.]+)\)", re.MULTILINE)
_STATUS = re.compile(r"(?:\.\.\. |^)(ok|FAIL|ERROR|skipped\b.*|(?:un)?expected \w+)$", re.MULTILINE)
_RULE = re.compile(r"^(?:={70}|-{70})$", re.MULTILINE)


def passed_tests(output: str) -> frozenset[str]:
    """Return the ids that ``unittest -v`` reported as passed.

    What a test prints may stand between a header and its status, so the status is the
    last one before the next header. An id reported with two statuses is not believed.
    """
    body = _RULE.split(output, maxsplit=1)[0]
    headers = list(_HEADER.finditer(body))
    ends = [*(header.start() for header in headers[1:]), len(body)]
    found: set[str] = set()
    denied: set[str] = set()
    for header, end in zip(headers, ends, strict=False):  # without a header there is one end
        statuses = _STATUS.findall(body[header.end() : end])
        if statuses:
            kind = found if statuses[-1] == "ok" else denied
            kind.add(_full_id(header[1], header[2]))
    return frozenset(found - denied)


def _full_id(method: str, place: str) -> str:
    return place if place.endswith(f".{method}") else f"{place}.{method}"
