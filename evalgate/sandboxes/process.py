"""A plain process in a directory of its own: no isolation, only order and cleanliness."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import ClassVar

from evalgate.protocols import Places, Promises, Stage, StageResult, Stop
from evalgate.sandboxes.begun import Program
from evalgate.sandboxes.process_group import missing_program, not_found, run_group
from evalgate.sandboxes.room import Room, open_room, places_below
from evalgate.sandboxes.variables import build_environment, new_token, search_path


class ProcessProvider:
    """Runs a stage as the user that runs evalgate, with that user's files and network."""

    name = "process"
    images: Mapping[str, str] = MappingProxyType({})
    starts_ahead: ClassVar[bool] = False
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
        return places_below(str(self._room.path))

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
            kept=True,
        )
        return self._room.finish(stage, run_group(program, timeout=stage.timeout, stop=stop))
