"""A provider and a task fitted to one another: the image a task brings, its files, its set-up."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from evalgate.core.environment import Environment
from evalgate.core.files import Tree
from evalgate.core.task import Task
from evalgate.errors import NotAvailableError, UsageError
from evalgate.protocols import SandboxProvider, Stage, StageStatus
from evalgate.sandboxes.container import ContainerProvider, Containers
from evalgate.sandboxes.images import Built, Derived, Image, Named
from evalgate.sandboxes.inside import inner_text
from evalgate.sandboxes.own_stage import require_done
from evalgate.sandboxes.room import TOP
from evalgate.sandboxes.set_up import SetUpImage
from evalgate.sandboxes.settings import MB

_COPYING: Final = 60.0
#: Directories that no workspace can take the place of.
_SYSTEM: Final = frozenset(
    f"/{name}"
    for name in ("bin", "boot", "dev", "etc", "lib", "lib64", "proc", "run", "sbin", "sys", "tmp")
) | {"/usr", "/var"}

#: Where links to the places of a stage are laid in a task's image, besides its WORKDIR.
_LINKED: Final = ("/tests", "/solution", "/logs")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """A task with all its files, and the provider of the sandboxes it is worked on in."""

    task: Task
    provider: SandboxProvider


def fit(provider: SandboxProvider, task: Task, *, setup_network: bool) -> Fit:
    """Make ready what a task asks of its place; its images are built when they are not there.

    Raises:
        UsageError: its set-up needs the network, and the configuration does not allow it; or the
            files of its image can not be a workspace.
        NotAvailableError: the provider makes no containers, or the image can not be made.
    """
    wanted = task.environment
    if wanted.set_up.network and not setup_network:
        raise UsageError(
            f"the set-up of the task {task.id} asks for the network: setup.network",
            hint="allow it with [sandbox] setup_network = true, or say network = false",
        )
    if not isinstance(provider, ContainerProvider):
        if wanted.needs:
            raise NotAvailableError(
                f"the task {task.id} needs {wanted.needs}, and the sandbox"
                f" {provider.name!r} makes no containers",
                hint="install Docker or podman, or leave the task out",
            )
        return Fit(task=task, provider=provider)
    if not (wanted.needs or wanted.cpus or wanted.memory_mb):
        return Fit(task=task, provider=provider)
    fitted = provider.of(_containers(provider.containers, task))
    if wanted.has_image:
        files = _files_of_image(fitted, task)
        task = replace(task, workspace={**files, **task.workspace})
    if wanted.set_up.commands:
        below = fitted.containers
        image = SetUpImage(
            task=task.id,
            on=below.image,
            provider=fitted,
            workspace=task.workspace,
            set_up=wanted.set_up,
        )
        fitted = fitted.of(replace(below, image=image, told_by=below.told_by or below.image))
    fitted.prepare()  # now, before anything is paid
    return Fit(task=task, provider=fitted)


def _containers(usual: Containers, task: Task) -> Containers:
    wanted, containers = task.environment, usual
    if wanted.has_image:
        image = _image(wanted, task.id)
        containers = replace(usual, image=image, told_by=image, purpose=f"task {task.id}")
    if wanted.has_image or wanted.absolute:
        told_by = containers.told_by or containers.image
        layer = Derived(
            containers.image,
            lambda below: _layer(wanted.workdir or below.workdir, below.volumes, task.id),
            f"the image of the task {task.id}",
        )
        containers = replace(containers, image=layer, told_by=told_by)
    limits = containers.limits
    return replace(
        containers,
        limits=replace(
            limits,
            cpus=wanted.cpus or limits.cpus,
            memory=wanted.memory_mb * MB or limits.memory,
        ),
    )


def _image(wanted: Environment, task: str) -> Image:
    if wanted.image:
        return Named(wanted.image)
    what = f"the image of the task {task} (environment/Dockerfile)"
    return Built(wanted.context, what, family="evalgate-task-image")


def _layer(workdir: str, volumes: Sequence[str], task: str) -> str:
    place = "/" + workdir.strip("/")
    if place in _SYSTEM or place.startswith(("/proc/", "/sys/", "/dev/", TOP)):
        raise UsageError(
            f"the task {task}: its image's WORKDIR {place} can not hold a workspace",
            hint="WORKDIR /app, or [environment] workdir",
        )
    for volume in volumes:
        if any(_overlap(volume, taken) for taken in (place, *_LINKED)):
            raise UsageError(
                f"the task {task}: its image has a VOLUME {volume}, where links of ours go",
                hint="leave VOLUME out: what a trial writes is kept apart from others anyway",
            )
    quoted = place.replace("'", "'\\''")
    return f"workdir='{quoted}'\n{inner_text('layer.sh')}"


def _overlap(one: str, other: str) -> bool:
    """Tell whether one path is the other, or lies in it; the root itself counts for nothing."""
    first, second = (path.rstrip("/") + "/" for path in (one, other))
    return "/" not in {first, second} and (first.startswith(second) or second.startswith(first))


def _files_of_image(provider: ContainerProvider, task: Task) -> Tree:
    """Return the files in the WORKDIR of a task's image, apart from installed packages."""
    with provider.open_sandbox() as sandbox:
        script = f'cp -dR --preserve=mode {TOP}-files/. "$1"/'
        stage = Stage(
            trees={},
            argv=["sh", "-c", script, "copy", sandbox.places.logs],
            timeout=_COPYING,
            keep=("logs",),
        )
        result = sandbox.run(stage, threading.Event())
    if result.status is StageStatus.TOO_LARGE:
        raise UsageError(
            f"the task {task.id}: its image's WORKDIR is no workspace:"
            f" {result.detail.removeprefix('logs: ')}",
            hint="put what is no source file elsewhere; node_modules and .venv do not count",
        )
    require_done(result, f"copying the files of the image of the task {task.id}")
    return result.trees["logs"]
