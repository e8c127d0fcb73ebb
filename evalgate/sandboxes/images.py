"""Images, each named by a digest of what it is made of: they are made when that has changed."""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Final, Protocol

from evalgate.core.files import File, Tree, tree_digest
from evalgate.errors import NotAvailableError
from evalgate.sandboxes import image as own_image
from evalgate.sandboxes.docker import INPUTS, Engine
from evalgate.sandboxes.dockerfiles import bases_of, context_of
from evalgate.sandboxes.engine_error import EngineError, RefusedError
from evalgate.sandboxes.image_facts import ImageFacts, LabelledImage
from evalgate.sandboxes.packing import pack_tree

#: Names another base for images that leave it open, where no registry has the usual one.
BASE_VARIABLE: Final = "EVALGATE_BASE_IMAGE"

_BASE: Final = "python:3.12-slim"
#: How the names of all images that are made here begin.
_FAMILY: Final = "evalgate-"

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready:
    """An image that is there: its name, twelve hex that say what it is, and its variables."""

    name: str
    digest: str
    env: Mapping[str, str] = field(default_factory=dict)
    workdir: str = ""
    volumes: tuple[str, ...] = ()


class Image(Protocol):
    """An image that is there or can be made."""

    def ready(self, engine: Engine) -> Ready:
        """Return it once it is there.

        Raises:
            NotAvailableError: it is not there and can not be made.
        """
        ...


class Once:
    """What is made at each engine by whoever needs it first; others wait for it.

    What could not be made is not tried again: the same error is raised.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ready: dict[str, Ready | NotAvailableError] = {}

    def get(self, engine: Engine, make: Callable[[], Ready]) -> Ready:
        """Return what was made, or make it.

        Raises:
            NotAvailableError: it can not be made, now or when it was first tried.
        """
        with self._lock:
            if engine.address not in self._ready:
                try:
                    self._ready[engine.address] = make()
                except NotAvailableError as error:
                    self._ready[engine.address] = error
            found = self._ready[engine.address]
        if isinstance(found, NotAvailableError):
            raise found
        return found


@dataclass(slots=True)
class Named:
    """An image that is used as it is."""

    name: str
    _made: Once = field(default_factory=Once)

    def ready(self, engine: Engine) -> Ready:
        """Return it; one that is not there is fetched from its registry."""
        return self._made.get(engine, lambda: self._ready(engine))

    def _ready(self, engine: Engine) -> Ready:
        with told(engine):
            return _there(engine, self.name, hint="name one that is, or build it from a Dockerfile")


@dataclass(slots=True)
class Built:
    """An image built from a Dockerfile among some files, its context.

    What a ``.dockerignore`` among them names is not sent, and makes no other image.
    """

    context: Tree
    what: str
    dockerfile: str = "Dockerfile"
    family: str = "evalgate-sandbox"
    _made: Once = field(default_factory=Once)

    def ready(self, engine: Engine) -> Ready:
        """Return it; it is built, and that is said, when its context or its base has changed."""
        return self._made.get(engine, lambda: self._ready(engine))

    def _hint(self, name: str, base: str) -> str:
        return (
            f"{BASE_VARIABLE} names another base, such as one that `evalgate sandbox base | bash -s"
            " -- my-base` makes of Debian packages"
            if name == base
            else f"{self.what} begins with it (FROM {name} in {self.dockerfile})"
        )

    def _ready(self, engine: Engine) -> Ready:
        base = os.environ.get(BASE_VARIABLE, "") or _BASE
        args = {"BASE_IMAGE": base}
        text = self.context[self.dockerfile].data.decode("utf-8", "replace")
        context = context_of(self.context, self.dockerfile)
        said = [tree_digest(context, domain="evalgate-image/1"), self.dockerfile]
        with told(engine):
            said += [
                _there(engine, name, hint=self._hint(name, base)).digest
                for name in bases_of(text, args)
            ]
            return made(
                engine,
                self.family,
                said,
                lambda tag, labels: engine.build(
                    pack_tree(context),
                    what=self.what,
                    tag=tag,
                    dockerfile=self.dockerfile,
                    args=args if "BASE_IMAGE" in text else {},
                    labels=labels,
                ),
            )


@dataclass(slots=True)
class Derived:
    """An image with one more layer, which a shell script makes as root."""

    on: Image
    script: Callable[[Ready], str]
    what: str
    _made: Once = field(default_factory=Once)

    def ready(self, engine: Engine) -> Ready:
        """Return it; it is built, and that is said, when what it stands on has changed."""
        return self._made.get(engine, lambda: self._ready(engine))

    def _ready(self, engine: Engine) -> Ready:
        below = self.on.ready(engine)
        script = self.script(below)
        # In the WORKDIR of the image below, the builder would follow the link that is laid there.
        steps = (
            "USER root\nWORKDIR /\nCOPY layer /tmp/evalgate-layer\nRUN sh -e /tmp/evalgate-layer\n"
        )
        context = {
            "Dockerfile": File(data=f"FROM {below.name}\n{steps}USER 1000:1000\n".encode()),
            "layer": File(data=script.encode()),
        }
        with told(engine):
            return made(
                engine,
                "evalgate-task",
                [below.digest, steps, script],
                lambda tag, labels: engine.build(
                    pack_tree(context),
                    what=f"{self.what}, which needs sh and coreutils,",
                    tag=tag,
                    dockerfile="Dockerfile",
                    args={},
                    labels=labels,
                ),
            )


def made(
    engine: Engine, family: str, inputs: list[str], make: Callable[[str, Mapping[str, str]], None]
) -> Ready:
    """Return the image of these inputs; under tag and labels it is made once."""
    digest = hashlib.sha256("\0".join(inputs).encode()).hexdigest()[:12]
    tag = f"{family}:{digest}"
    found = engine.image(tag)
    if found is None or found.labels.get(INPUTS) != digest:
        _log.warning("making the image %s", tag)
        make(tag, {INPUTS: digest})
        found = engine.image(tag)
    if found is None:
        raise NotAvailableError(f"the image {tag} was made and is gone", hint="make it again")
    return _ready(tag, digest, found)


def is_made_here(image: LabelledImage) -> bool:
    """Tell whether `made` made an image: one that stands on such a one has its label as well."""
    family, _, version = image.name.partition(":")
    return not image.tagged or (family.startswith(_FAMILY) and version == image.inputs)


@contextlib.contextmanager
def told(engine: Engine) -> Iterator[None]:
    """Say of an engine that fails which one it is."""
    try:
        yield
    except EngineError as error:
        raise NotAvailableError(f"the engine at {engine.address} fails: {error}") from error


def _there(engine: Engine, name: str, *, hint: str) -> Ready:
    try:
        found = engine.image(name)
    except RefusedError as error:
        message = f"the image {name!r} can not be named so: {error}"
        raise NotAvailableError(message, hint=hint) from error
    if found is None:
        try:
            engine.pull(name)
        except EngineError as error:
            message = f"the image {name} is not there and can not be fetched: {error}"
            raise NotAvailableError(message, hint=hint) from error
        found = engine.image(name)
    if found is None:
        raise NotAvailableError(f"the image {name} is not there", hint=hint)
    return _ready(name, found.content, found)


def _ready(name: str, digest: str, found: ImageFacts) -> Ready:
    return Ready(
        name=name, digest=digest, env=found.env, workdir=found.workdir, volumes=found.volumes
    )


@cache
def standard_image() -> Built:
    """Return the image that comes along."""
    text = (files(own_image) / "Dockerfile").read_bytes()
    return Built({"Dockerfile": File(data=text)}, what="the image of sandboxes")
