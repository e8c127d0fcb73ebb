"""Checks on what was put out: by a command of the grade stage, in a file, or as the answer."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import ClassVar, Final

from evalgate.checks.findings import PASSED, failed
from evalgate.checks.numbers import BETWEEN, is_about, last_number, number_of, with_hyphens
from evalgate.checks.origin import Origin
from evalgate.checks.pattern import lines_with, read_pattern
from evalgate.core.claim import split_lines
from evalgate.core.observation import Observation
from evalgate.core.schema import Reader
from evalgate.protocols import Finding

_ERRORS: Final = r"(?i)^Traceback \(|\b(?:\w*error|\w*exception|fatal|panic(?:ked)?)\b"
#: What makes a piece of text part of a longer token: "7" is neither in "17" nor in "7.5", "-7",
#: "1 007" with a blank that holds together, "7/8" or "7:30".
_BEFORE: Final = rf"(?<![\w.+-])(?<!\d[{BETWEEN}/:])"
_AFTER: Final = rf"(?![\w-])(?![.{BETWEEN}/:]\d)"
_MATCHES: Final = ("token", "exact", "number")
_SHOWN: Final = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class NoErrorsInOutput:
    """No line of the output tells of an error, whatever the exit code is.

    Example: ``{type = "no_errors_in_output", command = "make", allowed = "^0 errors"}``.
    """

    version: ClassVar[int] = 1
    origin: Origin
    pattern: str
    allowed: str

    @property
    def command(self) -> str | None:
        """The command whose output is read, if it is one."""
        return self.origin.command

    @classmethod
    def from_params(cls, params: Reader) -> NoErrorsInOutput:
        """Read where it stands, the ``pattern`` of errors, and that of lines ``allowed``."""
        allowed = read_pattern(params, "allowed") if params.has("allowed") else ""
        origin = Origin.from_params(params)
        return cls(origin=origin, pattern=read_pattern(params, default=_ERRORS), allowed=allowed)

    def examine(self, seen: Observation) -> Finding:
        """Pass when nothing matches but what is allowed."""
        text = self.origin.read(seen)
        if isinstance(text, Finding):
            return text
        lines = split_lines(text)
        errors = [lines[at] for at in lines_with(lines, self.pattern)]
        if self.allowed and len(lines_with(errors, self.allowed)) == len(errors):
            return PASSED
        return failed(f"{self.origin.name}: the output tells of an error") if errors else PASSED


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedOutput:
    """The output holds what is expected as a token of its own, is it, or ends in that number.

    Example: ``{type = "expected_output", command = "python3 sum.py", expected = "7"}``.
    """

    version: ClassVar[int] = 2
    origin: Origin
    expected: str
    match: str
    tolerance: float

    @property
    def command(self) -> str | None:
        """The command whose output is read, if it is one."""
        return self.origin.command

    @classmethod
    def from_params(cls, params: Reader) -> ExpectedOutput:
        """Read where it stands, ``expected``, ``match`` (token, exact, number) and ``tolerance``.

        By ``number`` the last number of the text counts, unless it may be read in two ways; the
        tolerance is absolute.
        """
        match = params.choice("match", "token", _MATCHES)
        expected = params.text("expected")
        if not expected.strip():
            raise params.error("must not be empty", "expected")
        if match == "number" and number_of(expected) is None:
            raise params.error(f"{expected!r} is no finite number", "expected")
        if params.has("tolerance") and match != "number":
            raise params.error('is for match = "number" alone', "tolerance")
        return cls(
            origin=Origin.from_params(params),
            expected=expected,
            match=match,
            tolerance=params.number("tolerance", 0.0),
        )

    def examine(self, seen: Observation) -> Finding:
        """Pass when it is there; blanks around the text and within a token do not count."""
        text = self.origin.read(seen)
        if isinstance(text, Finding):
            return text
        if self._holds(text):
            return PASSED
        return failed(f"{self.origin.name}: {self.match} {self.expected[:_SHOWN]!r} is not there")

    def _holds(self, text: str) -> bool:
        if self.match == "number":
            wanted, got = number_of(self.expected), last_number(text)
            if wanted is None or got is None:
                return False
            return is_about(got, wanted, tolerance=self.tolerance)
        # A letter with its accent is one, however it is written.
        there, expected = (unicodedata.normalize("NFC", one) for one in (text, self.expected))
        if self.match == "exact":
            return there.strip() == expected.strip()
        words = r"\s+".join(map(re.escape, with_hyphens(expected).split()))
        return re.search(f"{_BEFORE}{words}{_AFTER}", with_hyphens(there)) is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExactLabel:
    """The answer is one label of a closed set, and the right one, to the letter.

    Example: ``{type = "exact_label", labels = ["bug", "billing", "other"], expected = "bug"}``.
    """

    version: ClassVar[int] = 1
    origin: Origin
    labels: tuple[str, ...]
    expected: str
    last_line: bool

    @property
    def command(self) -> str | None:
        """The command whose output is read, if it is one."""
        return self.origin.command

    @classmethod
    def from_params(cls, params: Reader) -> ExactLabel:
        """Read where it stands, ``labels``, ``expected``, and ``last_line`` to look at no other."""
        labels, expected = params.texts("labels"), params.text("expected")
        if expected not in labels:
            raise params.error(f"{expected!r} is none of the labels", "expected")
        return cls(
            origin=Origin.from_params(params),
            labels=labels,
            expected=expected,
            last_line=params.flag("last_line", default=False),
        )

    def examine(self, seen: Observation) -> Finding:
        """Pass when the text, without blanks around it, is the expected label."""
        text = self.origin.read(seen)
        if isinstance(text, Finding):
            return text
        label = text.strip()
        if self.last_line:
            label = label.rpartition("\n")[2].strip()
        if label not in self.labels:
            return failed(f"{self.origin.name} is none of the labels")
        return PASSED if label == self.expected else failed(f"{label}, not {self.expected}")
