"""Which tests a test program reported, read from its own words."""

from __future__ import annotations

import re

# "test_first (test_pages.PagesTest.test_first) ... ok"; Python 3.10 leaves the last word out.
_HEADER = re.compile(r"^(\w+) \(([\w.]+)\)", re.MULTILINE)
_STATUS = re.compile(r"(?:\.\.\. |^)(ok|FAIL|ERROR|skipped\b.*|expected failure)$", re.MULTILINE)


def passed_tests(output: str) -> frozenset[str]:
    """Return the ids that ``unittest -v`` reported as passed.

    What a test prints may stand between a header and its status, so the status is the
    last one before the next header.
    """
    body = output.split("\n======", 1)[0].split("\n------", 1)[0]
    headers = list(_HEADER.finditer(body))
    ends = [*(header.start() for header in headers[1:]), len(body)]
    found = set()
    for header, end in zip(headers, ends, strict=True):
        statuses = _STATUS.findall(body[header.end() : end])
        if statuses and statuses[-1] == "ok":
            found.add(_full_id(header[1], header[2]))
    return frozenset(found)


def _full_id(method: str, place: str) -> str:
    return place if place.endswith(f".{method}") else f"{place}.{method}"
