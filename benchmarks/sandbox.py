"""What a trial's stages cost beside the least that the engine takes for any container.

    python -m benchmarks.sandbox [--quick]

All ways in turn, round after round, in one run; each figure is a median, and a ratio to the floor
(create, start, wait for and remove a container that runs ``true``). The usual design keeps one
container sleeping, copies through the engine and runs by exec.

The last line is one JSON object. Exit status: 0 when every goal holds, 1 when one does not, 2
without an engine.
"""

import argparse
import statistics
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from benchmarks.goals import Goal, MissingError, finish, refuse
from benchmarks.stages import (
    CALLS,
    Usual,
    hardened_floor,
    open_echo,
    open_provider,
    ready_image,
    stage,
    timed,
    tree_of,
)
from benchmarks.tools import tools
from evalgate.core.files import File, Tree
from evalgate.protocols import SandboxProvider
from evalgate.runner.ahead import opened_ahead
from evalgate.sandboxes.docker import Engine
from evalgate.sandboxes.packing import pack
from evalgate.sandboxes.room import PLACES

#: name -> the most it may be, as a ratio to the floor.
GOALS = {
    "one stage, 1 MB": 1.2,
    "one stage, 2,000 files, 18 MB": 1.7,
    "agent and grade, 1 MB": 2.4,
    "hardened floor": 1.1,
}
#: A tree that was read before, made ready to be sent.
SNAPSHOT = "snapshot of 2,000 files"
USUAL_GOAL = 0.4
SNAPSHOT_GOAL = 20.0
TUNNEL_GOAL = 3.0
TOOLS_GOAL = 5.0
WORKERS_GOAL = 1.4

CHANGE = ["sh", "-c", "echo changed >>package_0/module_0.py; echo new >new"]


def main() -> int:
    """Print the table, the goals and the JSON line; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sandbox")
    parser.add_argument("--quick", action="store_true", help="3 rounds instead of 12")
    quick = parser.parse_args().quick
    provider = open_provider()
    try:
        image = ready_image(provider)
    except MissingError as missing:
        return refuse("sandbox", missing, quick=quick)
    usual, engine = Usual(image), Engine()
    small, large = tree_of(200, 1_000_000), tree_of(2_000, 18_000_000)
    ways: dict[str, Callable[[], object]] = {
        "floor": usual.floor,
        "hardened floor": lambda: hardened_floor(engine, image),
        "one stage, 1 MB": lambda: stage(provider, {"repo": small}, CHANGE),
        "agent and grade, 1 MB": lambda: _trial(provider, small),
        "one stage, 2,000 files, 18 MB": lambda: stage(provider, {"repo": large}, CHANGE),
        "agent and grade, 2,000 files": lambda: _trial(provider, large),
        "the usual design, 2,000 files": lambda: usual.trial(large),
        SNAPSHOT: lambda: pack(list(PLACES), {"repo": large}, sealed=()),
    }
    rounds = 3 if quick else 12
    times: dict[str, list[float]] = {name: [] for name in ways}
    for work in ways.values():
        work()
    for _ in range(rounds):
        for name, work in ways.items():
            times[name].append(timed(work))
    medians = {name: statistics.median(found) for name, found in times.items()}
    floor = medians["floor"]
    print(f"{rounds} rounds; ms, median")
    for name, found in medians.items():
        print(f"{name:<34}{found:>9.0f}{found / floor:>8.2f} x floor")
    goals = [
        Goal(name=n, found=medians[n] / floor, limit=most, unit="x") for n, most in GOALS.items()
    ]
    share = medians["agent and grade, 2,000 files"] / medians["the usual design, 2,000 files"]
    goals.append(
        Goal(name="of the usual design, 2,000 files", found=share, limit=USUAL_GOAL, unit="x")
    )
    goals.append(Goal(name=SNAPSHOT, found=medians[SNAPSHOT], limit=SNAPSHOT_GOAL, unit="ms"))
    added = _tunnel(provider)
    print(f"{'a call through the tunnel':<34}{added:>9.2f} ms more than without")
    goals.append(Goal(name="tunnel, a call", found=added, limit=TUNNEL_GOAL, unit="ms"))
    through, itself = tools(provider, 100 if quick else 400)
    print(f"{'`true` by an agent on the host':<34}{through - itself:>9.2f} ms more than itself")
    goals.append(
        Goal(name="a tool of the host's agent", found=through - itself, limit=TOOLS_GOAL, unit="ms")
    )
    gain = _workers(lambda: stage(provider, {"repo": small}, CHANGE), 8 if quick else 16)
    print(f"{'two workers beside one':<34}{gain:>9.2f} x the trials a second")
    goals.append(
        Goal(name="two workers beside one", found=gain, limit=WORKERS_GOAL, unit="x", at_least=True)
    )
    return finish(
        "sandbox",
        goals,
        quick=quick,
        figures={
            "ms": medians,
            "tunnel_ms": added,
            "tool_ms": through - itself,
        },
    )


def _trial(provider: SandboxProvider, tree: Tree) -> None:
    """Do what a trial does: the sandbox of its grade is opened before its agent works."""
    tests = {"test_it.py": File(data=b"\n")}
    with opened_ahead(provider) as grading:
        stage(provider, {"repo": tree}, CHANGE)
        stage(grading, {"repo": tree, "tests": tests}, ["true"], keep="logs")


def _tunnel(provider: SandboxProvider) -> float:
    with open_echo() as port:
        code = ["python3", "-c", CALLS, str(port)]
        inside = float(stage(provider, {}, code, port))
        outside = subprocess.run([sys.executable, *code[1:]], capture_output=True, check=True)
    return inside - float(outside.stdout)


def _workers(work: Callable[[], object], number: int) -> float:
    """Return how many times more is done in the same time by two threads."""

    def total(threads: int) -> float:
        with ThreadPoolExecutor(threads) as pool:
            return timed(lambda: list(pool.map(lambda _: work(), range(number))))

    alone, pair = total(1), total(2)
    return alone / pair


if __name__ == "__main__":
    sys.exit(main())
