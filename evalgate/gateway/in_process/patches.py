"""VCR.py's patches of the HTTP libraries, held for all threads as long as a context is open.

Where VCR.py makes a real connection it takes its patches away for a moment, in the whole process,
and what other threads ask then goes past the cassette. It does so because some methods of the
real classes look their own class up by name (``super(HTTPSConnection, self)`` in http.client) and
would find the stub there. Here these methods find the real class, and the patches stay.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext
from functools import update_wrapper
from types import CodeType, FunctionType, ModuleType
from typing import Any, Protocol

import vcr.patch
from vcr.cassette import Cassette
from vcr.filters import decode_response
from vcr.stubs import VCRConnection

from evalgate.gateway.in_process.asked import Asked
from evalgate.gateway.in_process.leaving import leaving, note


class Plays(Protocol):
    """Answers requests, in any thread."""

    def play(self, request: Asked) -> dict[str, object]:
        """Return the response in VCR.py's form, or raise."""
        ...


class Keeps(Protocol):
    """Keeps what was asked and answered, in any thread."""

    def ask(self, request: Asked) -> None:
        """Take notice of a request that is about to be sent, perhaps more than once."""
        ...

    def keep(self, request: Asked, response: Mapping[str, Any]) -> None:
        """Keep a request and its response, which is in VCR.py's form and not compressed."""
        ...

    def leave(self, request: Asked) -> None:
        """Keep that nobody waits any more for the response to a request."""
        ...


class _Tape(Cassette):  # type: ignore[misc]  # VCR.py has no types
    """VCR.py's cassette as its stubs use it; what it holds, it holds elsewhere."""

    def __init__(self, path: str, wire: Any) -> None:
        super().__init__(path)
        self.wire = wire

    def _load(self) -> None:
        """What is played is not VCR.py's to read."""

    def _save(self, *, force: bool = False) -> None:
        """What was recorded is not VCR.py's to write."""


class _Replay(_Tape):
    """Everything can be played, until it is asked for: to look first and take then is no step."""

    write_protected = True

    def can_play_response_for(self, request: Asked) -> bool:  # noqa: ARG002 - VCR's shape
        return True

    def play_response(self, request: Asked) -> dict[str, object]:
        player: Plays = self.wire
        return player.play(request)


class _Recording(_Tape):
    """Nothing can be played; what is asked for is about to be sent."""

    write_protected = False

    def can_play_response_for(self, request: Asked) -> bool:
        recorder: Keeps = self.wire
        recorder.ask(request)
        note(request)
        return False

    def append(self, request: Asked, response: dict[str, Any]) -> None:
        recorder: Keeps = self.wire
        recorder.keep(request, decode_response(response))


@contextmanager
def replaying(player: Plays) -> Iterator[None]:
    """Let a player answer the HTTP clients of this process; all is as before afterwards."""
    with _Replay.use(path="replay", wire=player), _steady(), leaving(put, lambda _: None):
        yield


@contextmanager
def recording(recorder: Keeps) -> Iterator[None]:
    """Let a recorder see the HTTP clients of this process; all is as before afterwards."""
    with _Recording.use(path="recording", wire=recorder), _steady(), leaving(put, recorder.leave):
        yield


@contextmanager
def put(holder: object, name: str, value: object) -> Iterator[None]:
    """Set an attribute while the context lasts."""
    before = vars(holder)[name]
    setattr(holder, name, value)
    try:
        yield
    finally:
        setattr(holder, name, before)


def real(value: Any) -> Any:
    """Return the class behind one of VCR.py's stubs, and everything else as it is."""
    stub = isinstance(value, type) and issubclass(value, VCRConnection)
    return value._baseclass if stub else value  # noqa: SLF001 - VCR.py says it nowhere else


@contextmanager
def _steady() -> Iterator[None]:
    with ExitStack() as stack:
        for base in {base for stub in _stubs() for base in real(stub).__mro__}:
            for name, function in list(vars(base).items()):
                if isinstance(function, FunctionType):
                    found = _found(function.__globals__, _names(function.__code__))
                    if found:
                        stack.enter_context(put(base, name, _finding(function, found)))
        stack.enter_context(put(vcr.patch, "force_reset", nullcontext))
        yield


def _stubs() -> Iterator[type]:
    """Yield VCR.py's stubs, of every library that is installed."""
    classes = [*VCRConnection.__subclasses__()]
    while classes:
        classes += (stub := classes.pop()).__subclasses__()
        yield stub


def _names(code: CodeType) -> frozenset[str]:
    """Return the names that a function looks up in modules, and of attributes."""
    inner = [_names(one) for one in code.co_consts if isinstance(one, CodeType)]
    return frozenset(code.co_names).union(*inner)


def _found(space: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """Return what these names must find in a space in place of a stub, also in its modules."""
    found: dict[str, Any] = {}
    for name in names:
        value = space.get(name)
        if isinstance(value, ModuleType):
            inner = _found(vars(value), [other for other in names if other != name])
            if inner:
                found[name] = ModuleType(value.__name__)
                vars(found[name]).update(vars(value), **inner)
        elif real(value) is not value:
            found[name] = real(value)
    return found


def _finding(function: FunctionType, found: Mapping[str, Any]) -> FunctionType:
    """Return a copy of a function to which some names mean something else."""
    copy = FunctionType(
        function.__code__,
        {**function.__globals__, **found},
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    copy.__kwdefaults__ = function.__kwdefaults__
    update_wrapper(copy, function)
    return copy
