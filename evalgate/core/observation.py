"""What a check may look at: the snapshot, the claim, and what the grade stage reported."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from evalgate.core.claim import Claim
from evalgate.core.files import Tree
from evalgate.core.task import Task


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandReport:
    """How one command ended in the grade stage; ``exit_code`` None when it did not run.

    The output that a check sees is without secrets: it is for words, and decides nothing.
    """

    exit_code: int | None
    output: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """A finished trial as checks see it.

    ``workspace`` is the snapshot with the claim applied; ``commands`` maps each command
    that a check asked for to its report from the grade stage.
    """

    task: Task
    workspace: Tree
    claim: Claim
    commands: Mapping[str, CommandReport] = field(default_factory=dict)
