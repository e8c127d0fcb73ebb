"""Evalgate killed at any moment of a trial: what the next start finds, and how long it takes.

    python -m benchmarks.chaos [--quick]

A process makes trials in containers, two at once, and is killed (SIGKILL) at a random moment;
then another process does what every command that makes trials does first. Afterwards no container
of the dead one may be left, running or not.

The last line is one JSON object. Exit status: 0 when every goal holds, 1 when one does not, 2
without an engine.
"""

import argparse
import random
import statistics
import subprocess
import sys
import time

from benchmarks.goals import Goal, MissingError, finish, refuse
from benchmarks.stages import open_provider
from evalgate.sandboxes.docker import Engine

SECONDS_GOAL = 0.5
SEED = 20_261_130

TRIALS = """
import threading
from benchmarks.stages import open_provider, stage, tree_of
provider, tree = open_provider(), tree_of(50, 100_000)
print("ready", provider.image, flush=True)
def work():
    while True: stage(provider, {"repo": tree}, ["sh", "-c", "sleep 0.2; touch done"])
for _ in range(2): threading.Thread(target=work).start()
"""

START = """
import time
from evalgate.sandboxes.leftovers import remove_leftovers
began = time.perf_counter()
remove_leftovers()
print(time.perf_counter() - began)
"""


def main() -> int:
    """Print the table, the goals and the JSON line; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.chaos")
    parser.add_argument("--quick", action="store_true", help="10 kills instead of 50")
    quick = parser.parse_args().quick
    reason = open_provider().unavailable()
    if reason is not None:
        return refuse("chaos", MissingError(reason), quick=quick)
    moments = random.Random(SEED)
    engine = Engine()
    seconds: list[float] = []
    found = left = 0
    for _ in range(10 if quick else 50):
        with subprocess.Popen([sys.executable, "-c", TRIALS], stdout=subprocess.PIPE) as process:
            if process.stdout is not None:
                process.stdout.readline()
            time.sleep(moments.uniform(0, 1.5))
            process.kill()
        own = f"evalgate-room-{process.pid}-"
        found += sum(name.startswith(own) for name in engine.ours())
        done = subprocess.run([sys.executable, "-c", START], capture_output=True, check=True)
        seconds.append(float(done.stdout))
        left += sum(name.startswith(own) for name in engine.ours())
    print(f"{len(seconds)} kills; {found} containers found after them, {left} after the next start")
    print(f"the next start: {statistics.median(seconds):.2f} s (at most {max(seconds):.2f} s)")
    goals = [
        Goal(name="containers left", found=left, limit=0),
        Goal(name="the next start", found=statistics.median(seconds), limit=SECONDS_GOAL, unit="s"),
    ]
    figures = {"kills": len(seconds), "found": found, "seconds": seconds}
    return finish("chaos", goals, quick=quick, figures=figures)


if __name__ == "__main__":
    sys.exit(main())
