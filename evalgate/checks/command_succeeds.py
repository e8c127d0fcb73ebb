"""The check that a command exits with 0 in the grade stage."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from evalgate.core.observation import Observation
from evalgate.core.schema import Reader
from evalgate.core.trial import Outcome
from evalgate.protocols import Finding

_NOT_RUNNABLE = (126, 127)


@dataclass(frozen=True, slots=True)
class CommandSucceeds:
    """A shell command exits with 0 in the grade stage, beside the hidden tests.

    Example: ``{type = "command_succeeds", command = "python3 -I -m py_compile a.py"}``.
    """

    version: ClassVar[int] = 1
    command: str | None

    @classmethod
    def from_params(cls, params: Reader) -> CommandSucceeds:
        """Read ``command``."""
        return cls(params.text("command"))

    def examine(self, seen: Observation) -> Finding:
        """Pass on exit code 0; a command that could not be started is an error."""
        report = seen.commands.get(self.command or "")
        if report is None or report.exit_code is None or report.exit_code in _NOT_RUNNABLE:
            why = "did not run" if report is None else report.output.strip()[-200:]
            return Finding(outcome=Outcome.ERRORED, detail=f"{self.command}: {why}")
        if report.exit_code == 0:
            return Finding(outcome=Outcome.PASSED)
        tail = report.output.strip().splitlines()[-1:] or [""]
        detail = f"{self.command}: exit code {report.exit_code}: {tail[0][:160]}"
        return Finding(outcome=Outcome.FAILED, detail=detail)
