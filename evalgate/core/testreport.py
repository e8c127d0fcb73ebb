"""Which tests a test program reported, read from its own words."""

from __future__ import annotations

import re

# "test_first (test_pages.PagesTest.test_first) ... ok"; Python 3.10 leaves the last word out.
_HEADER = re.compile(r"^(\w+) \(([\w.]+)\)", re.MULTILINE)
_STATUS = re.compile(r"(?:\.\.\. |^)(ok|FAIL|ERROR|skipped\b.*|(?:un)?expected \w+)$", re.MULTILINE)
_RULE = re.compile(r"^(?:={70}|-{70})$", re.MULTILINE)
# "PASSED tests/test_a.py::test_x[1-a]" and "FAILED tests/test_a.py::test_y - assert 1 == 2".
_SUMMARY = re.compile(r"^=+ short test summary info =+$", re.MULTILINE)
_SUMMED = re.compile(r"^([A-Z]+) (\S.*)$", re.MULTILINE)
#: The place of an object in memory, which some ids of pytest hold: another one each time.
_ADDRESS = re.compile(r"\b0x[0-9a-f]{6,}")


def passed_tests(output: str) -> frozenset[str]:
    """Return the ids that ``unittest -v``, or ``pytest -rA``, reported as passed.

    An id reported with two statuses is not believed.
    """
    return _of_unittest(output) | _of_pytest(output)


def _of_pytest(output: str) -> frozenset[str]:
    """Read the summary that stands last: what tests print stands before it."""
    _, *summaries = _SUMMARY.split(output)
    rows = _SUMMED.findall(summaries[-1]) if summaries else []
    found = {said for word, said in rows if word == "PASSED" and not _ADDRESS.search(said)}
    denied = {said for word, said in rows if word != "PASSED"}
    denied |= {said.partition(" - ")[0] for said in denied}
    return frozenset(found - denied)


def _of_unittest(output: str) -> frozenset[str]:
    """Read the last status before each next header: what a test prints may stand between."""
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
