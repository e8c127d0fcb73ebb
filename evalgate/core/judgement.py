"""From two samples to a decision: by the one-stage rule, or by the course of a live gate."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import replace

from evalgate.core.counts import TaskCounts
from evalgate.core.course import Course, goes_on
from evalgate.core.decision import Decision
from evalgate.core.floors import below_floor
from evalgate.core.policy import Policy
from evalgate.core.rates import counted, points, rate
from evalgate.core.rounds import Sign
from evalgate.core.rule import rule
from evalgate.core.sample import Sample
from evalgate.core.signal_change import over_budget, unknown_budgets
from evalgate.core.statistics import about_more_runs, drop_not_excluded, pass_rate_difference
from evalgate.core.verdict import FLOOR, SUITE, Verdict, counts_of, marked, prepare
from evalgate.errors import ExitCode


def judge(base: Sample, head: Sample, policy: Policy, *, doubts: Sequence[str] = ()) -> Verdict:
    """Compare two samples by the one-stage rule.

    A block needs the suite's exact stratified mid-p at or below ``policy.suite_alpha``, or
    one task's step-down min-P at or below ``policy.task_alpha``. ``doubts`` are reasons why
    the numbers may not be believed at all; with any of them the verdict is void.
    """
    verdict = prepare(base, head, policy, doubts=doubts)
    if verdict.decision is not Decision.PASS:
        return verdict
    counts = counts_of(verdict.changes)
    return _with_budgets(_decide(verdict, counts, policy), counts)


def judge_course(
    prepared: Verdict, found: Course, *, planned: int, wanted: int | None = None
) -> Verdict:
    """Judge by how a live gate went; ``planned`` is how many runs of a task it could have made.

    ``wanted``, where money set that, is how many it would have made with more: where these decide
    nothing, and it would have gone on, the budget ended it.

    A drop that fresh runs of both sides confirmed blocks, and its difference is that of the
    fresh runs. One that they did not confirm passes, with a note, unless the base itself does
    worse today than its baseline. ``prepared`` is what `evalgate.core.verdict.prepare` made of
    the samples at the end of the rounds.
    """
    judged = _with_budgets(_ended(prepared, found, planned=planned), found.counts)
    if wanted is None or judged.decision is not Decision.UNDECIDED:
        return judged
    if goes_on(found.counts, wanted=wanted, policy=judged.policy):
        sentence = (
            "Inconclusive: the budget pays for no more trials than these, and they do not decide:"
            f" {said_of(judged, found.counts)}."
        )
        return replace(judged, decision=Decision.BUDGET, sentence=sentence)
    return judged


def _with_budgets(judged: Verdict, counts: Sequence[TaskCounts]) -> Verdict:
    """Return what was judged, or not measured where a budget of a pass can not be reckoned."""
    base, head = judged.base, judged.head
    if base is None or head is None or judged.exit_code is not ExitCode.OK:
        return judged
    tasks = [count.task for count in counts]
    unknown = unknown_budgets(base, head, tasks, judged.policy.budgets)
    if not unknown:
        return judged
    sentence = f"This was not measured: {unknown[0]}."
    reasons = (*unknown[1:], f"else: {judged.sentence}", *judged.reasons)
    return replace(judged, decision=Decision.NOT_MEASURED, sentence=sentence, reasons=reasons)


def _ended(prepared: Verdict, found: Course, *, planned: int) -> Verdict:
    broken = found.confirmed.tasks if found.worse and found.confirmed else ()
    judged = marked(prepared, found.counts, broken=broken)
    floors = _floors(judged)
    if found.worse:
        return _confirmed(judged, found, floors)
    if floors:
        return _below(judged, floors)
    said = said_of(judged, found.counts)
    if found.moved:
        sentence = (
            f"The base itself does worse today than its baseline says: {said}, and fresh runs"
            f" of both sides do not confirm it as the doing of this change."
        )
        return replace(judged, decision=Decision.MOVED, sentence=sentence, reasons=_afresh(found))
    if found.last.sign is Sign.SUSPECT:
        sentence = f"A drop was suspected ({said}), and fresh runs of both sides do not confirm it."
        reasons = _afresh(found)
        return replace(judged, decision=Decision.NOT_CONFIRMED, sentence=sentence, reasons=reasons)
    if found.better:
        fresh = said_of(judged, found.fresh, of=len(found.fresh))
        sentence = f"Merging this raises the pass rate: {fresh} in fresh runs of both sides."
        return replace(judged, decision=Decision.IMPROVED, sentence=sentence)
    if found.gain is not None:
        judged = replace(judged, reasons=_afresh(found))
        said += "; a gain was suspected and not confirmed"
    if found.last.sign is Sign.NO_SIGN:
        made = sum(count.head_runs for count in found.counts)
        left = drop_not_excluded(found.last.difference)
        unlikely = f"A drop of more than {left * 100:.0f} points is unlikely."
        sentence = (
            f"No sign of a drop after {made} of {planned * len(found.counts)} trials, stopped "
            f"early: {said}. {_excludes_nothing(found.counts, left) or unlikely}"
        )
        excluded = left < judged.policy.margin
        decision = Decision.PASS if excluded else Decision.UNDECIDED
        return replace(judged, decision=decision, sentence=sentence)
    return undetected(judged, found.counts, said=said)


def judge_cut(prepared: Verdict, why: str) -> Verdict:
    """Judge the trials that there are when a live gate may ask for no more of them.

    What was looked at before decided nothing, and what is cut off by money is no look: only a
    floor that is not kept decides, and there is no pass. ``why`` says what ended it.
    """
    if prepared.decision is Decision.NOTHING_RAN:
        sentence = "Inconclusive: the budget ended before a trial was made."
        return replace(prepared, decision=Decision.BUDGET, sentence=sentence, reasons=(why,))
    if prepared.decision is not Decision.PASS:
        return replace(prepared, reasons=(*prepared.reasons, why))
    counts = counts_of(prepared.changes)
    judged = marked(prepared, counts, broken=())
    floors = _floors(judged)
    if floors:
        return replace(_below(judged, floors), reasons=(*floors, why))
    said = said_of(judged, counts)
    sentence = f"Inconclusive: the budget ended before this was decided: {said}."
    return replace(judged, decision=Decision.BUDGET, sentence=sentence, reasons=(why,))


def _confirmed(judged: Verdict, found: Course, floors: tuple[str, ...]) -> Verdict:
    confirmed = found.confirmed
    difference = confirmed.difference if confirmed else None
    blocked = replace(judged, difference=difference)
    fresh = said_of(blocked, found.fresh, of=len(found.fresh))
    sentence = (
        f"Merging this {does(blocked)}: {fresh} in fresh runs of both sides, made side by"
        f" side{named(confirmed.tasks if confirmed else ())}."
    )
    stored = f"against the stored baseline: {said_of(judged, found.counts)}"
    tasks = confirmed.tasks if confirmed else ()
    suite = confirmed is not None and confirmed.suite
    return replace(
        blocked,
        decision=Decision.REGRESSION,
        sentence=sentence,
        reasons=(stored, *floors),
        blocked_by=_causes(tasks, suite=suite, floors=floors),
    )


def _below(judged: Verdict, floors: tuple[str, ...]) -> Verdict:
    sentence = f"The head does not reach what is asked of it: {floors[0]}."
    return replace(
        judged,
        decision=Decision.REGRESSION,
        sentence=sentence,
        reasons=floors,
        blocked_by=frozenset({FLOOR}),
    )


def _causes(broken: Collection[str], *, suite: bool, floors: tuple[str, ...]) -> frozenset[str]:
    return frozenset({*broken, *([SUITE] if suite else []), *([FLOOR] if floors else [])})


def _floors(judged: Verdict) -> tuple[str, ...]:
    """Return what the head does not keep of what is asked of it, whatever its pass rate."""
    below = () if judged.head is None else below_floor(judged.head, judged.policy, judged.base)
    return (*below, *over_budget(judged.signals, judged.policy.budgets))


def _afresh(found: Course) -> tuple[str, ...]:
    if not found.fresh or found.confirmed is None or found.confirmed.difference is None:
        return ()
    fresh, tasks = found.fresh, counted(len(found.fresh), "task")
    rates = f"{rate(fresh, 'base')} → {rate(fresh, 'head')}"
    difference = points(found.confirmed.difference)
    return (f"fresh runs of both sides on {tasks}: {rates} ({difference})",)


def _decide(blank: Verdict, counts: Sequence[TaskCounts], policy: Policy) -> Verdict:
    ruling = rule(counts, policy)
    judged = marked(blank, counts, broken=ruling.broken)
    said = said_of(judged, counts)
    floors = _floors(judged)
    if ruling.worse:
        sentence = f"Merging this {does(judged)}: {said}{named(ruling.broken)}."
        suite = ruling.p_worse <= policy.suite_alpha
        causes = _causes(ruling.broken, suite=suite, floors=floors)
        return replace(
            judged,
            decision=Decision.REGRESSION,
            sentence=sentence,
            reasons=floors,
            blocked_by=causes,
        )
    if floors:
        return _below(judged, floors)
    if ruling.better:
        sentence = f"Merging this raises the pass rate: {said}."
        return replace(judged, decision=Decision.IMPROVED, sentence=sentence)
    return undetected(judged, counts, said=said)


def undetected(judged: Verdict, counts: Sequence[TaskCounts], *, said: str) -> Verdict:
    """Return a pass where a drop of the margin is excluded, else undecided."""
    policy, difference = judged.policy, pass_rate_difference(counts)
    left = drop_not_excluded(difference)
    if left < policy.margin:
        small = judged.p_worse is not None and judged.p_worse <= policy.suite_alpha
        what = "A small drop" if small else "No detectable change"
        sentence = f"{what}: {said}. A drop of {policy.margin * 100:g} points is excluded."
        return replace(judged, decision=Decision.PASS, sentence=sentence)
    excluded = f"A drop of up to {left * 100:.0f} points is not excluded."
    sentence = f"No detectable change: {said}. {_excludes_nothing(counts, left) or excluded}"
    reasons = (*judged.reasons, *_what_would_decide(counts, policy))
    return replace(judged, decision=Decision.UNDECIDED, sentence=sentence, reasons=reasons)


def _excludes_nothing(counts: Sequence[TaskCounts], left: float) -> str:
    """Say that no drop is excluded, where the base can not fall as far as the interval allows."""
    base = math.fsum(one.base_passed / one.base_runs for one in counts) / len(counts)
    if round(left * 100) < base * 100:
        return ""
    return "So few trials exclude no drop." if base else "The base passes nothing: no drop is left."


def said_of(judged: Verdict, counts: Sequence[TaskCounts], *, of: int | None = None) -> str:
    """Say both pass rates and their difference, and on how many tasks of all."""
    difference = points(pass_rate_difference(counts))
    said = f"{rate(counts, 'base')} → {rate(counts, 'head')} ({difference})"
    whole = len(judged.changes) if of is None else of
    if len(counts) < whole:
        said += f" on the {len(counts)} of {whole} tasks that can be compared"
    return said


def does(judged: Verdict) -> str:
    """Say what a change that blocks does."""
    fell = judged.difference is not None and judged.difference.point < 0
    return "lowers the pass rate" if fell else "breaks a task"


def named(broken: Collection[str]) -> str:
    """Name the tasks that broke, if any did."""
    return f"; broken: {', '.join(sorted(broken))}" if broken else ""


def _what_would_decide(counts: Sequence[TaskCounts], policy: Policy) -> tuple[str, ...]:
    more = about_more_runs(counts, policy.margin) if policy.margin > 0 else None
    if not more:
        return ()
    margin = f"{policy.margin * 100:g} points"
    return (f"To see or exclude a drop of {margin}, about {more} more trials would be needed.",)
