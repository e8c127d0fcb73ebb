"""The one door to container engines: Docker's API, which podman speaks as well.

https://docs.docker.com/engine/api/ (1.41). Nothing is imported before an engine is asked for.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import socket
import threading
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from evalgate.errors import NotAvailableError
from evalgate.sandboxes.engine_error import EngineError, RefusedError, broken_by
from evalgate.sandboxes.image_facts import ImageFacts, LabelledImage, labelled
from evalgate.sandboxes.settings import MB, ContainerSettings

if TYPE_CHECKING:
    from docker import APIClient

#: What every container of ours carries; the value is the room that stands for it.
OWNER: Final = "evalgate.owner"
#: What every image of ours carries; the value is the digest of what it was made of.
INPUTS: Final = "evalgate.inputs"

_PATIENCE: Final = 60
#: Seconds within which an engine that works at all says so.
_SHORT: Final = 5
_POOL: Final = 64


class Engine:
    """One engine at one address, asked by several threads."""

    def __init__(self, address: str = "") -> None:
        """Name an engine by its address; empty is what DOCKER_HOST says, or the usual socket."""
        self.address = address or os.environ.get("DOCKER_HOST", "") or "unix:///var/run/docker.sock"
        self._lock = threading.Lock()
        self._client: APIClient | None = None

    @property
    def is_gone(self) -> bool:
        """Whether nothing is left of it on this machine: its socket is not there."""
        return self.address.startswith("unix://") and not Path(self.address[7:]).exists()

    def unavailable(self) -> str | None:
        """Say why it does not answer, or None."""
        if self.is_gone:
            return f"no engine listens at {self.address}"
        try:
            self._look()
        except EngineError as error:
            return f"the engine at {self.address} does not answer: {error}"
        return None

    @cached_property
    def is_podman(self) -> bool:
        """Whether it is podman that speaks Docker's language."""
        with _told():
            return "Libpod-Api-Version" in self._greeting

    def image(self, name: str) -> ImageFacts | None:
        """Return what is known of an image, None when it is not there."""
        from docker.errors import ImageNotFound  # noqa: PLC0415

        with _told():
            try:
                found: Mapping[str, Any] = self._api.inspect_image(name)  # type: ignore[no-untyped-call]
            except ImageNotFound:
                return None
        settings = found["Config"] or {}
        env, workdir = settings.get("Env") or [], settings.get("WorkingDir") or ""
        said = repr((found["RootFS"].get("Layers"), env, workdir))
        return ImageFacts(
            labels=settings.get("Labels") or {},
            env=dict(word.split("=", 1) for word in env if "=" in word),
            workdir=workdir,
            volumes=tuple(sorted(settings.get("Volumes") or ())),
            content=hashlib.sha256(said.encode()).hexdigest()[:12],
        )

    def labelled_images(self) -> list[LabelledImage]:
        """Return all images that carry our label, the newest first: none stands on a newer one."""
        with _told():
            found = self._api.images(filters={"label": INPUTS})
        return labelled(found, INPUTS)

    def remove_image(self, name: str) -> None:
        """Remove an image; the engine refuses while one stands on it or a container uses it."""
        from docker.errors import ImageNotFound  # noqa: PLC0415

        with _told(), contextlib.suppress(ImageNotFound):
            self._api.remove_image(name)

    def pull(self, name: str) -> None:
        """Fetch an image from its registry."""
        repository, _, tag = name.partition("@" if "@" in name else ":")
        if "/" in tag:  # the port of a registry
            repository, tag = name, ""
        with _told():
            self._api.pull(repository, tag=tag or "latest")

    def build(
        self,
        context: bytes,
        *,
        what: str,
        tag: str,
        dockerfile: str,
        args: Mapping[str, str],
        labels: Mapping[str, str],
    ) -> None:
        """Build an image by the classic builder from a tar of its context.

        Raises:
            NotAvailableError: ``what`` can not be built; the last words of the build say why.
        """
        try:
            told = self._built(
                fileobj=io.BytesIO(context),
                custom_context=True,
                dockerfile=dockerfile,
                tag=tag,
                buildargs=dict(args),
                labels=dict(labels),
            )
        except RefusedError as refused:  # before the first step
            hint = f"look at its {dockerfile}"
            raise NotAvailableError(f"{what} can not be built: {refused}", hint=hint) from refused
        error = "".join(words for _, words in told).strip()
        if error:
            said = "".join(words for words, _ in told).strip().splitlines()[-3:]
            raise NotAvailableError(f"{what} can not be built: {error}", hint="; ".join(said))

    def _built(self, **asked: Any) -> list[tuple[str, str]]:
        """Build an image; return what each line of the builder says, and what went wrong."""
        with _told():
            lines = self._api.build(rm=True, forcerm=True, decode=True, **asked)
            # To its end also after an error: a stream that is left open is never closed.
            return [(str(line.get("stream", "")), str(line.get("error", ""))) for line in lines]

    def commit(self, name: str, *, tag: str, labels: Mapping[str, str]) -> None:
        """Make an image of what a container that has ended left in its own files."""
        repository, _, version = tag.rpartition(":")
        said = " ".join(f"{key}={value}" for key, value in labels.items())
        with _told():
            self._api.commit(name, repository=repository, tag=version, changes=f"LABEL {said}")

    def create(
        self, name: str, image: str, command: Sequence[str], settings: ContainerSettings
    ) -> None:
        """Make a container."""
        from docker.types import LogConfig, Ulimit  # noqa: PLC0415

        self._look()
        limits = settings.limits
        ulimits = [Ulimit(name=of, soft=most, hard=most) for of, most in settings.ulimits.items()]
        with _told():
            host = self._api.create_host_config(
                network_mode="bridge" if settings.network else "none",
                read_only=not settings.lasting,
                cap_drop=["ALL"],
                security_opt=["no-new-privileges", f"seccomp={settings.profile}"],
                mem_limit=limits.memory,
                memswap_limit=limits.memory,
                nano_cpus=int(limits.cpus * 1e9),
                pids_limit=limits.processes,
                shm_size=64 * MB,
                ulimits=ulimits,
                tmpfs=dict(settings.disks),
                log_config=LogConfig(type="none"),
            )
            self._api.create_container(
                image,
                list(command),
                name=name,
                entrypoint=[],
                stdin_open=True,
                user="1000:1000",
                working_dir="/",
                hostname="evalgate",
                labels={OWNER: settings.owner},
                host_config=host,
                environment={},
            )

    @contextlib.contextmanager
    def attached(self, name: str) -> Iterator[socket.socket]:
        """Open the stream of a container: its standard input, and both outputs in frames."""
        with _told():
            opened = self._api.attach_socket(
                name, params={"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1}
            )
        # The SDK's answer holds the connection open for as long as it is held itself.
        with (
            contextlib.closing(opened),
            contextlib.closing(getattr(opened, "_sock", opened)) as raw,
        ):
            raw.settimeout(None)
            yield raw

    def start(self, name: str) -> None:
        """Start a container."""
        with _told():
            self._api.start(name)

    def kill(self, name: str) -> None:
        """End all that runs in a container; one that has ended is left as it is."""
        with contextlib.suppress(EngineError), _told():
            self._look()
            self._api.kill(name)

    def exit_code(self, name: str) -> int:
        """Wait for the end of a container that has closed its outputs."""
        with _told():
            return int(self._api.wait(name, timeout=_PATIENCE)["StatusCode"])

    def out_of_memory(self, name: str) -> bool:
        """Tell whether something in a container that has ended was killed for want of memory."""
        with _told():
            return bool(self._api.inspect_container(name)["State"].get("OOMKilled"))

    def remove(self, name: str) -> bool:
        """Remove a container, running or not; tell whether there was one."""
        from docker.errors import NotFound  # noqa: PLC0415

        self._look()
        with _told():
            try:
                self._api.remove_container(name, force=True, v=True)
            except NotFound:
                return False
        return True

    def ours(self) -> list[str]:
        """Return the names of all containers that any evalgate made."""
        with _told():
            found = self._api.containers(all=True, filters={"label": OWNER})
        return sorted(str(one["Names"][0]).lstrip("/") for one in found if one.get("Names"))

    def _look(self) -> None:
        """Ask for a sign of life, so that an engine that hangs is noticed in seconds."""
        with _told():
            self._api.get(f"{self._api.base_url}/_ping", timeout=_SHORT).raise_for_status()

    def close(self) -> None:
        """Let go of the connections to it; the next question opens others."""
        with self._lock:
            if self._client is not None:
                self._client.close()
            self._client = None

    @cached_property
    def _greeting(self) -> Mapping[str, str]:
        """What it says with a sign of life: asked for its version, podman takes half a second."""
        import docker  # noqa: PLC0415

        with docker.APIClient(base_url=self.address, version="1.41") as client:
            answer = client.get(f"{client.base_url}/_ping", timeout=_SHORT)
        answer.raise_for_status()
        return answer.headers

    @property
    def _api(self) -> APIClient:
        import docker  # noqa: PLC0415

        with self._lock:
            if self._client is None:
                said = self._greeting.get("Api-Version", "auto")
                self._client = docker.APIClient(self.address, said, _PATIENCE, max_pool_size=_POOL)
            return self._client


def not_ignored(folder: Path, patterns: Sequence[str], *, dockerfile: str) -> set[str]:
    """Return the paths in a folder that the patterns of a ``.dockerignore`` leave to a build."""
    from docker.utils.build import exclude_paths  # noqa: PLC0415

    return exclude_paths(folder, [*patterns], dockerfile)


@contextlib.contextmanager
def _told() -> Iterator[None]:
    """Turn whatever the SDK raises into one error with one line."""
    from docker.errors import APIError, DockerException  # noqa: PLC0415
    from requests.exceptions import RequestException  # noqa: PLC0415

    try:
        yield
    except (DockerException, RequestException, OSError, ValueError) as error:
        words = str(getattr(error, "explanation", None) or broken_by(error) or error).strip()
        refused = isinstance(error, APIError) and error.is_client_error()
        kind = RefusedError if refused else EngineError
        raise kind((words or type(error).__name__).splitlines()[0][:400]) from error
