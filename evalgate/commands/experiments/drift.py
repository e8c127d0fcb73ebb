"""`evalgate drift`: did the numbers of a harness move that nobody changed?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from evalgate.commands.baselines.measured import sessions_here
from evalgate.commands.console import Console
from evalgate.commands.making.account import holding
from evalgate.commands.making.ended import Report
from evalgate.commands.making.run import RunOptions, run
from evalgate.commands.project import Project, State, open_state, subject_of
from evalgate.commands.tables import rate, render_rows
from evalgate.commands.waive import today
from evalgate.core.baseline import pool, renewed
from evalgate.core.decision import Decision, exit_code_of, worst
from evalgate.core.drift import ANCHOR, LIMIT
from evalgate.core.json import Json
from evalgate.core.session import Session
from evalgate.core.trend import PASS_RATE, Trend, Window, trends_of
from evalgate.errors import ExitCode


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftOptions:
    """What the command line says; with ``live`` today's session is made first."""

    window: Window
    rev: str | None = None
    live: bool = False
    strict: bool = False
    workers: int | None = None
    max_usd: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """What became of an unchanged harness.

    ``sessions`` are those under the conditions of the newest; ``moved`` says what else changed
    beside it, a line each; ``left_out`` what is no session; ``missing`` is how many sessions it
    takes before anything can be said; ``made`` what was made first.
    """

    decision: Decision
    sentence: str
    fingerprint: str
    sessions: tuple[Session, ...]
    window: Window
    trends: tuple[Trend, ...] = ()
    moved: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    missing: int = 0
    strict: bool = False
    made: Report | None = None

    @property
    def exit_code(self) -> ExitCode:
        """That of the decision, unless today's session could not be made."""
        code = exit_code_of(self.decision, strict=self.strict)
        return worst([code, ExitCode.OK if self.made is None else self.made.exit_code])

    @property
    def text(self) -> str:
        """The decision, the sessions, and each signal beside its anchor."""
        said = [self.sentence, *self.moved, *self.left_out]
        if self.sessions:
            rows = [("session", "passed", "model served"), *map(_row, self.sessions)]
            said += ["", render_rows(rows)]
        if self.trends:
            head = ("signal", f"first {ANCHOR} sessions", self.window.words, "change", "creep")
            table = render_rows([head, *map(_trend_row, self.trends)])
            limit = f"Creep is in deviations of the first {ANCHOR} sessions; {LIMIT} is an alarm."
            said += ["", table, limit]
        return "\n".join(said)

    def to_json(self) -> dict[str, Json]:
        """Return the JSON form."""
        return {
            "decision": str(self.decision),
            "exit_code": int(self.exit_code),
            "sentence": self.sentence,
            "fingerprint": self.fingerprint,
            "window": self.window.words,
            "missing_sessions": self.missing,
            "limit": LIMIT,
            "moved": list(self.moved),
            "left_out": list(self.left_out),
            "sessions": [
                {
                    "day": one.day.isoformat(),
                    "passed": one.sample.passed,
                    "measured": one.sample.measured,
                    "errored": one.sample.errored,
                    "models": list(one.sample.conditions.models),
                }
                for one in self.sessions
            ],
            "signals": {trend.name: trend.to_json() for trend in self.trends},
        }


def drift(project: Project, options: DriftOptions, console: Console) -> Drift:
    """Hold the sessions of one harness against the first of them.

    Raises:
        UsageError: the state has no harness, a file of its numbers is damaged, or today's session
            is being made by another process.
    """
    made = _make_today(project, options, console) if options.live else None
    with open_state(project, subject_of(options.rev)) as state:
        return _drift(state, options, made)


def _make_today(project: Project, options: DriftOptions, console: Console) -> Report | None:
    """Make today's session, unless there is one; two at once would each pay for it."""
    with open_state(project, subject_of(options.rev)) as state:
        fingerprint = state.fingerprint.digest
    with holding(project, f"drift {fingerprint}"):
        with open_state(project, subject_of(options.rev)) as state:
            sessions, _ = _whole(state)
        if sessions and sessions[-1].day == today():
            console.note("today's session was made already")
            return None
        asked = RunOptions(rev=options.rev, workers=options.workers, max_usd=options.max_usd)
        return run(project, asked, console)


def _drift(state: State, options: DriftOptions, made: Report | None) -> Drift:
    whole, left_out = _whole(state)
    sessions, moved = _alike(whole)
    renewal = renewed(state.baselines(state.fingerprint.digest))
    if renewal is not None:
        since = f"A baseline took the place of others on {renewal.provenance.day}"
        moved = (f"{since}: the first sessions are those since then.", *moved)
    window = options.window.of(sessions, today=today())
    trends = trends_of(sessions, window)
    missing = max(0, ANCHOR + 1 - len(sessions))
    unlike = _unlike_baseline(state, sessions)
    decision, sentence = _decided(trends, missing, len(sessions), unlike)
    return Drift(
        decision=decision,
        sentence=sentence,
        fingerprint=state.fingerprint.digest,
        sessions=sessions,
        window=options.window,
        trends=trends,
        moved=moved,
        left_out=left_out,
        missing=missing,
        strict=options.strict,
        made=made,
    )


def _decided(
    trends: Sequence[Trend], missing: int, sessions: int, unlike: Sequence[str]
) -> tuple[Decision, str]:
    creeping = [trend.sentence for trend in trends if trend.alarm]
    if unlike:
        return Decision.MOVED, (
            f"The baseline was measured under other conditions than today's ({unlike[0]}): make it"
            " anew with evalgate baseline renew."
        )
    if creeping:
        said = "; ".join(creeping)
        return Decision.MOVED, f"Nothing was changed, and {said}."
    if missing:
        more = f"{missing} more session{'s are' if missing > 1 else ' is'} needed"
        return Decision.UNDECIDED, (
            f"Too few sessions to see a drift: {sessions} of {ANCHOR + 1}. {more}, one a day or a"
            " week: evalgate drift --live."
        )
    if not any(trend.name == PASS_RATE for trend in trends):
        return Decision.UNDECIDED, "The pass rate of these sessions is not known."
    return Decision.PASS, (
        f"No drift is seen: {sessions - ANCHOR} sessions after the first {ANCHOR}, and no signal"
        " creeps."
    )


def _whole(state: State) -> tuple[tuple[Session, ...], tuple[str, ...]]:
    """Return the sessions that cover the suite as it is now, and why others are none."""
    tasks = {task.id: task.digest for task in state.selected(())}
    kept, left_out = [], []
    for one in sessions_here(state, state.fingerprint.digest):
        sample, lacking = one.sample, one.lacks(tasks)
        if lacking:
            left_out.append(f"{one.day}: no session, it lacks the task {_some(lacking)} as it is")
        elif state.config.policy.not_measured(sample.errored, len(sample.rows)):
            left_out.append(f"{one.day}: no session, for {sample.errored} trials errored")
        else:
            kept.append(one.of(tasks))
    return tuple(kept), tuple(left_out)


def _alike(sessions: Sequence[Session]) -> tuple[tuple[Session, ...], tuple[str, ...]]:
    """Return the newest sessions under equal conditions, and what changed before each break."""
    start, moved = 0, []
    for number, (old, new) in enumerate(pairwise(sessions), 1):
        before, after = old.sample.conditions, new.sample.conditions
        unequal = before.differences(after)
        if not unequal:
            continue
        start = number
        if before.models_differ(after):
            moved.append(
                f"Since {new.day} the provider serves {', '.join(after.models)}, before that"
                f" {', '.join(before.models)}: the sessions before it are not compared."
            )
        else:
            moved.append(f"Since {new.day} other conditions hold: {unequal[0]}.")
    return tuple(sessions[start:]), tuple(moved)


def _unlike_baseline(state: State, sessions: Sequence[Session]) -> tuple[str, ...]:
    """Say how today's conditions differ from those of the baseline that the gate takes."""
    baseline = pool(state.baselines(state.fingerprint.digest))
    if baseline is None or not sessions:
        return ()
    return baseline.conditions.differences(sessions[-1].sample.conditions)


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    return f"{names[0]}{more}"


def _row(one: Session) -> tuple[str, str, str]:
    return str(one.day), rate(one.sample), ", ".join(one.sample.conditions.models) or "none"


def _trend_row(trend: Trend) -> tuple[str, str, str, str, str]:
    creep = "–" if trend.creep is None else f"{trend.creep.average:+.1f}"
    mark = "  ⚠" if trend.alarm else ""
    return (
        trend.words,
        trend.shown(trend.anchor),
        trend.shown(trend.window),
        trend.change,
        f"{creep}{mark}",
    )
