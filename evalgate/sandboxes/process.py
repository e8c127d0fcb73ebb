"""A plain process in a directory of its own: no isolation, only order and cleanliness."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

from evalgate.protocols import Places, Promises, Stage, StageResult, StageStatus, Stop
from evalgate.sandboxes.environment import build_environment, new_token, search_path
from evalgate.sandboxes.output import Output
from evalgate.sandboxes.process_group import Ending, Program, run_group
from evalgate.sandboxes.room import Room, open_room


class ProcessProvider:
    """Runs a stage as the user that runs evalgate, with that user's files and network."""

    name = "process"
    images: Mapping[str, str] = MappingProxyType({})
    promises = Promises(
        own_network=False,
        own_processes=False,
        hides_host_files=False,
        limits_memory=False,
    )

    def __init__(self, temp: Path | None = None) -> None:
        self._temp = temp

    def unavailable(self) -> str | None:
        """Say why it can not be used here: ending all processes needs Linux's own means."""
        try:
            os.close(os.pidfd_open(os.getpid()))
            Path("/proc/self/environ").read_bytes()
        except (AttributeError, OSError) as error:
            return f"this system can not tell and end the processes of a stage ({error})"
        return None

    def prepare(self) -> None:
        """There is nothing to make."""

    @contextlib.contextmanager
    def open_sandbox(self) -> Iterator[ProcessSandbox]:
        """Make a fresh directory and remove it at the end."""
        with open_room(self._temp) as room:
            yield ProcessSandbox(room)


class ProcessSandbox:
    """One directory for one stage."""

    def __init__(self, room: Room) -> None:
        self._room = room

    @property
    def places(self) -> Places:
        """Where things are: the same paths inside as outside."""
        return self._room.places_below(str(self._room.path))

    def run(self, stage: Stage, stop: Stop) -> StageResult:
        """Run the stage's program in the directory."""
        token = new_token()
        path = search_path(os.environ.get("PATH", "").split(os.pathsep))
        env = build_environment(stage, self.places, path=path, token=token)
        self._room.lay(stage)
        missing = missing_program(stage.argv[0], env["PATH"], self.places.repo)
        if missing is not None:
            return self._room.finish(stage, not_found(missing))
        program = Program(
            argv=stage.argv,
            env=env,
            cwd=self.places.repo,
            token=token,
            room=str(self._room.path),
        )
        return self._room.finish(stage, run_group(program, timeout=stage.timeout, stop=stop))


def not_found(detail: str) -> Ending:
    """Return the end of a program that was never there."""
    return Ending(
        status=StageStatus.NOT_FOUND,
        exit_code=None,
        output=Output(),
        seconds=0.0,
        detail=detail,
    )


def missing_program(name: str, path: str, cwd: str) -> str | None:
    """Say what is missing for a program to start: itself, or the interpreter it names.

    Looked at before the start, because afterwards a missing program and one that ends with
    127 by itself look the same, and only the first is no fault of what is measured.
    """
    found = shutil.which(str(Path(cwd, name)) if "/" in name else name, path=path)
    if found is None:
        return f"{name}: no such program"
    with Path(found).open("rb") as stream:
        first = stream.read(256).split(b"\n")[0]
    words = first.removeprefix(b"#!").split()
    if first.startswith(b"#!") and words and not Path(os.fsdecode(words[0])).exists():
        return f"{name}: its interpreter {os.fsdecode(words[0])} is missing"
    return None
