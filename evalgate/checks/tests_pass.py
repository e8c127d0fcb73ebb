"""The check that tests pass by name, as a JUnit file reports them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from evalgate.checks.findings import PASSED, errored, failed
from evalgate.checks.origin import read_path, report_of
from evalgate.core.junit import junit_results, plain_id
from evalgate.core.observation import Observation
from evalgate.core.schema import Reader
from evalgate.protocols import Finding

_SHOWN = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedTests:
    """The tests that a fix must turn green are passed, and those that must stay green still are.

    Example: ``{type = "tests_pass", command = "pytest --junitxml=$EVALGATE_LOGS/junit.xml",
    required = ["test_pages.py::test_last"], stay_green = ["test_pages.test_first"]}``.
    """

    version: ClassVar[int] = 1
    command: str
    report: str
    required: tuple[str, ...]
    stay_green: tuple[str, ...]

    @classmethod
    def from_params(cls, params: Reader) -> ReportedTests:
        """Read ``command``, ``report`` (``junit.xml`` below ``$EVALGATE_LOGS``) and both lists.

        An id is that of pytest, or ``classname.name`` of the report; one at least is named.
        """
        check = cls(
            command=params.text("command"),
            report=read_path(params, "report") if params.has("report") else "junit.xml",
            required=params.texts("required", []),
            stay_green=params.texts("stay_green", []),
        )
        if not (check.required or check.stay_green):
            raise params.error("needs a test in 'required' or in 'stay_green'")
        return check

    def examine(self, seen: Observation) -> Finding:
        """Pass when each is reported passed; errored when success is reported without one."""
        ended = report_of(seen, self.command)
        if isinstance(ended, Finding):
            return ended
        if self.report not in seen.logs:
            return errored(f"{self.command}: it wrote no {self.report} below $EVALGATE_LOGS")
        try:
            results = junit_results(seen.logs[self.report].data)
        except ValueError as error:
            return errored(f"{self.report}: {error}")
        for ids, words in ((self.required, "not passed"), (self.stay_green, "no longer passed")):
            bad = [one for one in ids if results.get(plain_id(one), "passed") != "passed"]
            if bad:
                return failed(f"{words}: {', '.join(bad[:_SHOWN])}")
        missing = [i for i in (*self.required, *self.stay_green) if plain_id(i) not in results]
        if not missing:
            return PASSED
        # Tests that break off before they are collected are reported as one error of the file.
        finding = failed if ended.exit_code else errored
        return finding(f"not reported: {', '.join(missing[:_SHOWN])}")
