"""The tools of an agent on the host: the program inside, and what carries requests to it."""

from __future__ import annotations

import json
import os
import resource
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
from evalgate.sandboxes.service import ToolService, open_service

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


def test_what_was_given_up_did_not_run_out_of_time(tmp_path: Path) -> None:
    """Both are ended; only one of them is told to have taken too long."""
    with program(tmp_path) as (connection, answers):
        say(connection, kind="exec", id=1, command="touch a; sleep 600", keep=9, timeout=600)
        while not (tmp_path / "a").exists():
            time.sleep(0.01)
        say(connection, kind="cancel", id=1)
        given_up = json.loads(answers.readline())
        say(connection, kind="exec", id=2, command="sleep 600", keep=9, timeout=0.1)
        late = json.loads(answers.readline())
    assert (given_up["exit_code"], given_up["timed_out"], given_up["cancelled"]) == (None, 0, 1)
    assert (late["exit_code"], late["timed_out"], "cancelled" in late) == (None, 1, 0)


@contextmanager
def tools(place: Path, *, patience: float = 30) -> Iterator[tuple[ToolService, socket.socket]]:
    """Open a service whose program inside is the test."""
    with (
        open_service(place, patience=patience) as service,
        socket.create_connection(("127.0.0.1", service.port)) as within,
    ):
        within.sendall(service.word.encode() + b"\n")
        assert service.connected.wait(20)
        yield service, within


def connected(place: Path) -> socket.socket:
    """Return a connection as an agent makes one."""
    asking = socket.socket(socket.AF_UNIX)
    asking.settimeout(20)
    asking.connect(str(place))
    return asking


def test_calls_are_kept_in_the_order_they_were_asked_in(tmp_path: Path) -> None:
    """Which is answered first is another one each time."""
    place = tmp_path / "sandbox"
    with tools(place) as (service, within), connected(place) as agent:
        for path in ("first", "second", "third"):
            say(agent, kind="read", path=path)
        requests = within.makefile("rb")
        numbers = [json.loads(requests.readline())["id"] for _ in range(3)]
        for number in (numbers[2], numbers[0]):
            say(within, id=number, bytes=1)
        answers = agent.makefile("rb")
        for _ in range(2):
            assert json.loads(answers.readline())["bytes"] == 1
        service.close()
        told = [(call.command, call.error) for call in service.calls]
    assert told == [("first", ""), ("second", "the sandbox has ended"), ("third", "")]


def test_an_agent_that_does_not_read_keeps_nobody_else_waiting(tmp_path: Path) -> None:
    """Its own answers are there once it does, whole and in order."""
    place, data = tmp_path / "sandbox", "A" * (1 << 20)
    with tools(place) as (_, within), connected(place) as lazy, connected(place) as other:
        requests = within.makefile("rb")
        for n in range(8):
            say(lazy, kind="read", path="large", id=n)
            say(within, id=json.loads(requests.readline())["id"], data=data)
        say(other, kind="read", path="small")
        say(within, id=json.loads(requests.readline())["id"], data="QQ==")
        assert json.loads(other.makefile("rb").readline())["data"] == "QQ=="
        lazy.shutdown(socket.SHUT_WR)
        answers = [json.loads(line) for line in lazy.makefile("rb")]
    assert [answer["id"] for answer in answers] == list(range(8))
    assert all(answer["data"] == data for answer in answers)


@contextmanager
def no_more_files() -> Iterator[None]:
    """Let this process open nothing more."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with Path(os.devnull).open() as free:
        lowest = free.fileno()
    resource.setrlimit(resource.RLIMIT_NOFILE, (lowest, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_an_agent_that_can_not_be_taken_in_for_a_while_is_taken_in_later(tmp_path: Path) -> None:
    """As when many trials have all the files open that there may be."""
    place = tmp_path / "sandbox"
    with tools(place), socket.socket(socket.AF_UNIX) as agent:
        agent.settimeout(20)
        with no_more_files():
            agent.connect(str(place))
            time.sleep(0.2)
        say(agent, kind="dance")
        assert b"kind: one of" in agent.recv(1000)


def test_tools_that_nobody_can_reach_any_more_are_ended(tmp_path: Path) -> None:
    """A trial without them is not measured; it is no time-out of the agent's."""
    place = tmp_path / "sandbox"
    with tools(place, patience=0.1) as (_, within), socket.socket(socket.AF_UNIX) as agent:
        within.settimeout(20)
        with no_more_files():
            agent.connect(str(place))
            assert within.recv(1) == b""


def test_only_files_are_read_and_written(tmp_path: Path) -> None:
    """A pipe that nobody reads is not waited for; what is no file is told by its name."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    with program(tmp_path) as (connection, answers):
        for path in ("pipe", "folder", "."):
            say(connection, kind="read", path=path, id=1)
            assert json.loads(answers.readline())["error"] == f"{path}: not a file"
            say(connection, kind="write", path=path, data="", id=1)
            assert json.loads(answers.readline())["error"].startswith(f"{path}: ")
        for data, said in (("bG9uZw==", b"long"), ("YQ==", b"a")):
            say(connection, kind="write", path="new/file", data=data, id=1)
            assert json.loads(answers.readline())["bytes"] == len(said)
            assert (tmp_path / "new/file").read_bytes() == said
