"""Trials' stages as they are timed: ours, the floor of the engine, and the usual design."""

import contextlib
import io
import os
import socket
import tarfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence

import docker

from benchmarks.goals import MissingError
from evalgate.core.files import File, Tree
from evalgate.errors import NotAvailableError
from evalgate.protocols import Sandboxes, Stage, StageStatus
from evalgate.sandboxes.container import ContainerProvider, Containers
from evalgate.sandboxes.docker import Engine
from evalgate.sandboxes.seccomp import seccomp_profile
from evalgate.sandboxes.settings import ContainerSettings


def tree_of(files: int, size: int) -> Tree:
    """Return a repository: so many files of so many bytes altogether, a hundred a folder."""
    each = size // files
    text = (b"def value():\n    return 42\n" * (each // 26 + 1))[:each]
    return {f"package_{n // 100}/module_{n}.py": File(data=text) for n in range(files)}


def open_provider() -> ContainerProvider:
    """Return the provider of the engine at hand."""
    return ContainerProvider("docker", Engine(), Containers())


def ready_image(provider: ContainerProvider) -> str:
    """Return the name of its image, made when it is not there. MissingError without an engine."""
    reason = provider.unavailable()
    if reason is not None:
        raise MissingError(reason)
    try:
        return provider.made_image().name
    except NotAvailableError as error:
        raise MissingError(f"{error.message} ({error.hint})") from error


def hardened_floor(engine: Engine, image: str) -> None:
    """Create, start, wait for and remove a container that does nothing, held as those of trials."""
    name = f"evalgate-floor-{os.getpid()}"
    settings = ContainerSettings(owner=name, profile=seccomp_profile())
    try:
        engine.create(name, image, ["true"], settings)
        engine.start(name)
        engine.exit_code(name)
    finally:
        engine.remove(name)


def stage(
    provider: Sandboxes,
    trees: dict[str, Tree],
    argv: Sequence[str],
    reach: int | None = None,
    *,
    keep: str = "repo",
) -> bytes:
    """Run one stage and return its log; the files of one place are taken back."""
    with provider.open_sandbox() as sandbox:
        one = Stage(trees=trees, argv=list(argv), timeout=60, reach=reach, keep=(keep,))
        result = sandbox.run(one, threading.Event())
    if result.status is not StageStatus.EXITED or result.exit_code:
        raise RuntimeError(f"{result.status} {result.exit_code} {result.detail} {result.log!r}")
    return result.log


class Usual:
    """An engine used as harnesses usually do: one sleeping container, exec and copies."""

    def __init__(self, image: str) -> None:
        """Use an image by its name."""
        self._client = docker.DockerClient(max_pool_size=16)
        self._image = image

    def floor(self) -> None:
        """Create, start, wait for and remove a container that does nothing."""
        container = self._client.containers.create(self._image, ["true"], network_mode="none")
        container.start()
        container.wait()
        container.remove(force=True)

    def trial(self, tree: Tree) -> None:
        """Copy the files in, run something, copy tests in, run them, copy all of it out."""
        container = self._client.containers.run(
            self._image, ["sleep", "600"], detach=True, network_mode="none", user="0"
        )
        try:
            container.exec_run(["mkdir", "/repo"])
            container.put_archive("/repo", _archive(tree))
            container.exec_run(["sh", "-c", "cd /repo && touch changed"])
            container.put_archive("/repo", _archive({"test_it.py": File(data=b"\n")}))
            container.exec_run(["true"], workdir="/repo")
            chunks, _ = container.get_archive("/repo")
            for _ in chunks:
                pass
        finally:
            container.remove(force=True)


def _archive(tree: Tree) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as tar:
        for path, file in tree.items():
            entry = tarfile.TarInfo(path)
            entry.size = len(file.data)
            tar.addfile(entry, io.BytesIO(file.data))
    return stream.getvalue()


@contextlib.contextmanager
def open_echo() -> Iterator[int]:
    """Answer every line on a port of the loopback at once, as a model would that costs no time."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=_accept, args=(server,), daemon=True)
        thread.start()
        try:
            yield server.getsockname()[1]
        finally:
            # A thread that still accepts would do so at whatever has the same number next.
            server.shutdown(socket.SHUT_RDWR)
            thread.join()


def _accept(server: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while True:
            connection, _ = server.accept()
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=_echo, args=(connection,), daemon=True).start()


def _echo(connection: socket.socket) -> None:
    with contextlib.suppress(OSError), connection:
        while chunk := connection.recv(1 << 16):
            connection.sendall(chunk)


#: Run inside and outside: milliseconds of one call of 4 KB, the median of two hundred.
CALLS = """
import socket, statistics, sys, time
s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
times = []
for _ in range(200):
    began = time.perf_counter()
    s.sendall(b"x" * 4096)
    left = 4096
    while left: left -= len(s.recv(left))
    times.append(time.perf_counter() - began)
print(1000 * statistics.median(times))
"""


def timed(work: Callable[[], object]) -> float:
    """Return the milliseconds that a call takes."""
    began = time.perf_counter()
    work()
    return 1000 * (time.perf_counter() - began)
