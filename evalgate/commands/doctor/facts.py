"""What `evalgate doctor` knows of a project and its machine: gathered once, judged elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from evalgate.core.config import Config
from evalgate.core.task import Task


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """The tasks: those that can be read, how many name where they come from, and what is wrong.

    ``problems`` are broken rules of `evalgate task lint`, ``reachable`` says which part of the
    harness takes a task's files.
    """

    tasks: tuple[Task, ...] = ()
    from_history: int = 0
    problems: int = 0
    unreadable: tuple[str, ...] = ()
    reachable: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Records:
    """What is written down: baselines, ledger, recordings, the newest verdict.

    ``unwritten`` are baselines without a ledger entry; ``recorded`` are the short names of
    harnesses with recordings, ``current`` that of today's. ``read`` is how many trials of the
    newest verdict were read.
    """

    baselines: int = 0
    unwritten: tuple[str, ...] = ()
    entries: int = 0
    recorded: tuple[str, ...] = ()
    current: str = ""
    decision: str = ""
    read: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Repository:
    """The state of the repository against HEAD, and what stands in the way of a bad edit.

    ``committed`` is false where HEAD has no configuration; ``policy_edited`` where its policy is
    another than the work tree's.
    """

    committed: bool = True
    policy_edited: bool = False
    parts_changed: tuple[str, ...] = ()
    shallow: bool = False
    hook: bool = False
    workflow: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """The machine: sandboxes and why they can not be used, free bytes by place, keys, programs.

    ``keys`` maps the name of a variable to whether it is set: its value is never taken along.
    ``programs`` are the `evalgate` programs on PATH, in order, and whether each is ours.
    """

    sandboxes: Mapping[str, str | None] = field(default_factory=dict)
    free: Mapping[str, int] = field(default_factory=dict)
    keys: Mapping[str, bool] = field(default_factory=dict)
    programs: Mapping[str, bool] = field(default_factory=dict)
    leftovers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """All of it; ``harness`` says why the harness can not be read, or nothing."""

    config: Config
    harness: str = ""
    suite: Suite = field(default_factory=Suite)
    records: Records = field(default_factory=Records)
    repository: Repository = field(default_factory=Repository)
    machine: Machine = field(default_factory=Machine)
