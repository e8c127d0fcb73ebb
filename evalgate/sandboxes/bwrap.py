"""Bubblewrap: own namespaces for processes, files and network, without an engine or root.

The program inside sees /usr and the running Python installation read-only, the places of its
stage, and nothing else of the host. https://github.com/containers/bubblewrap
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import ClassVar

from evalgate.protocols import Places, Promises, Stage, StageResult, StageStatus, Stop
from evalgate.sandboxes.begun import Program
from evalgate.sandboxes.forwarding import FORWARD, forwarded, forwarder
from evalgate.sandboxes.layout import lay_tree
from evalgate.sandboxes.mounts import kernel_words, mount_words
from evalgate.sandboxes.process_group import Ending, run_group
from evalgate.sandboxes.room import PLACES, PLACES_INSIDE, SEALED, TOP, Room, open_room
from evalgate.sandboxes.tunnel import open_tunnel
from evalgate.sandboxes.variables import (
    MARKER,
    build_environment,
    new_token,
    search_path,
)

#: For programs that do not ask for TMPDIR; its files are the stage's own as well.
_TMP = "/tmp"  # noqa: S108

#: Not root inside, whoever runs evalgate: agent programs refuse to work as root.
_USER = ("--unshare-user", "--uid", "1000", "--gid", "1000")

#: From the strongest on. Old versions do not know --disable-userns; without any user
#: namespace only root can make the others.
_WAYS: Sequence[Sequence[str]] = ((*_USER, "--disable-userns"), _USER, ())

_NAMESPACES = (
    *("--unshare-ipc", "--unshare-pid", "--unshare-uts", "--unshare-cgroup-try"),
    "--unshare-net",
    *("--hostname", "evalgate", "--die-with-parent", "--new-session"),
    *("--cap-drop", "ALL", "--clearenv"),
)

#: The user's own files of these names would tell who works here.
_ETC = {
    "passwd": "root:x:0:0:root:/root:/bin/sh\n"
    f"agent:x:1000:1000:agent:{TOP}/home:/bin/sh\n"
    "nobody:x:65534:65534:nobody:/:/bin/false\n",
    "group": "root:x:0:\nagent:x:1000:\nnogroup:x:65534:\n",
    "hosts": "127.0.0.1 localhost evalgate\n::1 localhost\n",
}

_STATUS_BYTES = 1 << 16
_TRIAL_SECONDS = 10
_NO_USER_NAMESPACES = (
    "; on Ubuntu 24.04 and later user namespaces are allowed by"
    " `sysctl kernel.apparmor_restrict_unprivileged_userns=0`"
)


class BwrapProvider:
    """Runs a stage in namespaces of its own."""

    name = "bwrap"
    images: Mapping[str, str] = MappingProxyType({})
    starts_ahead: ClassVar[bool] = False
    promises = Promises(
        own_network=True,
        own_processes=True,
        hides_host_files=True,
        limits_memory=False,
    )

    def __init__(self, temp: Path | None = None) -> None:
        self._temp = temp

    def unavailable(self) -> str | None:
        """Say why it can not be used here; it is tried once, in about 10 ms."""
        return self._way[1]

    def prepare(self) -> None:
        """There is nothing to make."""

    @contextlib.contextmanager
    def open_sandbox(self) -> Iterator[BwrapSandbox]:
        """Make a fresh directory, to be seen at /evalgate, and remove it at the end."""
        with open_room(self._temp) as room:
            yield BwrapSandbox(room, self._way[0], self._host)

    @functools.cached_property
    def _host(self) -> tuple[Sequence[str], Sequence[str]]:
        """Return the words for kernel and files of this machine as shown; looked for once."""
        return kernel_words(), mount_words()

    @functools.cached_property
    def _way(self) -> tuple[Sequence[str], str | None]:
        """Return the words that begin every command, and why none works."""
        program = shutil.which("bwrap")
        if program is None:
            return (), "the program bwrap is not installed (apt-get install bubblewrap)"
        reason = ""
        for way in _WAYS:
            words = [program, *way]
            kernel, files = self._host
            failure = _try([*words, *_NAMESPACES, *kernel, *files])
            if failure is None:
                return words, None
            reason = reason or failure
        return (program,), f"bwrap can not make namespaces: {reason}{_NO_USER_NAMESPACES}"


class BwrapSandbox:
    """One directory for one stage, seen at /evalgate by a program that sees no other."""

    def __init__(
        self, room: Room, way: Sequence[str], host: tuple[Sequence[str], Sequence[str]]
    ) -> None:
        self._room = room
        self._way = way
        self._host = host

    @property
    def places(self) -> Places:
        """Where things are inside: always the same paths."""
        return PLACES_INSIDE

    def run(self, stage: Stage, stop: Stop) -> StageResult:
        """Run the stage's program in its namespaces."""
        token = new_token()
        env = build_environment(stage, self.places, path=search_path(), token=token)
        self._room.lay(stage)
        self._prepare(stage)
        words = [*_NAMESPACES, *self._mounts(tunnel=stage.reach is not None)]
        words += [word for name, value in env.items() for word in ("--setenv", name, value)]
        words += ["--chdir", self.places.repo]
        reader, writer = os.pipe()
        with os.fdopen(reader, "rb") as told:
            with (
                os.fdopen(writer, "wb"),
                _as_file(words) as options,
                open_tunnel(stage.reach) as port,
            ):
                program = Program(
                    argv=[
                        *self._way,
                        *("--args", str(options), "--json-status-fd", str(writer), "--"),
                        *(stage.argv if port.stdin is None else forwarded(stage, TOP)),
                    ],
                    # Process 1 inside is bwrap itself, and what it was given can be read there.
                    env={MARKER: env[MARKER], "EVALGATE_ROOM": str(self._room.path)},
                    cwd="/",
                    token=token,
                    room=str(self._room.path),
                    pass_fds=(options, writer),
                    stdin=port.stdin,
                )
                ending = run_group(program, timeout=stage.timeout, stop=stop)
            os.set_blocking(reader, False)
            status = _load_status(told.read(_STATUS_BYTES) or b"")
        if port.trouble:
            return self._room.finish(stage, _not_found(ending, port.trouble))
        return self._room.finish(stage, _judge(ending, status, stage.argv[0]))

    def _prepare(self, stage: Stage) -> None:
        """Make what only a file system of its own needs, beside the places."""
        if stage.reach is not None:
            forward = self._room.path / FORWARD
            forward.mkdir()
            lay_tree(forwarder(), forward, allow_git=False)
        (self._room.path / "system-tmp").mkdir()
        etc = self._room.path / "etc"
        etc.mkdir()
        for name, text in _ETC.items():
            (etc / name).write_text(text, encoding="ascii")

    def _mounts(self, *, tunnel: bool) -> list[str]:
        room = self._room.path
        kernel, files = self._host
        # What is shown may lie below /tmp as well, so it comes after.
        words = [*kernel, "--bind", f"{room}/system-tmp", _TMP, *files]
        for name in _ETC:
            words += ["--ro-bind", f"{room}/etc/{name}", f"/etc/{name}"]
        for name in (*PLACES, *((FORWARD,) if tunnel else ())):
            kind = "--ro-bind" if name in (*SEALED, FORWARD) else "--bind"
            words += [kind, f"{room}/{name}", f"{TOP}/{name}"]
        return [*words, "--remount-ro", "/"]


def _try(words: Sequence[str]) -> str | None:
    """Run ``true`` in the namespaces; return what was said when that fails."""
    try:
        ended = subprocess.run(
            [*words, "--", "true"],
            check=False,
            capture_output=True,
            env={"PATH": "/usr/bin:/bin"},
            timeout=_TRIAL_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    said = ended.stderr.decode(errors="replace").strip()
    return None if ended.returncode == 0 else said or f"exit code {ended.returncode}"


@contextlib.contextmanager
def _as_file(words: Sequence[str]) -> Iterator[int]:
    """Hold the options in memory for bwrap to read: a command line can be read by everybody."""
    descriptor = os.memfd_create("evalgate-bwrap")
    try:
        os.write(descriptor, b"".join(os.fsencode(word) + b"\0" for word in words))
        os.lseek(descriptor, 0, os.SEEK_SET)
        yield descriptor
    finally:
        os.close(descriptor)


def _load_status(text: bytes) -> Mapping[str, object]:
    """Return what bwrap told about the program: JSON documents, one a line, put together."""
    told: dict[str, object] = {}
    for line in text.splitlines():
        with contextlib.suppress(ValueError):
            told.update(json.loads(line))
    return told


def _judge(ending: Ending, told: Mapping[str, object], name: str) -> Ending:
    """Tell an end of the program from one of bwrap, which tells the exit code only of the first.

    bwrap names the first process only once the namespaces are there.
    """
    if ending.status is not StageStatus.EXITED or "exit-code" in told:
        return ending
    said = ending.output.render().decode(errors="replace").strip()
    if ending.exit_code == 1 and f"bwrap: execvp {name}: " in said:
        return _not_found(ending, said)
    return replace(ending, status=StageStatus.ENGINE, exit_code=None, detail=f"bwrap: {said}")


def _not_found(ending: Ending, said: str) -> Ending:
    return replace(ending, status=StageStatus.NOT_FOUND, exit_code=None, detail=said)
