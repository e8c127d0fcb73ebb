"""Where a check finds the text that it looks at: a file, a command's output, or the answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from evalgate.checks.findings import errored, failed
from evalgate.core.files import is_safe_path
from evalgate.core.observation import CommandReport, Observation
from evalgate.core.schema import Reader
from evalgate.core.trajectory import Trajectory
from evalgate.protocols import Finding

#: The exit codes by which a shell says that a command could not be started.
NOT_RUNNABLE: Final = (126, 127)


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """A path of the workspace, a command of the grade stage, or neither: the final answer."""

    path: str = ""
    command: str | None = None

    @classmethod
    def from_params(cls, params: Reader) -> Origin:
        """Read ``path`` or ``command``; without either it is the agent's final answer."""
        if params.has("path") and params.has("command"):
            raise params.error("is one too many beside 'path'", "command")
        if params.has("path"):
            return cls(path=read_path(params))
        return cls(command=params.text("command") if params.has("command") else None)

    @property
    def name(self) -> str:
        """What the text is called in a finding."""
        return self.path or self.command or "the final answer"

    def read(self, seen: Observation) -> str | Finding:
        """Return the text, or the finding that there is none."""
        if self.path:
            file = seen.workspace.get(self.path)
            if file is None:
                return failed(f"{self.path} does not exist")
            return file.data.decode("utf-8", "replace")
        if self.command:
            report = report_of(seen, self.command)
            return report if isinstance(report, Finding) else report.written
        trajectory = conduct_of(seen)
        if isinstance(trajectory, Finding):
            return trajectory
        return trajectory.final_answer or ""


def read_path(params: Reader, key: str = "path") -> str:
    """Read a path that stays in the workspace."""
    path = params.text(key)
    if not is_safe_path(path):
        raise params.error(f"{path!r} leaves the workspace", key)
    return path


def report_of(seen: Observation, command: str) -> CommandReport | Finding:
    """Return how a command ended, or the finding that it did not run."""
    report = seen.commands.get(command)
    if report is None or report.exit_code is None or report.exit_code in NOT_RUNNABLE:
        why = "did not run" if report is None else report.output.strip()[-200:]
        return errored(f"{command}: {why}")
    return report


def conduct_of(seen: Observation) -> Trajectory | Finding:
    """Return what the agent did, or the finding that nobody saw it."""
    if seen.trajectory is None:
        return errored("no agent worked here, so there is nothing that it did or said")
    if not seen.trajectory.turns:
        return errored("no turn of a model was seen, so it is not known what the agent did")
    return seen.trajectory
