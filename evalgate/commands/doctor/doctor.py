"""`evalgate doctor`: the whole checklist, a line each, with a command that mends what is wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evalgate.commands.answer import Answer
from evalgate.commands.doctor.audit import Audit, Finding, Health, to_json
from evalgate.commands.doctor.facts import Facts
from evalgate.commands.doctor.gathering import gather
from evalgate.commands.doctor.table import AUDITS
from evalgate.commands.project import WORKTREE, Project, open_state
from evalgate.core.json import Json
from evalgate.errors import ExitCode

_MARKS = {Health.GOOD: "✔", Health.ADVICE: "–", Health.WRONG: "✘"}


def doctor(project: Project, environ: Mapping[str, str]) -> Answer:
    """Look at everything; exit 2 where something is wrong, 9 where only something is missing.

    Raises:
        UsageError: there is no configuration that can be read.
    """
    with open_state(project, WORKTREE) as state:
        facts = gather(project, state, environ)
    return examined(facts)


def examined(facts: Facts) -> Answer:
    """Return what the audits find in these facts."""
    found = [(audit, audit.look(facts)) for audit in AUDITS]
    codes = [finding.code for _, finding in found if finding.health is Health.WRONG]
    counts = {health: sum(one.health is health for _, one in found) for health in Health}
    value: dict[str, Json] = {
        "audits": [to_json(audit, finding) for audit, finding in found],
        **{str(health): count for health, count in counts.items()},
    }
    ends = ", ".join(f"{count} {health}" for health, count in counts.items())
    text = "\n".join([*_lines(found), "", ends])
    return Answer(text=text, value=value, code=min(codes, default=ExitCode.OK))


def _lines(found: Sequence[tuple[Audit, Finding]]) -> list[str]:
    width = max(len(audit.name) for audit in AUDITS)
    lines: list[str] = []
    for audit, finding in found:
        lines.append(f"{_MARKS[finding.health]} {audit.name.ljust(width)}  {finding.words}")
        if finding.fix:
            lines.append(f"  {' ' * width}  fix: {finding.fix}")
    return lines
