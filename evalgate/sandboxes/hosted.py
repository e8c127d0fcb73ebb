"""An agent on the host, its tools in a sandbox: one stage of two rooms.

The repository lies in the sandbox, where a program of ours does what the agent asks for; the
agent runs beside it as the user that runs evalgate, in a folder with nothing but the overlay,
with the harness laid out for reading. Both begin and end together, and one result is made of them.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import Final

from evalgate.core.files import Tree
from evalgate.core.sandboxcall import SandboxCall
from evalgate.errors import NotAvailableError
from evalgate.protocols import (
    Places,
    Sandbox,
    SandboxProvider,
    Stage,
    StageResult,
    StageStatus,
    Stop,
)
from evalgate.sandboxes.begun import Program
from evalgate.sandboxes.client import SANDBOX
from evalgate.sandboxes.process_group import Ending, missing_program, not_found, run_group
from evalgate.sandboxes.room import Room, open_room, places_below
from evalgate.sandboxes.service import PROGRAM, WORD, ToolService, open_service, service_program
from evalgate.sandboxes.variables import build_environment, new_token, search_path

#: The socket's name in the room of the agent.
_SOCKET: Final = "sandbox"
#: How much longer than the agent its tools may live: it begins later than they do.
_GRACE: Final = 30.0
_LOOK: Final = 0.01
_KILLED: Final = 128 + signal.SIGKILL


class HostedSandbox:
    """A sandbox for the tools, and a room for the agent that uses them."""

    def __init__(self, sandbox: Sandbox, room: Room, service: ToolService, folder: Tree) -> None:
        self._sandbox = sandbox
        self._folder = folder
        self._room = room
        self._service = service

    @property
    def places(self) -> Places:
        """Where things are for the agent: the repository in the sandbox, the rest on the host."""
        inner = self._sandbox.places
        return replace(self._own, repo=inner.repo, tests=inner.tests, logs=inner.logs)

    @property
    def further(self) -> dict[str, str]:
        """Paths that are this run's as well: the agent's folder, and the homes of its tools."""
        inner = self._sandbox.places
        return {
            "FOLDER": self._own.repo,
            "TOOLS_HOME": inner.home,
            "TOOLS_TMP": inner.tmp,
            "TOOLS_INBOX": inner.inbox,
        }

    def run(self, stage: Stage, stop: Stop) -> StageResult:
        """Open the tools, run the stage's program on the host, read the sandbox's files back.

        Raises:
            NotAvailableError: the sandbox has no python3, which the tools need.
        """
        trees = {name: tree for name, tree in stage.trees.items() if name in {"repo", "home"}}
        tools = tools_stage(
            self._service, self._sandbox.places, trees, timeout=stage.timeout, keep=stage.keep
        )
        both = _Either(stop)
        with ThreadPoolExecutor(1, thread_name_prefix="tools") as pool:
            inner = pool.submit(self._sandbox.run, tools, both)
            try:
                ending = self._agent(stage, inner, stop)
            except BaseException:
                both.set()
                raise
            early = inner.done()
            self._service.end()
            result = inner.result()
        if result.status is StageStatus.NOT_FOUND:
            raise NotAvailableError(
                f"the sandbox can not run the tools of an agent on the host: {result.detail}",
                hint="they need python3 in it",
            )
        # What is answered this late is a call as well.
        self._service.close()
        return _joined(ending, result, early=early, calls=self._service.calls)

    def _agent(self, stage: Stage, inner: Future[StageResult], stop: Stop) -> Ending:
        """Run the program on the host once its tools are there, as long as they are."""
        ended = _Either(stop)
        inner.add_done_callback(lambda _: ended.set())
        while not self._service.connected.wait(_LOOK):
            if ended.is_set():
                return not_found("")
        token = new_token()
        own = {name: tree for name, tree in stage.trees.items() if name in {"harness", "inbox"}}
        self._room.lay(replace(stage, trees={**own, "repo": self._folder}))
        path = search_path(os.environ.get("PATH", "").split(os.pathsep))
        env = build_environment(stage, self._own, path=path, token=token)
        missing = missing_program(stage.argv[0], env["PATH"], self._own.repo)
        if missing is not None:
            return not_found(missing)
        program = Program(
            argv=stage.argv,
            env={**env, SANDBOX: str(self._room.path / _SOCKET)},
            cwd=self._own.repo,
            token=token,
            room=str(self._room.path),
            kept=True,
        )
        return run_group(program, timeout=stage.timeout, stop=ended)

    @property
    def _own(self) -> Places:
        return places_below(str(self._room.path))


@contextlib.contextmanager
def open_hosted(provider: SandboxProvider, folder: Tree) -> Iterator[HostedSandbox]:
    """Make a fresh sandbox for the tools and a room for the agent; both are gone at the end.

    ``folder`` are the files in the folder that the agent begins in.
    """
    with (
        provider.open_sandbox() as sandbox,
        open_room() as room,
        open_service(room.path / _SOCKET) as service,
    ):
        yield HostedSandbox(sandbox, room, service, folder)


def tools_stage(
    service: ToolService,
    places: Places,
    trees: Mapping[str, Tree],
    *,
    timeout: float,
    keep: Sequence[str] = ("repo",),
) -> Stage:
    """Return the stage in which a service's tools work as long as an agent may, and a bit more."""
    return Stage(
        trees={**trees, "inbox": service_program()},
        argv=["python3", "-I", "-S", f"{places.inbox}/{PROGRAM}", str(service.port)],
        env={WORD: service.word},
        timeout=timeout + _GRACE,
        reach=service.port,
        keep=keep,
    )


class _Either:
    """Says to stop once it is told to, or once another one says so."""

    def __init__(self, other: Stop) -> None:
        self._told = False
        self._other = other

    def set(self) -> None:
        """Say to stop."""
        self._told = True

    def is_set(self) -> bool:
        """Tell whether either says so."""
        return self._told or self._other.is_set()


def _joined(
    ending: Ending, tools: StageResult, *, early: bool, calls: Sequence[SandboxCall]
) -> StageResult:
    """Make one result: how the agent ended, unless its tools ended before it or went wrong.

    A sandbox in which everything was killed is the doing of what runs in it: that is how an
    agent that lives inside ends itself.
    """
    ends = {StageStatus.EXITED, StageStatus.TIMEOUT}
    status, code, detail = ending.status, ending.exit_code, ending.detail
    if tools.status is StageStatus.TIMEOUT and not tools.trees:
        status, code, detail = tools.status, None, "the tools of the agent came to no end"
    elif tools.status not in ends:
        status, code, detail = tools.status, None, tools.detail
    elif early and status not in ends:
        status, code, detail = tools.status, tools.exit_code, "the tools of the agent were killed"
        if status is StageStatus.EXITED and code != _KILLED:
            said = tools.log.decode("utf-8", "replace").strip().splitlines()[-1:]
            status, detail = StageStatus.ENGINE, f"its tools ended with {code}: {' '.join(said)}"
    return replace(
        tools,
        status=status,
        exit_code=code,
        log=ending.output.render(),
        log_bytes=ending.output.total,
        seconds=ending.seconds,
        detail=detail or tools.detail,
        calls=calls,
    )
