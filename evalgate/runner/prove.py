"""The proof of a task, step by step.

Nothing gives it away, doing nothing fails, the solution passes, and slips in it are found.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from evalgate.checks.table import asks_model, build_checks, needs_agent, needs_answer
from evalgate.core.claim import Claim, claim_of, render_patch
from evalgate.core.files import Tree
from evalgate.core.giveaways import giveaways, told_answers
from evalgate.core.mutants import Mutant, mutants_of
from evalgate.core.plain import shortened
from evalgate.core.proof import (
    Attempt,
    Flaw,
    Proof,
    Rule,
    Survivor,
    flaws_tried,
)
from evalgate.core.redaction import Redactor
from evalgate.core.task import SOLUTION_ANSWER, SOLUTION_SCRIPT, CheckSpec, Task
from evalgate.core.testreport import passed_tests
from evalgate.core.trajectory import Trajectory
from evalgate.core.trial import Outcome
from evalgate.errors import EvalgateError, NotAvailableError, UsageError
from evalgate.protocols import SandboxProvider
from evalgate.runner.control import Controls
from evalgate.runner.grade import HIDDEN_TESTS, grade, overall
from evalgate.runner.search_stage import search
from evalgate.runner.solve_stage import UnsolvedError, solved_workspace
from evalgate.sandboxes.fitting import fit

#: How pytest, and Python itself, write what broke a test or kept one from being read: the last
#: one says why.
_ERROR: Final = re.compile(
    r"^(?:E {3}\s*(?=\S)|(?=[A-Za-z.]+(?:Error|Exception): ))(.+)$", re.MULTILINE
)
_LONGEST: Final = 160


@dataclass(frozen=True, slots=True, kw_only=True)
class Prover:
    """Where tasks are proven and how much is tried: ``times`` each, and at most ``mutants``.

    With ``hasty`` a task is given up at its first flaw.
    """

    provider: SandboxProvider
    redactor: Redactor
    setup_network: bool = False
    times: int = 3
    mutants: int = 8
    hasty: bool = False
    controls: Controls = field(default_factory=Controls)


def prove(prover: Prover, task: Task, stop: threading.Event) -> Proof:
    """Try a task as it is; return every flaw that was found.

    Raises:
        NotAvailableError: the sandbox is gone.
        TrialStoppedError: interrupted.
    """
    try:
        fitted = fit(prover.provider, task, setup_network=prover.setup_network)
    except (UsageError, NotAvailableError) as error:
        if prover.provider.unavailable() is not None:
            raise
        said = f"{error.message}{error.hint and f' ({error.hint})'}"
        return Proof(task=task.id, flaws=(Flaw(rule=Rule.NOT_MEASURED, said=said),))
    return _Case(prover, fitted.task, fitted.provider, stop).proof()


class _Case:
    """One task that is being proven: what is known so far."""

    def __init__(
        self, prover: Prover, task: Task, provider: SandboxProvider, stop: threading.Event
    ) -> None:
        self.prover, self.task, self.provider, self.stop = prover, task, provider, stop
        self.checks = tuple(one for one in build_checks(task) if not asks_model(one[0]))
        self.flaws: list[Flaw] = []
        self.untouched: list[Attempt] = []
        self.solved: list[Attempt] = []
        self.mutants = 0
        self.survivors: list[Survivor] = []

    def proof(self) -> Proof:
        for step in self.steps():
            self.flaws += step
            if self.prover.hasty and any(not flaw.advisory for flaw in step):
                break
        return Proof(
            task=self.task.id,
            flaws=tuple(dict.fromkeys(self.flaws)),
            untouched=tuple(self.untouched),
            solved=tuple(self.solved),
            mutants=self.mutants,
            survivors=tuple(self.survivors),
        )

    def steps(self) -> Iterator[list[Flaw]]:
        """Yield the flaws of one step after another, the cheapest first."""
        task = self.task
        yield list(giveaways(task))
        after: Tree = task.workspace
        if SOLUTION_SCRIPT in task.solution:
            try:
                after = solved_workspace(self.provider, task, self.stop)
            except UnsolvedError as error:
                said = f"solution/{SOLUTION_SCRIPT}: {error}"
                yield [Flaw(rule=Rule.SOLUTION_FAILS, said=said)]
        elif SOLUTION_ANSWER not in task.solution:
            said = f"there is no solution/{SOLUTION_SCRIPT}, so nobody knows that it can be solved"
            yield [Flaw(rule=Rule.NO_SOLUTION, said=said)]
        yield list(told_answers(task, after))
        nothing = Claim()
        self.untouched.append(self.attempt(nothing))
        yield flaws_tried(self.untouched, ())
        claim = claim_of(task.workspace, after)
        solved = claim.touched or SOLUTION_ANSWER in task.solution
        if solved:
            self.solved.append(self.attempt(claim, solved=True))
            yield [*self.anew(1), *self.left_out()]
        searched = search(self.provider, task, after, self.stop)
        yield list(searched.flaws)
        if searched.claim.touched:
            paths = ", ".join(searched.claim.touched[:3])
            said = f"an agent that does nothing hands back {paths}"
            yield [Flaw(rule=Rule.NOTHING_PASSES, said=said)]
        for _ in range(self.prover.times - 1):
            self.untouched.append(self.attempt(nothing))
            if solved:
                self.solved.append(self.attempt(claim, solved=True))
        yield self.anew(self.prover.times)
        if claim.touched and all(one.outcome is Outcome.PASSED for one in self.solved):
            yield self.weak(after)

    def anew(self, times: int) -> list[Flaw]:
        """Return what so many tries of each say, in the place of what fewer of them said."""
        first = {
            *flaws_tried(self.untouched[:1], ()),
            *flaws_tried(self.untouched[:1], self.solved[:1]),
        }
        self.flaws = [flaw for flaw in self.flaws if flaw not in first]
        return flaws_tried(self.untouched[:times], self.solved[:times])

    def shows(self, spec: CheckSpec) -> bool:
        """Tell whether a solution shows what a check looks at."""
        answered = SOLUTION_ANSWER in self.task.solution or not needs_answer(spec)
        return answered and not needs_agent(spec)

    def left_out(self) -> Iterator[Flaw]:
        """Note the checks that are not tried on the solution."""
        for spec, _ in self.checks:
            if not self.shows(spec):
                said = f"{spec.name} looks at what an agent does or says: not tried on the solution"
                yield Flaw(rule=Rule.CONDUCT, said=said, advisory=True)

    def attempt(self, claim: Claim, *, solved: bool = False) -> Attempt:
        """Grade a claim once, as of an agent that called no tool.

        It said the solution's answer, or nothing; what only an agent's way can tell of a solution,
        and what a model would judge, is left out.
        """
        answer = self.task.solution.get(SOLUTION_ANSWER) if solved else None
        said = answer.data.decode("utf-8", "replace") if answer else ""
        checks = tuple(one for one in self.checks if not solved or self.shows(one[0]))
        try:
            graded = grade(
                self.provider,
                self.task,
                checks,
                claim,
                self.stop,
                self.prover.controls,
                redactor=self.prover.redactor,
                trajectory=Trajectory(turns=1, final_answer=said),
            )
        except NotAvailableError:
            raise
        except EvalgateError as error:
            return Attempt(outcome=Outcome.ERRORED, reason=error.message)
        outcome, reason = overall(graded.checks)
        told = _ERROR.findall(graded.log)
        if told and reason:
            reason = f"{reason} ({shortened(told[-1], _LONGEST)})"
        named = () if self.task.only_checks else graded.checks
        hidden = [check.outcome for check in named if check.name == HIDDEN_TESTS]
        return Attempt(
            outcome=outcome,
            reason=reason,
            hidden=hidden[0] if hidden else None,
            passed=passed_tests(graded.log),
        )

    def weak(self, after: Tree) -> list[Flaw]:
        """Grade the mutants of the solution; each that passes is kept with its difference."""
        for mutant in mutants_of(self.task.workspace, after, most=self.prover.mutants):
            self.mutants += 1
            files = {**after, mutant.path: mutant.file}
            claim = claim_of(self.task.workspace, files)
            if self.attempt(claim, solved=True).outcome is Outcome.PASSED:
                self.survivors.append(_survivor(mutant, after, files))
        if not self.survivors:
            return []
        said = f"{len(self.survivors)} of {self.mutants} slips in the solution pass"
        return [Flaw(rule=Rule.WEAK_TESTS, said=said, advisory=True)]


def _survivor(mutant: Mutant, after: Tree, files: Tree) -> Survivor:
    return Survivor(said=mutant.said, diff=render_patch(after, claim_of(after, files)))
