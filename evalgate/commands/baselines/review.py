"""`evalgate baseline review`: what was measured here and is in no baseline, one after another."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from evalgate.commands.baselines.accept import ENOUGH, Candidate, candidate, trials_at_hand
from evalgate.commands.baselines.ancestry import find_baseline
from evalgate.commands.project import WORKTREE, Project, State, open_state
from evalgate.commands.tables import rate, render_rows
from evalgate.core.baseline import pool
from evalgate.core.json import Json
from evalgate.core.judgement import judge
from evalgate.core.sample import Sample, TaskSample
from evalgate.core.short_name import short_of
from evalgate.errors import UsageError
from evalgate.store.runs import RunFolder, RunStore
from evalgate.wiring import Kind

#: The member of ``run.json`` that says that nobody shall be asked about a run again.
_DECLINED = "declined"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pending:
    """A harness that was measured here; ``text`` holds it against the baseline there is.

    ``fewest`` is how many trials of each task there are, or a baseline takes, if that is less.
    """

    run: str
    runs: tuple[RunFolder, ...]
    fingerprint: str
    text: str
    fewest: int

    @property
    def command(self) -> str:
        """What accepts it."""
        few = f" -k {self.fewest}" if self.fewest < ENOUGH else ""
        return f"evalgate baseline accept {self.run}{few}"

    def to_json(self) -> dict[str, Json]:
        """Return the JSON form."""
        return {
            "run": self.run,
            "fingerprint": self.fingerprint,
            "text": self.text,
            "accept": self.command,
        }

    def decline(self) -> None:
        """Leave it out of every later review. Its trials stay, and count where they did."""
        for run in self.runs:
            run.write_info({**run.info, _DECLINED: True})


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """All that is pending, the newest first."""

    pending: tuple[Pending, ...]

    @property
    def text(self) -> str:
        """Everything, with the command that accepts each."""
        if not self.pending:
            return "nothing to review: what was measured here is in a baseline, or was declined"
        return "\n\n".join(f"{one.text}\n{one.command}" for one in self.pending)

    def to_json(self) -> dict[str, Json]:
        """Return the JSON form."""
        return {"pending": [one.to_json() for one in self.pending]}


def review(project: Project) -> Review:
    """Return the harnesses that were measured here live and have trials in no baseline.

    What can be no baseline, such as the trials of another suite, is left out.
    """
    with open_state(project, WORKTREE) as state:
        return Review(pending=tuple(_pending(state)))


def _pending(state: State) -> Iterator[Pending]:
    seen = set()
    for run in reversed(RunStore(state.project.state).finished()):
        plan = run.plan
        if plan.kind != Kind.RUN or plan.fingerprint in seen or run.info.get(_DECLINED):
            continue
        try:
            found = candidate(state, run)
        except UsageError:
            continue
        seen.add(plan.fingerprint)
        accepted = pool(state.baselines(found.baseline.sample.fingerprint))
        if not _known(found.baseline.sample, accepted):
            yield _described(state, run, found, accepted)


def _known(sample: Sample, accepted: Sample | None) -> bool:
    there = {row.cassette for row in accepted.rows} if accepted else set()
    return all(row.cassette in there for row in sample.rows)


def _described(state: State, run: RunFolder, found: Candidate, accepted: Sample | None) -> Pending:
    sample = found.baseline.sample
    more = f" and {len(found.runs) - 1} more" if len(found.runs) > 1 else ""
    lines = [f"harness {short_of(sample.fingerprint)}, run {run.id}{more}: {rate(sample)}"]
    before, of = accepted, "its own baseline"
    if before is None:
        older = find_baseline(state)
        before = older.sample if older else None
        of = f"the baseline of harness {short_of(before.fingerprint)}" if before else ""
    if before is None:
        lines.append("there is no baseline to hold it against")
    else:
        verdict = judge(before, sample, state.config.policy)
        lines.append(f"against {of}: {verdict.decision}. {verdict.sentence}")
        rows = [("task", "baseline", "now", "")]
        rows += [
            (one.task, _passes(one.base), _passes(one.head), str(one.change))
            for one in verdict.changes
        ]
        lines.append(render_rows(rows))
    return Pending(
        run=run.id,
        runs=found.runs,
        fingerprint=sample.fingerprint,
        text="\n".join(lines),
        fewest=min(ENOUGH, trials_at_hand(state, found.baseline)),
    )


def _passes(sample: TaskSample | None) -> str:
    return "–" if sample is None else f"{sample.passed}/{len(sample.measured)}"
