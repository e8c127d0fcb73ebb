"""A check of the project's own: a function of Python, run in the grade stage and nowhere else.

Its code comes from the side that judges, is in the task's digest, and is never imported here: it
runs where hidden tests run, isolated if the sandbox is.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Final

from evalgate.checks.findings import PASSED, errored, failed
from evalgate.checks.origin import report_of
from evalgate.core.files import File, Tree
from evalgate.core.json import Json
from evalgate.core.observation import Observation
from evalgate.core.own_name import problem_of_own_name
from evalgate.core.schema import Reader
from evalgate.core.task import Task
from evalgate.core.trajectory import Trajectory
from evalgate.protocols import Finding

_FAILED: Final = 10
_PROGRAM: Final = Path(__file__).parent / "programs" / "own_check.py"


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnCheck:
    """A function of the project's own says so."""

    version: ClassVar[int] = 2
    name: str
    params: str

    @classmethod
    def from_params(cls, name: str, params: Reader) -> OwnCheck:
        """Take all parameters there are: the function is called with them."""
        if problem := problem_of_own_name(name):
            hint = "as 'checks.tone:polite', for polite() in checks/tone.py beside the tasks"
            raise params.error(f"{name[:80]!r} {problem}", hint=hint)
        given = {key: params.raw[key] for key in params.keys()}  # noqa: SIM118
        try:
            return cls(name=name, params=json.dumps(given, sort_keys=True, allow_nan=False))
        except (TypeError, ValueError) as error:
            raise params.error(f"a parameter is no JSON: {error}") from error

    @property
    def command(self) -> str:
        """The command that calls the function in the grade stage."""
        return f'python3 -I -B "$EVALGATE_CHECKS/run.py" {self.name} {shlex.quote(self.params)}'

    def examine(self, seen: Observation) -> Finding:
        """Go by what the function returned; what it prints last is said."""
        report = report_of(seen, self.command)
        if isinstance(report, Finding):
            return report
        if report.exit_code == 0:
            return PASSED
        said = (report.output.strip().splitlines() or ["it said nothing"])[-1][:300]
        return failed(said) if report.exit_code == _FAILED else errored(said)


def laid_out(task: Task, seen: Observation) -> Tree:
    """Return what is laid out for own checks: their code, and what they see; empty without any."""
    if not task.own_checks:
        return {}
    told = json.dumps(_told(seen), ensure_ascii=True).encode()
    code = {f"code/{path}": file for path, file in task.own_checks.items()}
    return {**code, "seen.json": File(data=told), "run.py": File(data=_PROGRAM.read_bytes())}


def _told(seen: Observation) -> Mapping[str, Json]:
    done = seen.trajectory
    return {
        "task": seen.task.id,
        "instruction": seen.task.instruction,
        "changed": sorted(seen.claim.changed),
        "deleted": list(seen.claim.deleted),
        "final_answer": None if done is None else done.final_answer,
        "steps": None if done is None else _steps(done),
    }


def _steps(done: Trajectory) -> list[Json]:
    return [
        {
            "text": step.text,
            "conversation": step.conversation,
            "calls": [
                {"name": call.name, "input": call.input, "output": call.output, "ok": call.ok}
                for call in step.calls
            ],
        }
        for step in done.steps
    ]
