"""`evalgate gate --live`: rounds of the head's trials, and fresh ones of both sides if in doubt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from operator import itemgetter

from evalgate.commands.gating.evidence import (
    Gathering,
    HeadTrials,
    MadeHere,
    Touch,
    head_trials,
    hits_of,
    trials_here,
)
from evalgate.commands.gating.live_request import (
    account_of,
    live_request,
    made_before,
    require_known_upstreams,
)
from evalgate.commands.gating.ration import Ration, ration, sight_of
from evalgate.commands.making.account import holding
from evalgate.commands.making.budget import budget_of
from evalgate.commands.making.estimate import estimate
from evalgate.commands.making.trials import make_trials
from evalgate.core.change import change_of
from evalgate.core.confirmation import Plan
from evalgate.core.course import Course, Round, course
from evalgate.core.decision import Decision
from evalgate.core.judgement import judge_course, judge_cut
from evalgate.core.policy import Policy
from evalgate.core.rates import counted
from evalgate.core.sample import Sample, sample_of
from evalgate.core.task import Task
from evalgate.core.trial import Evidence, Outcome
from evalgate.core.verdict import Verdict, counts_of, not_measured, prepare
from evalgate.errors import BudgetReachedError
from evalgate.runner.run import Job
from evalgate.wiring import Kind

#: The series of the one confirmation that a pair of harnesses has.
_CONFIRMATION = "confirm-1"


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveGate:
    """A verdict by live trials, and the head's trials it rests on."""

    verdict: Verdict
    head: HeadTrials
    told: tuple[str, ...] = ()


def judge_live(it: Gathering, baseline: Sample, policy: Policy) -> LiveGate:
    """Make what trials a live gate asks for, and judge by how it ends.

    No other gate of the same pair of harnesses makes trials meanwhile: they share their money.

    Raises:
        UsageError: the change sends its requests somewhere the base does not, or another gate of
            the same pair is under way.
    """
    require_known_upstreams(it)
    with holding(it.state.project, account_of(it)):
        return _judge(it, baseline, policy)


def _judge(it: Gathering, baseline: Sample, policy: Policy) -> LiveGate:
    """Go through the course of a live gate.

    Trials that were made here already are used first, and a confirmation that the same pair of
    harnesses had is not made again. The budget is that of the gate: when it is used up, the
    gate ends by that, and goes on from there with a larger one. Where no gate could end by it, no
    trial is made.
    """
    usd = budget_of(it.base.config, it.max_usd).usd
    most = ration(it.tasks, baseline, it.harness, trials=it.base.config.trials, usd=usd)
    if most.said:
        it.console.note(most.said)
    made = trials_here(it)
    if most.too_little and _missing(it.tasks, made, most.trials):
        head = head_trials(it, made)
        verdict = judge_cut(prepare(baseline, head.sample, policy), most.said)
        return LiveGate(verdict=_priced(_seeing(verdict), most), head=head)
    planned = most.planned
    steps = course(policy, planned=planned)
    wanted = next(steps)
    told: tuple[str, ...] = (most.said,) if most.said else ()
    while True:
        if isinstance(wanted, Round):
            prepared, head, cut = _round(it, baseline, policy, most.round(wanted.runs))
            if cut:
                verdict = _priced(_seeing(judge_cut(prepared, cut)), most)
                return LiveGate(verdict=verdict, head=head, told=told)
            if prepared.decision is not Decision.PASS:
                return LiveGate(verdict=prepared, head=head, told=told)
            changes = prepared.changes
        else:
            told = (*told, _of_both(wanted))
            try:
                base_sample, head_sample, hits = _fresh(it, wanted)
            except BudgetReachedError as error:
                why = f"something was suspected and not confirmed: {error.message}"
                verdict = _priced(judge_cut(prepared, why), most)
                return LiveGate(verdict=verdict, head=head, told=told)
            head = replace(head, hits=(*head.hits, *hits))
            unsound = _unsound(prepared, base_sample, head_sample)
            if unsound is not None:
                return LiveGate(verdict=unsound, head=head, told=told)
            changes = tuple(change_of(name, base_sample, head_sample) for name in wanted.tasks)
        try:
            wanted = steps.send(counts_of(changes))
        except StopIteration as end:
            found: Course = end.value
            more = most.wanted if most.cut else None
            judged = judge_course(prepared, found, planned=planned, wanted=more)
            verdict = _priced(_seeing(judged), most)
            looks = ", ".join(f"{one.sign}" for one in found.looks)
            return LiveGate(verdict=verdict, head=head, told=(f"looks: {looks}", *told))


def _seeing(verdict: Verdict) -> Verdict:
    """Add to a verdict that decides nothing which drop so many trials would have shown."""
    if verdict.decision not in {Decision.UNDECIDED, Decision.BUDGET}:
        return verdict
    seen = sight_of(counts_of(verdict.changes), verdict.policy)
    if seen is None:
        return verdict
    context = {**verdict.context, "smallest_drop": seen.drop}
    return replace(verdict, reasons=(*verdict.reasons, seen.sentence), context=context)


def _priced(verdict: Verdict, most: Ration) -> Verdict:
    """Add the least money with which a gate can end, where money is limited."""
    if most.least_usd is None:
        return verdict
    return replace(verdict, context={**verdict.context, "least_usd": round(most.least_usd, 6)})


def _round(
    it: Gathering, baseline: Sample, policy: Policy, runs: Mapping[str, int]
) -> tuple[Verdict, HeadTrials, str]:
    """Have so many trials of each task of the head, and put them beside the baseline.

    The text says what ended the round early, when the budget did.
    """
    made, cut = trials_here(it), ""
    jobs = _missing(it.tasks, made, runs)
    if jobs:
        it.console.note(f"round of {max(runs.values())} trials a task: {len(jobs)} to make")
        it.console.note(estimate(it.base, it.harness, it.tasks, len(jobs)))
        try:
            make_trials(it.state, live_request(it, Kind.RUN, jobs), it.console)
        except BudgetReachedError as error:
            cut = error.message
        made = trials_here(it)
    head = head_trials(it, made)
    return prepare(baseline, head.sample, policy), head, cut


def _missing(tasks: Sequence[Task], made: MadeHere, runs: Mapping[str, int]) -> list[Job]:
    """Return what is not made yet, each task in its turn: a budget may end it anywhere.

    What errored was not measured, and is made again.
    """
    jobs = []
    for task in tasks:
        there = made.of(task)
        used = {trial.key.n for trial in there}
        free = (n for n in count(1) if n not in used)
        measured = [trial for trial in there if trial.outcome is not Outcome.ERRORED]
        lacking = range(len(measured), runs[task.id])
        jobs += [(place, Job(task=task, n=next(free))) for place in lacking]
    return [job for _, job in sorted(jobs, key=itemgetter(0))]


def _fresh(it: Gathering, plan: Plan) -> tuple[Sample, Sample, tuple[Touch, ...]]:
    """Make fresh trials of both sides in turn; return both samples, and what was touched."""
    tasks = [task for task in it.tasks if task.id in plan.tasks]
    # Odd numbers are the head's, even ones the base's: made in their order they take turns.
    jobs = [
        Job(task=task, n=n, beside=n % 2 == 0)
        for n in range(1, 2 * plan.runs + 1)
        for task in tasks
    ]
    request = replace(
        live_request(it, Kind.CONFIRM, jobs),
        tasks=tasks,
        beside=it.base.harness,
        series=_CONFIRMATION,
    )
    trials = made_before(it, request)
    if trials is None:
        it.console.note(f"to confirm: {_of_both(plan)}")
        it.console.note(estimate(it.base, it.harness, tasks, len(jobs)))
        trials = make_trials(it.state, request, it.console).trials
    base, head = (
        sample_of(
            [one for one in trials if one.key.fingerprint == fingerprint],
            fingerprint=fingerprint,
            evidence=Evidence.MEASURED,
        )
        for fingerprint in (it.base.harness.fingerprint, it.harness.fingerprint)
    )
    return base, head, hits_of(one for one in trials if one.key.fingerprint == head.fingerprint)


def _of_both(plan: Plan) -> str:
    trials = counted(plan.runs, "fresh trial")
    return f"{trials} of {counted(len(plan.tasks), 'task')} on both sides, in turn"


def _unsound(prepared: Verdict, base: Sample, head: Sample) -> Verdict | None:
    """Return the verdict that fresh trials say nothing, when they do not."""
    for sample in (base, head):
        if prepared.policy.not_measured(sample.errored, len(sample.rows)):
            return not_measured(prepared, sample)
    unequal = base.conditions.differences(head.conditions)
    if unequal:
        sentence = "Base and head were run afresh under different conditions: incomparable."
        return replace(prepared, decision=Decision.NO_BASELINE, sentence=sentence, reasons=unequal)
    return None
