"""What a check may look at: snapshot and claim, what the agent did, what the grade stage reported.

All of it is the same in a live trial, its replay and its regrade.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from evalgate.core.claim import Claim
from evalgate.core.files import Tree
from evalgate.core.judging import Judgement
from evalgate.core.task import Task
from evalgate.core.trajectory import Trajectory


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandReport:
    """How one command ended in the grade stage; ``exit_code`` None when it did not run.

    The output that a check sees is without secrets: it is for words, and decides nothing. What
    decides is ``written``, which is for no words.
    """

    exit_code: int | None
    output: str
    raw: str | None = field(default=None, repr=False)

    @property
    def written(self) -> str:
        """The output as it was written."""
        return self.output if self.raw is None else self.raw


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """A finished trial as checks see it.

    ``workspace`` is the snapshot with the claim applied; ``commands`` maps each command
    that a check asked for to its report from the grade stage, ``logs`` is what commands left
    below ``$EVALGATE_LOGS``. ``trajectory`` is None where no agent worked, as with a solution.
    ``judged`` is what judging models said, by the digest of the question.
    """

    task: Task
    workspace: Tree
    claim: Claim
    commands: Mapping[str, CommandReport] = field(default_factory=dict)
    logs: Tree = field(default_factory=dict)
    trajectory: Trajectory | None = None
    judged: Mapping[str, Judgement] = field(default_factory=dict)
