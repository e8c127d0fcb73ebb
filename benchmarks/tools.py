"""What a call of an agent on the host to its sandbox costs, beside the program it runs."""

import subprocess
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median

from benchmarks.stages import timed
from evalgate.protocols import SandboxProvider
from evalgate.sandboxes.client import Client
from evalgate.sandboxes.hosted import tools_stage
from evalgate.sandboxes.service import open_service
from evalgate.sandboxes.toolrequest import Exec

_TRUE = Exec(argv=["true"])


def tools(provider: SandboxProvider, calls: int) -> tuple[float, float]:
    """Return the milliseconds of a call that runs ``true``, and of running it here: medians.

    They are made in turn; a call opens a connection of its own, as a command would.
    """
    through, itself = [], []
    with (
        tempfile.TemporaryDirectory() as folder,
        open_service(Path(folder, "sandbox")) as service,
        provider.open_sandbox() as sandbox,
        ThreadPoolExecutor(1) as pool,
    ):
        stage = tools_stage(service, sandbox.places, {}, timeout=60)
        running = pool.submit(sandbox.run, stage, threading.Event())
        while not service.connected.wait(0.01):
            if running.done():
                raise RuntimeError(f"the tools did not begin: {running.result()}")
        client = Client(str(Path(folder, "sandbox")))
        for _ in range(calls):
            through.append(timed(lambda: client.ask(_TRUE)))
            itself.append(timed(lambda: subprocess.run(["/bin/true"], check=True)))
        service.end()
        running.result()
    return median(through), median(itself)
