"""What the pre-push hook costs: pushes with it beside the same pushes without it.

    python -m benchmarks.hook [--quick]

A repository of 2,000 files, 50 of which are parts of the harness, in three clones with a bare
remote each: no hook; the hook that is installed, which asks git first; and the same hook without
its own look, so that evalgate itself has to find that nothing is to be judged. Each push changes a
README. The three take turns, and a bare start of Python is timed in between. CPU is that of the
push and of all it starts, in milliseconds; of each kind the least counts, since what else a
machine does only adds to it, and goals are differences and ratios in one run.

judged: the bundled edit of `evalgate demo`, 60 recorded trials, pushed twice; seconds of wall time.
The first push grades them all, the second one knows that they were reproduced here.

The last line is one JSON object. Exit status: 0 when every goal holds, 1 when one does not.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

from benchmarks.goals import Goal, finish
from benchmarks.processes import cpu_of
from benchmarks.repository import Repository
from evalgate.commands.demo import build
from evalgate.commands.hooks.hook_installation import install
from evalgate.repo.hook_script import lines_of, read_script, render_script, write_script

LOOK_GOAL, PYTHON_GOAL, RATIO_GOAL, JUDGED_GOAL = 15.0, 100.0, 2.0, 10.0
FILES, PARTS = 2_000, 50
NO_HOOK, LOOK, PYTHON, START = "no hook", "the hook", "without its look", "python -c pass"
CONFIG: Final = """
[harness.parts]
prompt = ["agent/prompts/**/*.md"]
code = ["agent/code/*.py", "agent/tools.json"]
[models.main]
id = "m"
upstream = "local-model"
"""


def environment() -> dict[str, str]:
    """Return the environment of a push, without settings of the user's."""
    kept = {name: text for name, text in os.environ.items() if not name.startswith("GIT_")}
    return kept | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}


def repository(folder: Path, pushes: int) -> list[str]:
    """Make the repository; return the commits to push, oldest first."""
    made = Repository.create(folder)
    for number in range(FILES):
        name = f"agent/code/m{number}.py" if number < PARTS - 2 else f"src/{number % 40}/{number}.c"
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{number}\n")
    (folder / "agent/prompts").mkdir()
    (folder / "agent/prompts/a.md").write_text("prompt\n")
    (folder / "agent/tools.json").write_text("[]\n")
    (folder / "evalgate.toml").write_text(CONFIG)
    made.commit("all")
    for number in range(pushes):
        (folder / "README.md").write_text(f"{number}\n")
        made.commit(f"words {number}")
    made.pack()
    return made.git("rev-list", "--reverse", "HEAD").decode().split()


def clone(source: Path, folder: Path, first: str) -> Path:
    """Return a clone whose own bare remote has the first commit."""
    bare = folder.with_suffix(".git")
    there = Repository(source)
    there.git("init", "-q", "--bare", str(bare))
    there.git("clone", "-q", str(source), str(folder))
    made = Repository(folder)
    made.git("remote", "set-url", "origin", str(bare))
    made.git("push", "-q", "origin", f"{first}:refs/heads/main")
    return folder


def without_look(folder: Path) -> None:
    """Take the hook's own look at a push away."""
    hook = folder / ".git/hooks/pre-push"
    words = dict(
        line.split("=", 1)
        for line in read_script(hook).splitlines()
        if line.startswith(("python=", "package="))
    )
    python, package = words["python"].strip("'"), words["package"].strip("'")
    # Under another name of the folder evalgate does not find its lines to renew them.
    write_script(hook, render_script(python, package, {"./": lines_of(".", None)}))


def pushes(folder: Path, rounds: int) -> dict[str, float]:
    """Return the least CPU of each kind of push, in ms."""
    commits = repository(folder / "source", rounds + 1)
    clones = {
        kind: clone(folder / "source", folder / f"clone {number}", commits[0])
        for number, kind in enumerate((NO_HOOK, LOOK, PYTHON))
    }
    for kind in (LOOK, PYTHON):
        install(clones[kind])
    without_look(clones[PYTHON])
    found: dict[str, list[float]] = {kind: [] for kind in (*clones, START)}
    for number, commit in enumerate(commits[1:]):
        for kind, place in clones.items():
            cpu = cpu_of(
                ["git", "push", "-q", "origin", f"{commit}:refs/heads/main"],
                place,
                env=environment(),
            )
            if number:  # the first one warms caches up
                found[kind].append(cpu)
        found[START].append(cpu_of([sys.executable, "-P", "-c", "pass"], folder, env=environment()))
    return {kind: min(values) for kind, values in found.items()}


def judged(folder: Path) -> list[float]:
    """Push the demo's edit twice, which the hook blocks; return seconds of wall time of both."""
    folder.mkdir()
    build(folder)
    made, bare = Repository(folder), folder.with_suffix(".git")
    made.git("init", "-q", "--bare", str(bare))
    made.git("remote", "add", "origin", str(bare))
    made.git("push", "-q", "origin", "HEAD~1:refs/heads/main")
    install(folder)
    words = ["git", "push", "-q", "origin", "HEAD:refs/heads/main"]
    seconds = []
    for _ in range(2):
        began, settings = time.perf_counter(), environment()
        done = subprocess.run(words, cwd=folder, env=settings, capture_output=True, check=False)
        if b"evalgate: regression" not in done.stderr:
            raise RuntimeError(done.stderr.decode(errors="replace"))
        seconds.append(time.perf_counter() - began)
    return seconds


def main() -> int:
    """Print the table, the goals and the JSON line; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.hook")
    parser.add_argument("--quick", action="store_true", help="fewer pushes, under 45 s")
    quick = parser.parse_args().quick
    with tempfile.TemporaryDirectory(prefix="evalgate-hook-") as name:
        cpu = pushes(Path(name), 7 if quick else 25)
        print(f"{'a push that touches no part':<28}{'CPU ms':>8}{'over no hook':>14}{'ratio':>8}")
        for kind, value in cpu.items():
            more, ratio = value - cpu[NO_HOOK], value / cpu[NO_HOOK]
            beside = "" if kind == START else f"{more:>14.1f}{ratio:>8.2f}"
            print(f"{kind:<28}{value:>8.1f}{beside}", flush=True)
        seconds, again = judged(Path(name, "demo"))
        print(f"the demo's 60 recorded trials: judged in {seconds:.1f} s, again in {again:.1f} s")
    look, python = cpu[LOOK] - cpu[NO_HOOK], cpu[PYTHON] - cpu[NO_HOOK]
    goals = [
        Goal(name="the hook's own look", found=look, limit=LOOK_GOAL, unit="ms of CPU"),
        Goal(name="evalgate's way to nothing", found=python, limit=PYTHON_GOAL, unit="ms of CPU"),
        Goal(name="with it against without", found=cpu[LOOK] / cpu[NO_HOOK], limit=RATIO_GOAL),
        Goal(name="a recorded edit is judged", found=seconds, limit=JUDGED_GOAL, unit="s"),
    ]  # fmt: skip
    figures = {"cpu_ms": cpu, "judged_s": seconds, "judged_again_s": again}
    return finish("hook", goals, quick=quick, figures=figures)


if __name__ == "__main__":
    sys.exit(main())
