"""The seams: what an implementation of each kind must offer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import ClassVar, Protocol

from evalgate.core.files import Tree
from evalgate.core.observation import Observation
from evalgate.core.outline import Outline
from evalgate.core.sandboxcall import SandboxCall
from evalgate.core.trial import Outcome
from evalgate.core.user_reply import UserReply


class StageStatus(StrEnum):
    """How a stage ended: only ``exited`` says something about the program's own end."""

    EXITED = "exited"
    TIMEOUT = "timeout"
    INTERRUPTED = "interrupted"
    TOO_LARGE = "too_large"
    MEMORY = "memory"
    NOT_FOUND = "not_found"
    ENGINE = "engine"


@dataclass(frozen=True, slots=True, kw_only=True)
class Promises:
    """What a sandbox provider keeps to; a condition of each trial.

    A network and processes of its own, files of the host out of sight, memory within a limit.
    """

    own_network: bool
    own_processes: bool
    hides_host_files: bool
    limits_memory: bool

    @property
    def isolates(self) -> bool:
        """Whether what works in it is kept from the host and from other trials."""
        return self.own_network and self.own_processes and self.hides_host_files


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """Absolute paths of one sandbox as the program inside sees them."""

    repo: str
    home: str
    tmp: str
    harness: str
    inbox: str
    tests: str
    logs: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One program in one sandbox: what is laid in, what is run, what is asked back.

    ``trees`` maps a field name of `Places` to the files laid there; ``env`` is the whole
    environment beside the few fixed variables; ``reach`` is the one port of the host's loopback
    that the program finds at its own loopback; ``keep`` names the places whose files come back,
    read without following links and without ``.git``.
    """

    trees: Mapping[str, Tree]
    argv: Sequence[str]
    timeout: float
    env: Mapping[str, str] = field(default_factory=dict)
    reach: int | None = None
    keep: Sequence[str] = ("repo",)


@dataclass(frozen=True, slots=True, kw_only=True)
class StageResult:
    """What a stage gave back; ``log`` is the head and tail of ``log_bytes`` bytes of output.

    ``calls`` are those of a program on the host to its tools in the sandbox.
    """

    status: StageStatus
    exit_code: int | None
    log: bytes
    log_bytes: int
    seconds: float
    trees: Mapping[str, Tree] = field(default_factory=dict)
    detail: str = ""
    calls: Sequence[SandboxCall] = ()


class Stop(Protocol):
    """Says that a stage has to end before its time."""

    def is_set(self) -> bool:
        """Tell whether it has to."""
        ...


class Sandbox(Protocol):
    """One fresh room for one stage; everything in it is gone when its context ends."""

    @property
    def places(self) -> Places:
        """Where things are inside."""
        ...

    def run(self, stage: Stage, stop: Stop) -> StageResult:
        """Lay the trees in, run the program, end all its processes, read the files back."""
        ...


class Sandboxes(Protocol):
    """Where sandboxes come from."""

    def open_sandbox(self) -> AbstractContextManager[Sandbox]:
        """Make a fresh sandbox and remove it at the end, whatever happened."""
        ...


class SandboxProvider(Sandboxes, Protocol):
    """A way to make sandboxes."""

    #: Whether a sandbox is made ready from the moment it is open, and out of reach of all else.
    starts_ahead: ClassVar[bool]

    @property
    def name(self) -> str:
        """The name used in configuration and conditions."""
        ...

    @property
    def promises(self) -> Promises:
        """What it keeps to."""
        ...

    @property
    def images(self) -> Mapping[str, str]:
        """What its images are for, and twelve hex that name each; empty where there are none."""
        ...

    def unavailable(self) -> str | None:
        """Say why it can not be used here, or None when it can: a look, that makes nothing."""
        ...

    def prepare(self) -> None:
        """Make what sandboxes are made of, when it is not there.

        Raises:
            NotAvailableError: it can not be made; that is remembered.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What a check found: an outcome and one line for a person."""

    outcome: Outcome
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentCall:
    """Everything an adapter may put on a command line: where things are, and the model.

    ``replies`` are what an agent that asks is told, in order.
    """

    places: Places
    instruction: str
    model: str
    models_json: str
    base_url: str
    max_turns: int
    replies: Sequence[UserReply] = ()


class Check(Protocol):
    """One kind of check, built from its parameters."""

    #: Enters the conditions of a trial: raise it when the check's judgement changes.
    version: ClassVar[int]

    @property
    def command(self) -> str | None:
        """The command the grade stage must run for it, if any."""
        ...

    def examine(self, seen: Observation) -> Finding:
        """Look at a finished trial; raising means errored, never passed or failed."""
        ...


class Agent(Protocol):
    """An adapter: how one agent program is started and told its model."""

    #: Where it may be placed: on the host only when its tools can be led into a sandbox.
    placements: ClassVar[frozenset[str]]

    @property
    def version(self) -> str:
        """The installed program's version, empty when the harness itself holds the program."""
        ...

    def argv(self, call: AgentCall) -> Sequence[str]:
        """The command line for one trial."""
        ...

    def environment(self, call: AgentCall) -> Mapping[str, str]:
        """The variables for one trial: base URLs, the models, a dummy key."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Telling:
    """A verdict that is to be told: in short, and as a page of at most so many bytes."""

    outline: Outline
    page: Callable[[int], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """Where a verdict was told, what was done there, and why not more.

    ``refused`` says that the place is there and does not take it from us.
    """

    where: str
    done: str
    detail: str = ""
    refused: bool = False


class Publisher(Protocol):
    """A place where verdicts are told."""

    def publish(self, telling: Telling) -> Told:
        """Tell it there.

        Raises:
            NotAvailableError: the place does not answer, or asks to wait for too long.
        """
        ...
