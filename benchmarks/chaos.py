"""Evalgate killed at any moment of a run: what the next start finds, and how long it takes.

    python -m benchmarks.chaos [--quick]

`evalgate run` makes trials in containers, one a core at once, and is killed (SIGKILL) at a random
moment after it has begun with them; then another process does what every command that makes
trials does first. Afterwards no container and no room of the dead one may be left.

The last line is one JSON object. Exit status: 0 when every goal holds, 1 when one does not, 2
without an engine, or where the run ends before it is killed.
"""

import argparse
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.goals import Goal, MissingError, finish, refuse
from benchmarks.repository import Repository
from benchmarks.stages import open_provider, ready_image
from evalgate.sandboxes.docker import Engine
from evalgate.sandboxes.room_name import ROOMS

SECONDS_GOAL = 0.5
SEED = 20_261_130
#: Seconds until a run has begun with its first trial.
PATIENCE = 60.0

PROJECT = {
    "evalgate.toml": """
[harness.parts]
agent = ["agent.sh"]
[models.main]
id = "scripted-1"
upstream = "scripted:plan.toml"
[agent]
command = ["sh", "{harness_dir}/agent.sh"]
[suite]
trials = 1000
[sandbox]
use = "docker"
""",
    "agent.sh": "sleep 0.2; touch done\n",
    "plan.toml": 'format = 1\n[[task]]\nid = "*"\n[[task.reply]]\ntext = "done"\n',
    "tasks/touch/task.toml": "[metadata.evalgate]\nexpected_files = ['done']\n",
    "tasks/touch/instruction.md": "Make a file named done.\n",
    "tasks/touch/environment/workspace/README": "A project.\n",
    "tasks/touch/tests/test.sh": "test -f done\n",
}

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
    moments = random.Random(SEED)
    engine = Engine()
    seconds: list[float] = []
    found = containers = rooms = 0
    with tempfile.TemporaryDirectory(prefix="evalgate-chaos-") as folder:
        project, own = Path(folder, "project"), Path(folder, "rooms")
        own.mkdir()
        _make(project)
        env = {**os.environ, "TMPDIR": str(own)}
        try:
            ready_image(open_provider())
            for _ in range(10 if quick else 50):
                owner = _killed(project, own, env, moments.uniform(0, 1.5))
                mark = f"evalgate-room-{owner}-"
                found += sum(name.startswith(mark) for name in engine.ours())
                words = [sys.executable, "-c", START]
                done = subprocess.run(words, env=env, capture_output=True, check=True)
                seconds.append(float(done.stdout))
                containers += sum(name.startswith(mark) for name in engine.ours())
                rooms += len(list(own.glob(ROOMS)))
        except MissingError as error:
            return refuse("chaos", error, quick=quick)
    print(f"{len(seconds)} kills; {found} containers found after them")
    print(f"after the next start: {containers} containers and {rooms} rooms")
    print(f"the next start: {statistics.median(seconds):.2f} s (at most {max(seconds):.2f} s)")
    goals = [
        Goal(name="containers found", found=found, limit=1, at_least=True),
        Goal(name="containers left", found=containers, limit=0),
        Goal(name="rooms left", found=rooms, limit=0),
        Goal(name="the slowest next start", found=max(seconds), limit=SECONDS_GOAL, unit="s"),
    ]
    figures = {"kills": len(seconds), "found": found, "seconds": seconds}
    return finish("chaos", goals, quick=quick, figures=figures)


def _make(project: Path) -> None:
    repository = Repository.create(project)
    for name, text in PROJECT.items():
        path = project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    repository.commit("An agent and its task")


def _killed(project: Path, rooms: Path, env: dict[str, str], moment: float) -> int:
    """Begin a run, kill it so many seconds after its first room is there; return its number.

    Raises:
        MissingError: the run ended by itself.
    """
    words = [sys.executable, "-m", "evalgate", "run"]
    with tempfile.TemporaryFile() as said:
        with subprocess.Popen(words, cwd=project, env=env, stdout=said, stderr=said) as process:
            until = time.monotonic() + PATIENCE
            while not any(rooms.glob(ROOMS)) and process.poll() is None:
                if time.monotonic() > until:
                    break
                time.sleep(0.01)
            else:
                time.sleep(moment)
            ended = process.poll()
            process.kill()
        if ended is not None or time.monotonic() > until:
            said.seek(0)
            raise MissingError(f"no run to kill: {said.read().decode('utf-8', 'replace')[-400:]}")
    return process.pid


if __name__ == "__main__":
    sys.exit(main())
