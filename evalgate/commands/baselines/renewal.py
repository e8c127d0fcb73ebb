"""`evalgate baseline renew`: why a baseline does not fit any more, and what a new one costs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from evalgate.commands.baselines.accept import ENOUGH, accept
from evalgate.commands.baselines.ancestry import find_baseline
from evalgate.commands.console import Console
from evalgate.commands.making.cost import trial_costs
from evalgate.commands.making.estimate import cost_unknown
from evalgate.commands.making.run import RunOptions
from evalgate.commands.making.run import run as make_run
from evalgate.commands.project import Project, State, open_state, subject_of
from evalgate.core.baseline import pool
from evalgate.core.json import Json
from evalgate.core.rates import counted
from evalgate.core.sample import Sample, joint_conditions
from evalgate.core.short_name import short_of
from evalgate.core.trial import Trial
from evalgate.errors import EvalgateError, ExitCode, NotAvailableError
from evalgate.repo.fingerprint import SETTINGS
from evalgate.store.runs import RunFolder, RunStore
from evalgate.wiring import Kind, Setup, provider_for

_UNASKED = "nothing is known against it; which model is served is only seen when one is asked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Renewal:
    """Why a harness needs a new baseline, what that takes, and where it is once it was made.

    ``usd`` is None where nobody knows what trials cost; ``unpriced`` are the keys of the
    configuration that lack for it.
    """

    fingerprint: str
    reasons: tuple[str, ...]
    trials: int
    tasks: int
    usd: float | None
    rev: str | None
    unpriced: tuple[str, ...] = ()
    path: str = ""

    @property
    def text(self) -> str:
        """Say it: the reasons, the price, and the next command."""
        many = self.trials * self.tasks
        price = cost_unknown(self.unpriced) if self.usd is None else f"about ${self.usd:.2f}"
        lines = [f"harness {short_of(self.fingerprint)}:"]
        lines += [f"- {reason}" for reason in self.reasons or (_UNASKED,)]
        lines.append(
            f"A new baseline takes {counted(many, 'live trial')} "
            f"({self.trials} of {counted(self.tasks, 'task')} each), {price}."
        )
        rev = "" if self.rev is None else f" --rev {self.rev}"
        lines.append(
            f"wrote {self.path}: git add baselines && git commit"
            if self.path
            else f"evalgate baseline renew --live{rev} -k {self.trials} makes it."
        )
        return "\n".join(lines)

    def to_json(self) -> dict[str, Json]:
        """Return the JSON form."""
        return {
            "fingerprint": self.fingerprint,
            "reasons": list(self.reasons),
            "trials": self.trials * self.tasks,
            "trials_a_task": self.trials,
            "usd": self.usd,
            "unpriced": list(self.unpriced),
            "path": self.path or None,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class RenewOptions:
    """What the command line says about a renewal."""

    rev: str | None = None
    trials: int = ENOUGH
    live: bool = False
    max_usd: float | None = None
    workers: int | None = None


def renew(project: Project, options: RenewOptions, console: Console) -> Renewal:
    """Say why the baseline of a harness does not fit any more, and its price; make it if live.

    Raises:
        NotAvailableError: too many trials were not measured, so nothing was accepted.
    """
    with open_state(project, subject_of(options.rev)) as state:
        found = _described(state, options)
    if not options.live:
        return found
    for line in found.text.splitlines()[:-1]:
        console.note(line)
    asked = RunOptions(
        rev=options.rev, trials=options.trials, workers=options.workers, max_usd=options.max_usd
    )
    report = make_run(project, asked, console)
    if report.exit_code is not ExitCode.OK or report.finished is None:
        message = "no new baseline: too many trials were not measured"
        raise NotAvailableError(message, hint="the same command makes them anew")
    run, reason = report.finished.run.id, "; ".join(found.reasons) or "renewed"
    path = accept(project, run, console, reason=reason, fewest=options.trials, supersede=True)
    return replace(found, path=path)


def _described(state: State, options: RenewOptions) -> Renewal:
    fingerprint, tasks = state.fingerprint.digest, state.selected(())
    sample = pool(state.baselines(fingerprint))
    reasons = _unmeasured(state) if sample is None else _unfitting(state, sample)
    older = sample or _older(state)
    names = [task.id for task in tasks]
    costs = None if older is None else trial_costs(older, state.harness, names)
    return Renewal(
        fingerprint=fingerprint,
        reasons=reasons,
        trials=options.trials,
        tasks=len(tasks),
        usd=None if costs is None else options.trials * math.fsum(costs.values()),
        rev=options.rev,
        unpriced=state.config.unpriced if costs is None else (),
    )


def _older(state: State) -> Sample | None:
    found = find_baseline(state)
    return None if found is None else found.sample


def _unmeasured(state: State) -> tuple[str, ...]:
    found = find_baseline(state)
    if found is None:
        return ("nobody measured this harness, nor one before it",)
    old = counted(found.changes, "change")
    return (f"nobody measured this harness: the newest baseline is {old} old",)


def _unfitting(state: State, sample: Sample) -> tuple[str, ...]:
    """Name what is otherwise today than when the baseline was made."""
    now = {task.id: task.digest for task in state.tasks}
    then = {name: task.digest for name, task in sample.tasks.items()}
    reasons = [f"task {name} has no numbers" for name in sorted(now.keys() - then.keys())]
    reasons += [f"task {name} is gone" for name in sorted(then.keys() - now.keys())]
    reasons += [
        f"task {name} has changed"
        for name in sorted(now.keys() & then.keys())
        if now[name] != then[name]
    ]
    reasons += [f"today's {one}" for one in _today(state, sample)]
    then_ = sample.conditions
    for run, trials in _seen(state):
        now_ = joint_conditions([one.conditions for one in trials])
        whose = trials[0].key.fingerprint
        said = "the newest trials made here"
        if whose != state.fingerprint.digest:
            # Another harness that asks for the same models tells which of them are served.
            said, now_ = (
                f"trials of {short_of(whose)} made here",
                replace(then_, models=now_.models),
            )
        reasons += [f"{said} ({_day(run)}): {one}" for one in then_.differences(now_)]
    return tuple(dict.fromkeys(reasons))


def _today(state: State, sample: Sample) -> tuple[str, ...]:
    """Name what is known of the sandbox without a trial; its being away is no reason."""
    setup = Setup(
        kind=Kind.RUN,
        harness=state.harness,
        tasks=state.tasks,
        sandbox=state.config.sandbox.use,
    )
    try:
        name = provider_for(setup).name
    except EvalgateError:
        return ()
    then = sample.conditions.sandbox
    return (f"sandbox: {name}, and {then} then",) if then and name != then else ()


def _seen(state: State) -> Iterator[tuple[RunFolder, list[Trial]]]:
    """Yield the newest live trials of the harness made here, before them newer ones of another.

    The other has the same settings, so that it asks for the same models.
    """
    own, settings = state.fingerprint.digest, state.fingerprint.parts[SETTINGS]
    is_first = True
    for run in reversed(RunStore(state.project.state).finished()):
        plan = run.plan
        if plan.kind not in {Kind.RUN, Kind.CONFIRM} or plan.parts.get(SETTINGS) != settings:
            continue
        of_both = run.trials
        trials = [one for one in of_both if one.key.fingerprint == own]
        if trials:
            yield run, trials
            return
        if of_both and is_first:
            yield run, [one for one in of_both if one.key.fingerprint == of_both[0].key.fingerprint]
            is_first = False


def _day(run: RunFolder) -> str:
    return str(run.info.get("times", {}).get("finished", ""))[:10] or run.id
