"""The command with its imports made once: a process that forks for each call of it.

Starting the installed command anew takes half a second of a core, nearly all of it for imports.
Here each call is a process of its own as well, with its own folder, environment, standard streams
and signals; what it was started with (`/proc/PID/cmdline` and `environ`) is that of the first one.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

_ORDER = 1 << 18


class Preloaded:
    """The command, ready to be forked; made by `open_preloaded`."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection

    def run(
        self, argv: list[str], *, cwd: Path, env: Mapping[str, str], stdin: str, timeout: float
    ) -> subprocess.CompletedProcess[str]:
        """Run the command as `subprocess.run` would, with its output captured."""
        ends = [os.pipe() for _ in range(3)]
        order = {"argv": argv, "cwd": str(cwd), "env": dict(env)}
        with tempfile.TemporaryFile() as given:
            given.write(stdin.encode())
            given.seek(0)
            places = [given.fileno(), *(writer for _, writer in ends)]
            socket.send_fds(self._connection, [json.dumps(order).encode()], places)
        for _, writer in ends:
            os.close(writer)
        told = bytearray()
        try:
            out, err, told = _read([reader for reader, _ in ends], timeout=timeout, told=told)
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(told.split()[0]), signal.SIGKILL)
            raise subprocess.TimeoutExpired(argv, timeout) from None
        return subprocess.CompletedProcess(argv, int(told.split()[1]), _text(out), _text(err))


def _read(readers: list[int], *, timeout: float, told: bytearray) -> list[bytearray]:
    """Read all to their ends; the last one into ``told``, which is kept when it takes too long."""
    until = time.monotonic() + timeout
    texts = [*(bytearray() for _ in readers[1:]), told]
    try:
        with selectors.DefaultSelector() as selector:
            for reader, text in zip(readers, texts, strict=True):
                selector.register(reader, selectors.EVENT_READ, text)
            while selector.get_map():
                ready = selector.select(max(0.0, until - time.monotonic()))
                if not ready:
                    raise TimeoutError
                for key, _ in ready:
                    piece = os.read(key.fd, 1 << 16)
                    key.data.extend(piece)
                    if not piece:
                        selector.unregister(key.fd)
    finally:
        for reader in readers:
            os.close(reader)
    return texts


def _text(data: bytes) -> str:
    return data.decode().replace("\r\n", "\n").replace("\r", "\n")


@contextlib.contextmanager
def open_preloaded(script: Path, env: Mapping[str, str]) -> Iterator[Preloaded]:
    """Import what the installed command may need, and wait for calls; it ends with the context."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs:
        process = subprocess.Popen(
            [sys.executable, __file__, str(script), str(theirs.fileno())],
            env=env,
            stdin=subprocess.DEVNULL,
            pass_fds=[theirs.fileno()],
        )
        theirs.close()
        try:
            yield Preloaded(ours)
        finally:
            ours.close()
            process.wait()


def _serve(connection: socket.socket) -> tuple[dict[str, object], list[int]] | None:
    """Fork for each call; return it in its process, and nothing once no more are to come."""
    running: dict[int, tuple[int, int]] = {}
    with connection, selectors.DefaultSelector() as selector:
        selector.register(connection, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select():
                if key.fileobj is connection:
                    text, places, _, _ = socket.recv_fds(connection, _ORDER, 4)
                    if not text:
                        return None
                    pid = os.fork()
                    if not pid:
                        for one in [*running, *(told for _, told in running.values()), places[3]]:
                            os.close(one)
                        return json.loads(text), places[:3]
                    for place in places[:3]:
                        os.close(place)
                    os.write(places[3], b"%d " % pid)
                    handle = os.pidfd_open(pid)
                    running[handle] = pid, places[3]
                    selector.register(handle, selectors.EVENT_READ)
                else:
                    pid, told = running.pop(key.fd)
                    selector.unregister(key.fd)
                    os.close(key.fd)
                    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
                    os.write(told, b"%d" % code)
                    os.close(told)


def _main(script: str, place: int) -> None:
    # As the script itself would have it: nothing of the tests can be imported.
    sys.path[0] = str(Path(script).parent)
    import importlib
    import pkgutil

    import evalgate.cli.command_line
    import evalgate.commands
    from evalgate.__main__ import main

    for found in pkgutil.walk_packages(evalgate.commands.__path__, "evalgate.commands."):
        importlib.import_module(found.name)
    for slow in ("git", "vcr.patch", "regex"):
        importlib.import_module(slow)
    gc.freeze()
    order = _serve(socket.socket(fileno=place))
    if order is None:
        return
    asked, places = order
    for target, (given, name) in enumerate(zip(places, ("stdin", "stdout", "stderr"), strict=True)):
        os.dup2(given, target)
        os.close(given)
        old = getattr(sys, name)  # remembers what kind of file it is on
        words = {"encoding": old.encoding, "errors": old.errors, "closefd": False}
        setattr(sys, name, os.fdopen(target, old.mode, 1 if old.line_buffering else -1, **words))
    os.chdir(asked["cwd"])
    os.environ.clear()
    os.environ.update(asked["env"])
    sys.argv = [script, *asked["argv"]]
    try:
        main()
    except SystemExit as end:
        # What is left is to take all modules apart, which takes as long as a short command.
        with contextlib.suppress(OSError):
            threading._shutdown()
            atexit._run_exitfuncs()
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(end.code)
        raise


if __name__ == "__main__":
    _main(sys.argv[1], int(sys.argv[2]))
