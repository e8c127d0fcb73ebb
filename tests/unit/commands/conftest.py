"""An agent on the host that waits, so that a test can work in its sandbox."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from evalgate.core.files import File
from evalgate.protocols import Stage
from evalgate.sandboxes.hosted import open_hosted
from evalgate.sandboxes.process import ProcessProvider

#: An agent that gives its socket's path to the test, and lives until it is told to end.
WAITING = """
import os, sys, time
with open(sys.argv[1] + ".new", "w") as file: file.write(os.environ["EVALGATE_SANDBOX"])
os.rename(sys.argv[1] + ".new", sys.argv[1])
while os.path.exists(sys.argv[1]): time.sleep(0.01)
"""


@pytest.fixture
def place(tmp_path: Path) -> Iterator[str]:
    """The socket of an agent's sandbox, in whose repository a.txt lies."""
    told = tmp_path / "told"
    with open_hosted(ProcessProvider(tmp_path), {}) as hosted, ThreadPoolExecutor(1) as pool:
        stage = Stage(
            trees={"repo": {"a.txt": File(data=b"old\n")}},
            argv=[sys.executable, "-c", WAITING, str(told)],
            timeout=60,
        )
        running = pool.submit(hosted.run, stage, threading.Event())
        while not told.exists():
            assert not running.done(), running.result()
        yield told.read_text()
        told.unlink()
        assert running.result().exit_code == 0
