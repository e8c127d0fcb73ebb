"""The proof of a task: what was tried on it, and every flaw that was found on the way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from evalgate.core.json import Json
from evalgate.core.rates import counted
from evalgate.core.trial import Outcome


class Rule(StrEnum):
    """What a proven task keeps; a flaw names the one it breaks."""

    NO_SOLUTION = "no-solution"
    UNTOUCHED_PASSES = "untouched-passes"
    NOTHING_PASSES = "nothing-passes"
    SOLUTION_FAILS = "solution-fails"
    FLAKY = "flaky"
    NOT_MEASURED = "not-measured"
    HISTORY = "history"
    TESTS_TOLD = "tests-told"
    ANSWER_TOLD = "answer-told"
    CANARY = "canary"
    WEAK_TESTS = "weak-tests"
    NOT_SEARCHED = "not-searched"
    CONDUCT = "conduct"


@dataclass(frozen=True, slots=True, kw_only=True)
class Flaw:
    """What is wrong with a task, in one line; an ``advisory`` one disproves nothing."""

    rule: Rule
    said: str
    advisory: bool = False

    def to_json(self) -> dict[str, Json]:
        """Return the JSON form."""
        return {"rule": str(self.rule), "said": self.said, "advisory": self.advisory}


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One grading: how it ended, why, what the hidden tests came to, and which tests passed."""

    outcome: Outcome
    reason: str = ""
    hidden: Outcome | None = None
    passed: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Survivor:
    """A mutant of the solution that passes: what was changed, and its difference from it."""

    said: str
    diff: str

    def to_json(self) -> dict[str, Json]:
        """Return the JSON form."""
        return {"said": self.said, "diff": self.diff}


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """What was found of one task.

    ``mutants`` counts the mutants that were graded; ``passed`` are the tests that the solution
    passed every time.
    """

    task: str
    flaws: tuple[Flaw, ...] = ()
    untouched: tuple[Attempt, ...] = ()
    solved: tuple[Attempt, ...] = ()
    mutants: int = 0
    survivors: tuple[Survivor, ...] = ()

    @property
    def proven(self) -> bool:
        """Whether nothing disproves the task."""
        return all(flaw.advisory for flaw in self.flaws)

    @property
    def measured(self) -> bool:
        """Whether every flaw is one of the task: none of the place that it was tried in."""
        return all(flaw.rule is not Rule.NOT_MEASURED for flaw in self.flaws)

    @property
    def passed(self) -> tuple[str, ...]:
        """The tests that the solution passed every time."""
        sets = [attempt.passed for attempt in self.solved]
        return tuple(sorted(frozenset.intersection(*sets))) if sets else ()

    def to_json(self) -> dict[str, Json]:
        """Return the JSON form."""
        return {
            "task": self.task,
            "proven": self.proven,
            "flaws": [flaw.to_json() for flaw in self.flaws],
            "untouched": [str(attempt.outcome) for attempt in self.untouched],
            "solved": [str(attempt.outcome) for attempt in self.solved],
            "passed_tests": list(self.passed),
            "mutants": self.mutants,
            "survivors": [one.to_json() for one in self.survivors],
        }


def flaws_tried(untouched: Sequence[Attempt], solved: Sequence[Attempt]) -> list[Flaw]:
    """Return what is wrong with a task by how doing nothing fares, and by how its solution does."""
    return [
        *_unmeasured({"with nothing done": untouched, "with the solution": solved}),
        *_flaws_untouched(untouched),
        *_flaws_solved(solved),
    ]


def _flaws_untouched(attempts: Sequence[Attempt]) -> list[Flaw]:
    flaws = []
    passing = any(one.outcome is Outcome.PASSED for one in attempts)
    if any(one.hidden is Outcome.PASSED for one in attempts):
        also = ", and an agent that does nothing passes" if passing else ""
        often = _often([one.hidden for one in attempts])
        said = f"the hidden tests pass on the untouched files, {often}{also}"
        flaws.append(Flaw(rule=Rule.UNTOUCHED_PASSES, said=said))
    elif passing:
        said = f"an agent that does nothing passes, {_often([one.outcome for one in attempts])}"
        flaws.append(Flaw(rule=Rule.NOTHING_PASSES, said=said))
    return flaws + _flaky("with nothing done", attempts)


def _flaws_solved(attempts: Sequence[Attempt]) -> list[Flaw]:
    flaws = []
    failed = [one for one in attempts if one.outcome is Outcome.FAILED]
    if failed and len(failed) == len(attempts):
        said = f"the solution fails: {failed[0].reason}"
        flaws.append(Flaw(rule=Rule.SOLUTION_FAILS, said=said))
    elif failed:
        often = _often([one.outcome for one in attempts])
        said = f"the solution passes {often} only: {failed[0].reason}"
        flaws.append(Flaw(rule=Rule.FLAKY, said=said))
    return flaws + _flaky("with the solution", attempts)


def _unmeasured(tried: Mapping[str, Sequence[Attempt]]) -> Iterator[Flaw]:
    """Yield why tries errored, each reason once."""
    whens: dict[str, list[str]] = {}
    for when, attempts in tried.items():
        errored = [one for one in attempts if one.outcome is Outcome.ERRORED]
        if errored:
            whens.setdefault(errored[0].reason, []).append(when)
    for reason, tries in whens.items():
        yield Flaw(rule=Rule.NOT_MEASURED, said=f"{' and '.join(tries)}: {reason}")


def _flaky(when: str, attempts: Sequence[Attempt]) -> list[Flaw]:
    """Name the tests that end differently on equal files."""
    sets = [one.passed for one in attempts if one.outcome is not Outcome.ERRORED]
    if not sets:
        return []
    sometimes = frozenset.union(*sets) - frozenset.intersection(*sets)
    return [
        Flaw(
            rule=Rule.FLAKY,
            said=(
                f"{when}, {name} passes {sum(name in one for one in sets)} of "
                f"{counted(len(sets), 'time')}"
            ),
        )
        for name in sorted(sometimes)
    ]


def _often(ends: Sequence[Outcome | None]) -> str:
    return f"{ends.count(Outcome.PASSED)} of {counted(len(ends), 'time')}"
