"""How a bisection ended, for a person and for a program; and what one may come to."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass

from evalgate.commands.tables import render_rows
from evalgate.core.bisection import Bisection, Counts, Ending, made_up
from evalgate.core.json import Json
from evalgate.core.rates import counted
from evalgate.errors import ExitCode

#: Bisections that are simulated for an estimate, with the same numbers every time.
_SIMULATED = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """The change that broke the task: its commits with their subjects, and what it changed.

    More than one where the harnesses between them can not be measured. ``before`` is the commit
    just before the first of them.
    """

    commits: tuple[tuple[str, str], ...]
    before: str
    parts: Mapping[str, tuple[str, ...]]
    probability: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Bisected:
    """A bisection: the harnesses on the line, what was known of them, and how it ended.

    ``states`` are the commits that brought them, with their subjects; ``ended`` is None where
    nothing was asked, because it was a dry run or there is one harness only.
    """

    task: str
    commits: int
    states: tuple[tuple[str, str], ...]
    cached: Counts = ()
    left_out: tuple[str, ...] = ()
    estimate: str = ""
    ended: Bisection | None = None
    named: Named | None = None

    @property
    def exit_code(self) -> ExitCode:
        """Not measured, where a commit was looked for and none is named."""
        looked = self.ended is not None and self.named is None
        return ExitCode.NOT_MEASURED if looked else ExitCode.OK

    @property
    def sentence(self) -> str:
        """What came of it."""
        if len(self.states) == 1:
            return f"The harness is the same at both ends: no commit of it broke {self.task}."
        if self.ended is None:
            return f"Nothing was run. To find the commit: {self.estimate}."
        if self.named is not None:
            commits = ", ".join(f"{commit[:12]} ({words})" for commit, words in self.named.commits)
            sure = f"{100 * self.named.probability:.1f} % sure"
            several = " (what lies between can not be measured)"
            more = several if len(self.named.commits) > 1 else ""
            return f"{self.task} broke with {commits}{more}: {sure}."
        if self.ended.ending is Ending.SAME:
            (good, runs), (bad, others) = self.ended.counts[0], self.ended.counts[-1]
            return (
                f"The ends do not differ: {self.task} passed {good} of {runs} at the good one and"
                f" {bad} of {others} at the bad one. No commit is named."
            )
        if self.ended.ending is Ending.NOT_MEASURED:
            return f"{self.task} can not be measured at one of the ends: no commit is named."
        return f"The changes can not be told apart by so many trials: no commit of {self.task}."

    @property
    def text(self) -> str:
        """What came of it, the table of harnesses, and what to look at."""
        changes = counted(len(self.states) - 1, "change")
        line = f"{counted(self.commits, 'commit')}, {changes} of the harness"
        said = [self.sentence, line, *(f"left out: {one}" for one in self.left_out)]
        if self.cached:
            said += ["", render_rows([_HEAD, *self._rows()])]
        if self.named is not None:
            said += ["", *(f"{name}  {'; '.join(f)}" for name, f in self.named.parts.items())]
            last = self.named.commits[-1][0]
            said.append(f"evalgate fingerprint --diff {self.named.before[:12]}..{last[:12]}")
            said.append(f"git diff {self.named.before[:12]} {last[:12]}")
        return "\n".join(said)

    def _rows(self) -> list[tuple[str, ...]]:
        counts = self.cached if self.ended is None else self.ended.counts
        shares = (None,) if self.ended is None else (None, *self.ended.probabilities)
        rows: list[tuple[str, ...]] = []
        for number, (commit, words) in enumerate(self.states):
            passed, runs = counts[number]
            share = shares[number] if number < len(shares) else None
            made = str(runs - self.cached[number][1])
            broke = "" if share is None else f"{100 * share:.0f} %"
            rows.append((commit[:12], words[:60], f"{passed}/{runs}", made, broke))
        return rows

    def to_json(self) -> dict[str, Json]:
        """Return the JSON form."""
        ended, named = self.ended, self.named
        counts = self.cached if ended is None else ended.counts
        none = [None] * len(self.states)
        shares = [None, *ended.probabilities] if ended is not None else none
        cached = self.cached or ((0, 0),) * len(self.states)
        return {
            "task": self.task,
            "exit_code": int(self.exit_code),
            "sentence": self.sentence,
            "ending": None if ended is None else str(ended.ending),
            "commits": self.commits,
            "estimate": self.estimate,
            "left_out": list(self.left_out),
            "harnesses": [
                {
                    "commit": commit,
                    "subject": words,
                    "passed": passed,
                    "measured": runs,
                    "made_now": runs - before,
                    "probability": share,
                }
                for (commit, words), (passed, runs), (_, before), share in zip(
                    self.states, counts or cached, cached, shares, strict=True
                )
            ],
            "culprit": None
            if named is None
            else {
                "commits": [commit for commit, _ in named.commits],
                "before": named.before,
                "probability": named.probability,
                "parts": {name: list(files) for name, files in named.parts.items()},
            },
        }


_HEAD = ("commit", "subject", "passed", "made now", "broke it")


def expected(counts: Counts) -> tuple[int, int]:
    """Return how many trials a bisection from here takes: half of the time, and in nine of ten.

    What is not known is drawn: the change that broke the task, and the rates before and after it.
    """
    rng = random.Random(str(counts))  # noqa: S311 - no secret
    known = sum(runs for _, runs in counts)
    made = []
    for _ in range(_SIMULATED):
        after = 0.6 * rng.random()
        before = after + (1 - after) * rng.uniform(0.5, 1)
        culprit = rng.randrange(len(counts) - 1)
        found = made_up(counts, culprit=culprit, rates=(before, after), rng=rng)
        made.append(sum(runs for _, runs in found.counts) - known)
    made.sort()
    return made[len(made) // 2], made[len(made) * 9 // 10]
