"""The tools of an agent on the host: the program inside, and what carries requests to it."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import as_file, files
from pathlib import Path
from typing import IO

from evalgate.sandboxes import inside

WORD = "0123456789abcdef"

#: A request is answered at each of so many steps of its being given up.
STEPS = 120
#: So often a line of commands is ended: which of its processes is found first is chance.
TRIES = 8

#: Runs the program while it pauses at the steps of giving up.
PAUSING = f"""
import runpy, sys
sys.path.insert(0, {str(Path(__file__).parents[3])!r})
from tests.pausing import pausing
def given_up(variables):
    request = variables.get("request", {{}})
    return request["id"] if request.get("kind") == "cancel" else None
program = sys.argv.pop(1)
with pausing("listen", given_up):
    runpy.run_path(program, run_name="__main__")
"""

#: Runs the program while it ends others slowly.
SLOWLY = """
import runpy, sys, threading, time
def slowly(frame, event, _):
    if frame.f_code.co_name == "end":
        time.sleep(0.002)
        return slowly
threading.settrace(slowly)
runpy.run_path(sys.argv.pop(1), run_name="__main__")
"""


@contextmanager
def program(folder: Path, *words: str) -> Iterator[tuple[socket.socket, IO[bytes]]]:
    """Run the program that is run inside; say what to it, and read its answers."""
    with (
        as_file(files(inside) / "service.py") as path,
        socket.create_server(("127.0.0.1", 0)) as door,
    ):
        command = [sys.executable, *words, str(path), str(door.getsockname()[1])]
        env = {"EVALGATE_SERVICE": WORD, "PATH": "/usr/bin:/bin"}
        process = subprocess.Popen(command, env=env, cwd=folder)
        connection, _ = door.accept()
        with connection, connection.makefile("rb") as answers:
            assert answers.readline().decode() == WORD + "\n"
            yield connection, answers
        assert process.wait() == 0


def say(connection: socket.socket, **request: object) -> None:
    connection.sendall(json.dumps(request).encode() + b"\n")


def test_what_is_given_up_as_it_is_answered_ends_nothing(tmp_path: Path) -> None:
    """Who asks can not know that the answer is on the way; the program goes on."""
    with program(tmp_path, "-c", PAUSING) as (connection, answers):
        for n in range(STEPS):
            say(connection, kind="read", path="nothing", id=n)
            say(connection, kind="cancel", id=n)
        answered = {json.loads(answers.readline())["id"] for _ in range(STEPS)}
    assert answered == set(range(STEPS))


def test_a_line_of_commands_does_not_go_on_behind_the_one_that_was_ended(tmp_path: Path) -> None:
    """The shell is not told of its command's end before its own."""
    with program(tmp_path, "-c", SLOWLY) as (connection, answers):
        for n in range(TRIES):
            command = f"touch begun-{n}; sleep 600; touch {n}"
            say(connection, kind="exec", id=n, command=command, keep=9, timeout=600)
            while not (tmp_path / f"begun-{n}").exists():
                time.sleep(0.01)
            say(connection, kind="cancel", id=n)
            answers.readline()
    assert all(path.name.startswith("begun-") for path in tmp_path.iterdir())
