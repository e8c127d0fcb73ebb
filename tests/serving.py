"""A server of a test's own, which runs in a thread and is ended at once."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from socketserver import BaseServer

#: How often it looks whether it is to end, in seconds; by itself it would each half second, and
#: hundreds of tests would wait that long.
LOOK = 0.01


@contextmanager
def serving(server: BaseServer) -> Iterator[None]:
    """Serve as long as the context is open; at its end the server and its thread are gone."""
    thread = threading.Thread(target=server.serve_forever, args=(LOOK,), daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
