"""The server's thread and loop: nothing of them is left, however they end."""

from __future__ import annotations

import logging
import subprocess
import sys
import threading

import pytest
from aiohttp import web

from evalgate.gateway.loopback import Loopback

#: A process that may open no more files before it listens; a warning of what is left is an error.
NO_FILES = """
import gc, os, resource, threading
from evalgate.gateway.loopback import Loopback
server = Loopback(lambda request: None, name="full", max_size=1, grace=0.1)
most = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (os.open("/", os.O_RDONLY) + 1, most[1]))
try: server.open()
except OSError as error: print(error.strerror)
resource.setrlimit(resource.RLIMIT_NOFILE, most)
print(threading.active_count(), "thread")
del server
gc.collect()
"""


async def answer(request: web.Request) -> web.Response:
    """Answer anything."""
    return web.Response(text=request.path)


def test_a_server_that_can_not_listen_leaves_no_thread_and_no_loop() -> None:
    """Whoever opens it gets the error, and has nothing to close."""
    words = [sys.executable, "-X", "dev", "-c", NO_FILES]
    done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.splitlines() == ["Too many open files", "1 thread"]
    assert "ResourceWarning" not in done.stderr


def test_what_will_not_close_does_not_keep_the_thread() -> None:
    """The error is told once the thread is gone."""

    async def refuse() -> None:
        message = "it will not"
        raise RuntimeError(message)

    before = threading.active_count()
    server = Loopback(answer, name="stubborn", max_size=1, grace=0.1, closing=refuse)
    server.open()
    with pytest.raises(RuntimeError, match="it will not"):
        server.close()
    assert threading.active_count() == before
    assert not server.running


def test_a_logger_of_the_same_name_is_left_as_it_is() -> None:
    """The server tells nobody anything, and silences nobody."""
    server = Loopback(answer, name="evalgate-named", max_size=1, grace=0.1)
    server.open()
    server.close()
    assert not logging.getLogger("evalgate-named").disabled
