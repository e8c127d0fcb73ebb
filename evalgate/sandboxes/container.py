"""Containers of an engine: a fresh one for each stage, driven over one attached stream.

No exec, no copying through the engine, no mount of the host: files go in and come back on the
stream, the work lies in memory of a limited size, and there is no network.
"""

from __future__ import annotations

import contextlib
import logging
import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar, Final

from evalgate.core.files import Tree, subtree
from evalgate.core.sandbox import SandboxSpec
from evalgate.protocols import Places, Promises, Stage, StageResult, StageStatus, Stop
from evalgate.sandboxes.attempt import Attempt
from evalgate.sandboxes.docker import Engine
from evalgate.sandboxes.engine_error import EngineError
from evalgate.sandboxes.images import Built, Image, Named, Ready, standard_image
from evalgate.sandboxes.room import PLACES_INSIDE, Room, open_room
from evalgate.sandboxes.seccomp import seccomp_profile
from evalgate.sandboxes.settings import MB, ContainerSettings, Limits
from evalgate.sandboxes.started import Started

_log = logging.getLogger(__name__)

_KILLED: Final = 128 + 9
_NO_MEMORY: Final = "the memory was used up"
#: How a container ends that an engine or a person kills.
_FROM_OUTSIDE: Final = frozenset({_KILLED, 128 + 15})
#: Seconds that an engine may take to come back, and between two looks whether it has.
_RESTART: Final = 20.0
_LOOK: Final = 0.2
_NO_WORD: Final = "what ran in the sandbox ended its first process: what it left is lost"


@dataclass(frozen=True, slots=True, kw_only=True)
class Containers:
    """What containers are made of, and what they may use.

    ``own`` tells a project's own image. ``told_by`` is what names the image's content, when it is
    not the image itself, and ``purpose`` what it is for. The files of a ``lasting`` container are
    its own, to be kept, and not in memory; with ``network`` it reaches what the host does.
    """

    image: Image = field(default_factory=standard_image)
    limits: Limits = field(default_factory=Limits)
    own: bool = False
    told_by: Image | None = None
    purpose: str = "sandbox"
    lasting: bool = False
    network: bool = False


def containers_of(spec: SandboxSpec, harness: Tree) -> Containers:
    """Return what a project asks for; ``harness`` are the files its Dockerfile is among."""
    image: Image = standard_image()
    if spec.image:
        image = Named(spec.image)
    elif spec.dockerfile:
        context = subtree(harness, spec.context) if spec.context else harness
        name = spec.dockerfile.removeprefix(spec.context)
        image = Built(context, what=f"the image of {spec.dockerfile}", dockerfile=name)
    limits = Limits(
        memory=spec.memory_mb * MB,
        work=spec.work_mb * MB,
        cpus=spec.cpus,
        processes=spec.processes,
    )
    return Containers(image=image, limits=limits, own=bool(spec.image or spec.dockerfile))


class ContainerProvider:
    """Runs a stage in a container of its own."""

    starts_ahead: ClassVar[bool] = True
    promises = Promises(
        own_network=True,
        own_processes=True,
        hides_host_files=True,
        limits_memory=True,
    )

    def __init__(
        self, name: str, engine: Engine, containers: Containers, temp: Path | None = None
    ) -> None:
        """Use an engine under the name of a provider, and an image that has the programs."""
        self.name = name
        self._engine = engine
        self.containers = containers
        self._temp = temp

    def of(self, containers: Containers) -> ContainerProvider:
        """Return the same provider for other containers."""
        return ContainerProvider(self.name, self._engine, containers, self._temp)

    def unavailable(self) -> str | None:
        """Say why it can not be used here: whether its engine answers; nothing is made for it."""
        return self._engine.unavailable()

    def prepare(self) -> None:
        """Make its image when it is not there."""
        self.made_image()

    @property
    def images(self) -> Mapping[str, str]:
        """What its image is for, and what names its content; it is made when it is not there."""
        told_by = self.containers.told_by or self.containers.image
        return {self.containers.purpose: told_by.ready(self._engine).digest}

    def made_image(self) -> Ready:
        """Return its image, made when it is not there.

        Raises:
            NotAvailableError: it can not be made; that is remembered.
        """
        return self.containers.image.ready(self._engine)

    @contextlib.contextmanager
    def open_sandbox(self) -> Iterator[ContainerSandbox]:
        """Start a container; it is removed at the end, by the next start if not by us.

        The room holds no more than the name of the engine, so that a container whose owner was
        killed is found without asking any engine.
        """
        image = self.made_image()
        with open_room(self._temp, engine=self._engine.address) as room:
            sandbox = ContainerSandbox(self._engine, image, room, self.containers)
            try:
                yield sandbox
            finally:
                try:
                    sandbox.remove()
                except EngineError as error:
                    room.stays = True
                    _log.warning("the container %s can not be removed: %s", room.path.name, error)


class ContainerSandbox:
    """One container for one stage, started before its stage is known."""

    def __init__(self, engine: Engine, image: Ready, room: Room, of: Containers) -> None:
        self._engine = engine
        self._image = image
        self._room = room
        self._of = of
        self._started = self._start()

    @property
    def name(self) -> str:
        """The name of the container."""
        return self._room.path.name

    @property
    def places(self) -> Places:
        """Where things are inside: always the same paths."""
        return PLACES_INSIDE

    def _start(self) -> Started:
        return Started(self._engine, self.name, self._image.name, self._settings)

    def remove(self) -> None:
        """Remove the container.

        Raises:
            EngineError: it can not be removed.
        """
        self._started.remove()

    def run(self, stage: Stage, stop: Stop) -> StageResult:
        """Run the stage's program in a container; what the engine fails at is tried once more.

        A program that has begun and reaches out is not begun again: what it said was heard.
        """
        self._room.use(stage)
        attempt = Attempt.of(stage, self._image.env)
        result = self._attempt(attempt, stop)
        begun = attempt.started and stage.reach is not None
        if result.status is StageStatus.ENGINE and not begun and not stop.is_set():
            self._begin_anew(stop)
            if stop.is_set():
                return attempt.result(StageStatus.INTERRUPTED)
            result = self._attempt(Attempt.of(stage, self._image.env), stop)
        return result

    def _begin_anew(self, stop: Stop) -> None:
        """Start another container in its place; an engine that is started anew is waited for."""
        until = time.monotonic() + _RESTART
        while not stop.is_set():
            try:
                self._started.remove()
            except EngineError:
                if time.monotonic() < until:
                    time.sleep(_LOOK)
                    continue
            self._started = self._start()
            return

    def _attempt(self, attempt: Attempt, stop: Stop) -> StageResult:
        name = self.name
        try:
            stream = self._started.stream()
            attempt.listen(stream)
            attempt.started = True
            try:
                status = attempt.wait(stop)
                if status is not None:
                    self._engine.kill(name)
            finally:
                attempt.hang_up(stream)
            if status is not None:
                return attempt.cut(status)
            code = self._engine.exit_code(name)
            silent = attempt.talk.last_words is None
            if silent and self._engine.out_of_memory(name):
                return attempt.result(StageStatus.MEMORY, detail=_NO_MEMORY)
            if silent and attempt.talk.begun is not None and code not in _FROM_OUTSIDE:
                return attempt.result(StageStatus.EXITED, exit_code=code, detail=_NO_WORD)
            result = attempt.judged(whole=code == 0)
            killed = result.exit_code == _KILLED or result.status is StageStatus.ENGINE
            if killed and self._engine.out_of_memory(name):
                return replace(result, status=StageStatus.MEMORY, exit_code=None, detail=_NO_MEMORY)
        except EngineError as error:
            return attempt.result(StageStatus.ENGINE, detail=f"engine: {error}")
        return result

    def _settings(self) -> ContainerSettings:
        return ContainerSettings(
            owner=self._room.path.name,
            profile=self._profile(),
            limits=self._of.limits,
            lasting=self._of.lasting,
            network=self._of.network,
            is_podman=self._engine.is_podman,
        )

    def _profile(self) -> str:
        """Return the profile as the engine takes it: podman reads it from a file."""
        if not self._engine.is_podman:
            return seccomp_profile()
        place = self._room.path / "seccomp.json"
        place.write_text(seccomp_profile(), encoding="utf-8")
        return str(place)


def docker(containers: Containers | None = None, temp: Path | None = None) -> ContainerProvider:
    """Return the provider of the Docker engine that the environment names."""
    return ContainerProvider("docker", Engine(), containers or Containers(), temp)


def podman(containers: Containers | None = None, temp: Path | None = None) -> ContainerProvider:
    """Return the provider of podman's service: the named one, this user's, or the system's."""
    return ContainerProvider("podman", podman_engine(), containers or Containers(), temp)


def podman_engine() -> Engine:
    """Return the engine of podman's service: the named one, this user's, or the system's."""
    named = os.environ.get("CONTAINER_HOST", "")  # podman's own word for DOCKER_HOST
    if named:
        return Engine(named)
    folder = Path(os.environ.get("XDG_RUNTIME_DIR") or f"/run/user/{os.getuid()}", "podman")
    own = folder / "podman.sock"
    return Engine(f"unix://{own if own.exists() else '/run/podman/podman.sock'}")
