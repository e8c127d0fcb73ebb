"""Which tests a JUnit file reports, and how each went: from text of strangers."""

from __future__ import annotations

import io
from xml.parsers import expat

#: Far more than a suite needs, and little enough to be read in an instant.
_LARGEST = 16 * 1024 * 1024
_BAD = frozenset({"failure", "error", "skipped"})


def junit_results(data: bytes) -> dict[str, str]:
    """Return ``passed``, ``failure``, ``error`` or ``skipped`` by id: ``classname.name``.

    What a test reported twice counts at its worst. ValueError when it is no such file; one with
    a document type is refused, since entities can be made to fill the memory.
    """
    if len(data) > _LARGEST:
        raise ValueError("the report is too large")
    reading = _Reading()
    try:
        reading.parser.ParseFile(io.BytesIO(data))
    except expat.ExpatError as error:
        raise ValueError(f"the report is no XML: {error}") from None
    if not reading.suites:
        raise ValueError("the report is no JUnit file")
    return reading.found


def plain_id(name: str) -> str:
    """Return the id that a JUnit file has for a test as pytest names it: ``a/t.py::T::test_b``."""
    if "::" not in name:
        return name
    place, bracket, values = name.partition("[")
    file, _, rest = place.partition("::")
    return ".".join([*file.removesuffix(".py").split("/"), *rest.split("::")]) + bracket + values


class _Reading:
    def __init__(self) -> None:
        self.found: dict[str, str] = {}
        self.suites = 0
        self._id = ""
        self._status = ""
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.StartDoctypeDeclHandler = self._refuse

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self.suites += tag in {"testsuite", "testsuites"}
        if tag == "testcase":
            names = (attributes.get("classname", ""), attributes.get("name", ""))
            self._id, self._status = ".".join(filter(None, names)), "passed"
        elif tag in _BAD and self._id:
            self._status = tag

    def _end(self, tag: str) -> None:
        if tag == "testcase":
            if self.found.get(self._id, "passed") == "passed":
                self.found[self._id] = self._status
            self._id = ""

    def _refuse(self, *_: object) -> None:
        raise ValueError("the report has a document type, which no JUnit file has")
