"""Many tasks proven at once."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from evalgate.commands.console import Console
from evalgate.core.proof import Proof
from evalgate.core.task import Task
from evalgate.errors import InterruptedRunError
from evalgate.runner.prove import Prover, prove
from evalgate.runner.stopped import TrialStoppedError
from evalgate.runner.waits import first_of


def prove_all(
    prover: Prover, tasks: Sequence[Task], workers: int, console: Console
) -> tuple[Proof, ...]:
    """Prove tasks side by side; return the proofs in the order of the tasks.

    Raises:
        InterruptedRunError: Ctrl-C or SIGTERM; nothing is kept.
    """
    stop = threading.Event()
    with ThreadPoolExecutor(max_workers=workers) as pool:
        waiting = [pool.submit(prove, prover, task, stop) for task in tasks]
        try:
            left = set(waiting)
            while left:
                for future in first_of(left):
                    left.remove(future)
                    proof = future.result()
                    mark = "proven" if proof.proven else "not proven"
                    console.note(f"[{len(tasks) - len(left)}/{len(tasks)}] {mark}: {proof.task}")
        except BaseException as error:
            stop.set()
            for future in waiting:
                future.cancel()
            if isinstance(error, KeyboardInterrupt | TrialStoppedError):
                message = "interrupted: nothing is kept of a proof"
                raise InterruptedRunError(message, hint="begin again") from error
            raise
    return tuple(future.result() for future in waiting)
