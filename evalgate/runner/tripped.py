"""Which tripwires a trial touched: one search for what is made here and for what was recorded."""

from __future__ import annotations

from collections.abc import Sequence

from evalgate.core.claim import Claim
from evalgate.core.hidden_names import wires_of
from evalgate.core.sandboxcall import SandboxCall
from evalgate.core.task import Task
from evalgate.core.trajectory import Trajectory
from evalgate.core.tripwires import Hit, canary_tripwire, find_hits
from evalgate.gateway.keys.own_rules import search
from evalgate.runner.bench import Bench
from evalgate.runner.canary import CANARY


def tripped(
    bench: Bench,
    task: Task,
    trajectory: Trajectory,
    *,
    log: bytes,
    claim: Claim,
    calls: Sequence[SandboxCall],
    logged: Sequence[Hit] = (),
) -> tuple[Hit, ...]:
    """Return the hits in what is kept of an agent's work, where a label stands for its canary.

    ``logged`` are those that were found when all of its log was there. UsageError when a
    project's own tripwire comes to no end.
    """
    wires = (*wires_of(task, bench.tripwires), canary_tripwire(CANARY))
    return find_hits(
        wires, trajectory, log=log, claim=claim, calls=calls, logged=logged, search=search
    )
