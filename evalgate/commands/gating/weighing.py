"""The part of a gate in which trials are looked at: gathered or made, doubted, judged, told."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Protocol

from evalgate.commands.baselines.ancestry import Found, not_attributable, union_of
from evalgate.commands.baselines.release import beside_release
from evalgate.commands.baselines.unfitting import unfitting
from evalgate.commands.gating.evidence import Gathering, HeadTrials, gather, trials_by_tripwire
from evalgate.commands.gating.good_news import good_news
from evalgate.commands.gating.live_gate import judge_live
from evalgate.commands.gating.next_steps import MEASURE_UNION, NextSteps
from evalgate.commands.gating.spot_check import spot_checked
from evalgate.commands.gating.story import LATEST, tell
from evalgate.commands.making.budget import budget_of
from evalgate.commands.making.estimate import estimate
from evalgate.commands.project import State
from evalgate.commands.waive import accepted_before, after_waivers
from evalgate.core.decision import Decision
from evalgate.core.foresight import blind, noisy, unlucky
from evalgate.core.judgement import judge
from evalgate.core.policy import Policy
from evalgate.core.reading import readership
from evalgate.core.sample import Sample
from evalgate.core.scripted import WORDS, scripted_among
from evalgate.core.trial import Evidence
from evalgate.core.verdict import Verdict, prepare
from evalgate.errors import BudgetReachedError
from evalgate.report.numbers import chance
from evalgate.report.verdict import Story
from evalgate.store.reads import load_reads

#: So many tripwires are shown on top of a verdict; the run has all of them.
_HITS = 8


class Plain(Protocol):
    """Makes a verdict that rests on no comparison."""

    def __call__(
        self, decision: Decision, sentence: str, *, reasons: tuple[str, ...] = ()
    ) -> Verdict:
        """Return the verdict."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighing:
    """A head to be weighed against the baseline that was found for its base.

    With ``live`` trials are made now, with ``spot_check`` a few of the recorded ones anew. A
    ``fork`` needs stronger evidence. ``foreign`` are baselines of other harnesses that it adds;
    ``steps`` are the commands that go on from it.
    """

    it: Gathering
    found: Found
    story: Story
    plain: Plain
    live: bool
    spot_check: bool
    steps: NextSteps
    fork: bool = False
    foreign: tuple[str, ...] = ()

    def weigh(self) -> tuple[Verdict, Story]:
        """Return the verdict, and its story as far as it goes."""
        it, policy = self.it, self.it.base.config.policy
        if self.live:
            live = judge_live(it, self.found.sample, policy)
            return self._with_more(*self._doubted(live.verdict, live.head, live.told))
        head = gather(it)
        if self.spot_check and head.sample.evidence is Evidence.REGRADED:
            try:
                head = spot_checked(it, head)
            except BudgetReachedError as error:
                sentence = "Inconclusive: the budget ended before the spot check was made."
                return self.plain(Decision.BUDGET, sentence, reasons=(error.message,)), self.story
        if head.stale:
            trials = len(it.base.tasks) * it.base.config.trials
            reasons = (*head.stale[1:], estimate(it.base, it.harness, it.base.tasks, trials))
            union = union_of(it.state)
            if union or self.foreign:
                return self._of_union(union, reasons)
            steps = (self.steps.record, self.steps.gate)
            return self._unweighed(head.stale[0], reasons, steps)
        lacking = _lacking(policy, head, fork=self.fork)
        if lacking:
            steps = (f"{self.steps.gate} --spot-check", f"{self.steps.gate} --live")
            return self._unweighed(lacking[0], lacking[1:], steps)
        verdict = judge(self.found.sample, head.sample, policy, doubts=head.doubts)
        told = (f"no spot check: {head.unchecked}",) if head.unchecked else ()
        return self._doubted(verdict, head, told)

    def _with_more(self, verdict: Verdict, story: Story) -> tuple[Verdict, Story]:
        """Return a live gate whose page names the command that goes on, if money ended it."""
        usd = budget_of(self.it.base.config, self.it.max_usd).usd
        if verdict.decision is not Decision.BUDGET or not usd:
            return verdict, story
        least = verdict.context.get("least_usd")
        more = max(2 * usd, least) if isinstance(least, float) else 2 * usd
        asked = f"--live --usd {math.ceil(100 * more) / 100:.2f}"
        step = f"{self.steps.gate} {asked}   # with more money it goes on"
        return verdict, replace(story, next_steps=(step, *story.next_steps))

    def _unweighed(
        self, sentence: str, reasons: tuple[str, ...], steps: tuple[str, ...]
    ) -> tuple[Verdict, Story]:
        verdict = self.plain(Decision.STALE, sentence, reasons=reasons)
        return verdict, replace(self.story, next_steps=steps)

    def _of_union(self, union: tuple[str, ...], reasons: tuple[str, ...]) -> tuple[Verdict, Story]:
        """Return that measured harnesses were joined to one that nobody measured."""
        joined = f" of {' and '.join(union)}" if union else ""
        sentence = (
            f"There is no baseline for this union{joined}: what was joined here was measured"
            " apart, and never together."
        )
        verdict = self.plain(Decision.NO_BASELINE, sentence, reasons=reasons)
        return verdict, replace(self.story, next_steps=MEASURE_UNION)

    def _doubted(
        self, verdict: Verdict, head: HeadTrials, told: tuple[str, ...]
    ) -> tuple[Verdict, Story]:
        """Return a verdict that is believed, or void, with everything that is told beside it."""
        base, state, baseline = self.it.base, self.it.state, self.found.sample
        touched = tuple(one.sentence for one in head.hits)
        voiding = touched if base.config.tripwires.voids else ()
        doubts = (*head.doubts, *_scripted_doubts(state, head), *voiding)
        if doubts:
            verdict = prepare(baseline, head.sample, verdict.policy, doubts=doubts)
        if self.found.changes:
            verdict = not_attributable(verdict, self.found)
        verdict, waivers = after_waivers(verdict, base, state)
        read = readership(head.sample, load_reads(state.project.state))
        context = {
            **verdict.context,
            "sandbox": head.sandbox,
            "run": head.run,
            "read": read.to_json(),
        }
        verdict = replace(verdict, context=context)
        verdict, anchor = beside_release(verdict, base)
        policy, runs, stored = base.config.policy, base.config.trials, _stored(baseline, base)
        foreseen = *blind(stored, policy, runs=runs), *unlucky(stored, policy, runs=runs)
        notes = (*self.story.notes, *foreseen, *waivers)
        notes += verdict.policy.only_recorded if self.live else ()
        notes += _scripted_notes(baseline, head.sample)
        notes += _errored_notes(verdict)
        notes += () if voiding else touched[:_HITS]
        notes += good_news(verdict, state.project)
        run = LATEST if self.story.away or not head.run else head.run
        trajectories = f"trajectories: {read.sentence}; evalgate read {run}"
        open_ = noisy(stored, policy, runs=runs)
        before = accepted_before(base)
        decided = (*self.story.decided, *open_, *_decided(head), *told, *before, trajectories)
        story = replace(
            self.story,
            notes=notes,
            anchor=anchor,
            decided=decided,
            touched=trials_by_tripwire(head.hits),
        )
        return verdict, unfitting(tell(story, verdict, base, head, state), verdict, base, state)


def _lacking(policy: Policy, head: HeadTrials, *, fork: bool) -> tuple[str, ...]:
    """Say that the evidence is weaker than the policy asks for, when it is."""
    evidence, asked = head.sample.evidence, policy.asked_evidence(fork=fork)
    if evidence.rank >= asked.rank:
        return ()
    of = "from a fork " if fork else ""
    sentence = f"The numbers are {evidence}, and {of}the policy asks for {asked} ones."
    return (sentence, head.unchecked) if head.unchecked else (sentence,)


def _errored_notes(verdict: Verdict) -> tuple[str, ...]:
    """Say so when more trials of the head errored than chance explains: none of them counts."""
    errored = verdict.errored
    if errored is None or not errored.beyond_chance:
        return ()
    return (
        "more trials of the head errored than chance explains, and none of them counts (one-sided"
        f" p {chance(errored.p_more)})",
    )


def _stored(baseline: Sample, base: State) -> dict[str, tuple[int, int]]:
    quarantined = base.config.policy.quarantined
    return baseline.stored_of(
        {task.id: task.digest for task in base.tasks if task.id not in quarantined}
    )


def _decided(head: HeadTrials) -> tuple[str, ...]:
    rows = head.sample.rows
    counted = sum(1 for row in rows if row.cassette)
    return (
        f"{len(rows)} trials of the head ({counted} with a recording), graded here in the "
        f"sandbox {head.sandbox}; measured under {_conditions(head)}",
    )


def _conditions(head: HeadTrials) -> str:
    conditions = head.sample.conditions
    models = ", ".join(conditions.models) or "no model"
    judges = f", judge {', '.join(conditions.judges)}" if conditions.judges else ""
    return f"sandbox {conditions.sandbox}, model {models}{judges}"


def _scripted_doubts(state: State, head: HeadTrials) -> tuple[str, ...]:
    odd = state.config.unplanned(head.sample.conditions.models)
    return tuple(f"{model} answered, and the harness asks a model" for model in odd)


def _scripted_notes(*samples: Sample) -> tuple[str, ...]:
    served = dict.fromkeys(one for sample in samples for one in sample.conditions.models)
    scripted = scripted_among(served)
    return (f"{', '.join(scripted)}: {WORDS}",) if scripted else ()
