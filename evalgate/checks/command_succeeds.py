"""The check that a command exits with 0 in the grade stage."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from evalgate.checks.findings import PASSED, failed
from evalgate.checks.origin import report_of
from evalgate.core.observation import Observation
from evalgate.core.schema import Reader
from evalgate.protocols import Finding


@dataclass(frozen=True, slots=True)
class CommandSucceeds:
    """A shell command exits with 0 in the grade stage, beside the hidden tests.

    Example: ``{type = "command_succeeds", command = "python3 -I -m py_compile a.py"}``.
    """

    version: ClassVar[int] = 1
    command: str

    @classmethod
    def from_params(cls, params: Reader) -> CommandSucceeds:
        """Read ``command``."""
        return cls(params.text("command"))

    def examine(self, seen: Observation) -> Finding:
        """Pass on exit code 0; a command that could not be started is an error."""
        report = report_of(seen, self.command)
        if isinstance(report, Finding):
            return report
        if report.exit_code == 0:
            return PASSED
        tail = report.output.strip().splitlines()[-1:] or [""]
        return failed(f"{self.command}: exit code {report.exit_code}: {tail[0][:160]}")
