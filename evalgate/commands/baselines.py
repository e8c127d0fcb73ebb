"""`evalgate baseline list|show|verify`: the committed numbers, told and recomputed."""

from __future__ import annotations

from dataclasses import dataclass

from evalgate.commands.project import Project, open_state, subject_of
from evalgate.commands.proof import contradicted, proven, unledgered
from evalgate.commands.recordings import find_recordings
from evalgate.commands.tables import rate, render_rows, render_sample
from evalgate.core.baseline import Baseline, pool
from evalgate.core.json import Json
from evalgate.core.short_name import short_of
from evalgate.errors import ExitCode, UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """What was found of each baseline; ``problems`` are those that can not be as they are."""

    lines: tuple[str, ...]
    problems: tuple[str, ...]

    @property
    def exit_code(self) -> ExitCode:
        """Void when a baseline is not what it says."""
        return ExitCode.VOID if self.problems else ExitCode.OK

    @property
    def text(self) -> str:
        """One line a baseline, and what is wrong."""
        return "\n".join((*self.lines, *self.problems)) or _NONE

    def to_json(self) -> dict[str, Json]:
        """Return the JSON form."""
        return {"baselines": list(self.lines), "problems": list(self.problems)}


_NONE = "there is no baseline yet: evalgate baseline accept"


def list_baselines(project: Project, *, rev: str | None = None) -> str:
    """Return one line a committed baseline."""
    with open_state(project, subject_of(rev)) as state:
        rows = [
            (one.filename, rate(one.sample), f"{len(one.sample.tasks)} tasks", _models(one))
            for one in state.baselines()
        ]
    return render_rows(rows) if rows else _NONE


def show_baseline(project: Project, name: str, *, rev: str | None = None) -> str:
    """Return the trials of one baseline, or of all of one harness taken together.

    ``name`` is how the file's name begins, or that of the harness.

    Raises:
        UsageError: there is none, or more than one harness.
    """
    if not name.strip():
        raise UsageError("the name is empty", hint="evalgate baseline list shows them")
    with open_state(project, subject_of(rev)) as state:
        found = [one for one in state.baselines() if one.filename.startswith(name)]
    harnesses = sorted({one.sample.fingerprint for one in found})
    if len(harnesses) != 1:
        message = f"{name!r} names {len(harnesses)} harnesses with a baseline"
        raise UsageError(message, hint="evalgate baseline list shows them")
    sample = pool(found)
    if sample is None:
        raise UsageError(f"{name!r} names no baseline", hint="evalgate baseline list shows them")
    head = f"harness {short_of(sample.fingerprint)}, {len(found)} file(s)"
    made = ", ".join(
        f"{one.provenance.date} by evalgate {one.provenance.evalgate}" for one in found
    )
    return f"{head}, made {made}\n\n{render_sample(sample)}"


def verify_baselines(project: Project, *, rev: str | None = None) -> Verified:
    """Recompute each baseline's digest, and look for its ledger entry and its recordings.

    Raises:
        UsageError: a file is cut, newer than this evalgate, or was edited by hand.
    """
    lines, problems = [], []
    with open_state(project, subject_of(rev)) as state:
        for one in state.baselines():
            sample = one.sample
            recorded = find_recordings(state, sample.fingerprint)
            proved = proven(one, recorded)
            problems += contradicted(one, recorded)
            lines.append(
                f"{one.filename}: digest recomputed; {proved} of {len(sample.rows)} trials have"
                " their recording here"
            )
        problems += unledgered(state, state.baselines())
    return Verified(lines=tuple(lines), problems=tuple(problems))


def _models(one: Baseline) -> str:
    return ", ".join(one.sample.conditions.models)
