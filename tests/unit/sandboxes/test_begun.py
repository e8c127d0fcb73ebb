"""A program with all it starts: known to have ended, and ended, whatever it does to get away."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from evalgate.protocols import StageStatus
from evalgate.sandboxes import keeper
from evalgate.sandboxes.begun import Program
from evalgate.sandboxes.process_group import Ending, run_group
from evalgate.sandboxes.survivors import Sought, end_survivors

#: A child without any tie: no environment, a session and a directory of its own.
UNTIED = (
    "(cd / && exec env -i setsid sleep {mark}) & while ! pgrep -f 'sleep {mark}' >&2; do :; done"
)
_SLEEPER = """
import sys, threading
from evalgate.sandboxes.begun import Program
from evalgate.sandboxes.process_group import run_group
program = Program(argv=["sh", "-c", sys.argv[1]], env={"PATH": sys.argv[2]}, cwd="/",
                  token="none", room="/none", kept=True)
run_group(program, timeout=600, stop=threading.Event())
"""


@pytest.fixture
def mark(tmp_path: Path) -> str:
    """Return a number of seconds that only processes of this test sleep."""
    return f"600.{os.getpid()}{abs(hash(tmp_path)) % 10**6}"


def kept(line: str, *, token: str = "none", timeout: float = 60) -> Ending:
    """Run a line for the shell."""
    program = Program(
        argv=["sh", "-c", line],
        env={"PATH": os.environ["PATH"], "TOKEN": token},
        cwd="/",
        token=token,
        room="/none",
        kept=True,
    )
    return run_group(program, timeout=timeout, stop=threading.Event())


def command_lines() -> list[bytes]:
    """Return the command lines of this machine."""
    found = []
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            found.append(place.read_bytes())
    return found


def sleepers(mark: str) -> list[bytes]:
    """Return the command lines of this machine that hold a mark and sleep."""
    return [line for line in command_lines() if line.startswith(b"sleep\0" + mark.encode())]


def wait_for(mark: str, count: int = 1) -> None:
    """Wait until so many sleep."""
    deadline = time.monotonic() + 60
    while len(sleepers(mark)) < count and time.monotonic() < deadline:
        time.sleep(0.02)


@pytest.mark.parametrize(
    ("last", "code"),
    [
        ("exit 3", 3),
        ("kill $$", 128 + signal.SIGTERM),
        ("kill -9 0", 128 + signal.SIGKILL),
        ("kill -STOP 0 & wait", None),
        ("kill -STOP $PPID", None),
    ],
)
def test_a_child_without_any_tie_is_ended(mark: str, last: str, code: int | None) -> None:
    """However the program ends: by itself, by a signal to its group, or by its time."""
    ending = kept(f"{UNTIED.format(mark=mark)}; {last}", timeout=60 if code else 3)
    assert sleepers(mark) == []
    assert ending.exit_code == code
    assert ending.status is (StageStatus.TIMEOUT if code is None else StageStatus.EXITED)


def test_a_deep_tree_of_sessions_is_ended(mark: str) -> None:
    """One that takes its time: each is a child of what stands above all only when it is next."""
    deep = f'[ $1 = 0 ] && exec sleep {mark}; setsid sh -c "$0" "$0" $(($1 - 1)) & wait'
    program = Program(
        argv=["sh", "-c", deep, deep, "300"],
        env={"PATH": os.environ["PATH"]},
        cwd="/",
        token="none",
        room="/none",
        kept=True,
    )
    stop = threading.Event()
    looking = threading.Thread(target=lambda: (wait_for(mark), stop.set()))
    looking.start()
    ending = run_group(program, timeout=60, stop=stop)
    looking.join()
    assert ending.status is StageStatus.INTERRUPTED
    assert [line for line in command_lines() if mark.encode() in line] == []


def test_children_are_found_by_kernels_that_do_not_tell_them() -> None:
    """The same ones, by a look at all processes."""
    with subprocess.Popen(["sleep", "60"]) as process:
        assert process.pid in keeper.children()
        assert process.pid in keeper.found_children()
        process.kill()


def test_what_nobody_listens_to_is_ended(mark: str) -> None:
    """A program that ends just when evalgate is killed is told of to nobody."""
    reader, writer = os.pipe()
    os.close(reader)
    line = UNTIED.format(mark=mark)
    words = [sys.executable, "-I", "-S", keeper.__file__, str(writer), str(os.getpid())]
    with subprocess.Popen(
        [*words, "sh", "-c", line], pass_fds=[writer], stderr=subprocess.PIPE
    ) as process:
        os.close(writer)
        assert process.wait(60) == 0
    assert sleepers(mark) == []


def test_nothing_outlives_a_killed_evalgate(mark: str) -> None:
    """There is nobody left to end it, so what stands above it does."""
    line = f"{UNTIED.format(mark=mark)}; sleep {mark}"
    with subprocess.Popen([sys.executable, "-c", _SLEEPER, line, os.environ["PATH"]]) as owner:
        wait_for(mark, 2)
        owner.kill()
    deadline = time.monotonic() + 60
    while sleepers(mark) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert sleepers(mark) == []


def test_what_stops_all_above_it_again_and_again_is_ended(mark: str) -> None:
    """It is let go on as often."""
    stopping = f"env -i setsid sh -c 'while kill -STOP $0; do :; done' $PPID {mark}"
    ending = kept(f"{stopping} & sleep 600", timeout=1)
    assert (ending.status, ending.exit_code) == (StageStatus.TIMEOUT, None)
    assert [line for line in command_lines() if mark.encode() in line] == []


@pytest.mark.parametrize("more", ["", "kill -STOP $PPID; "])
def test_whoever_looks_for_the_marks_ends_what_carries_none(mark: str, more: str) -> None:
    """As at a second Ctrl-C, and after a kill: what stands above is asked to end it."""
    token = f"token-{mark}"
    with ThreadPoolExecutor(1) as pool:
        line = f"{UNTIED.format(mark=mark)}; {more}sleep {mark}"
        running = pool.submit(kept, line, token=token)
        wait_for(mark, 2)
        sought = Sought(token=token, leader=None, since=0, room="/none")
        assert end_survivors(sought, patience=60) == 0
        assert sleepers(mark) == []
        assert running.result().exit_code == 128 + signal.SIGKILL


def test_a_program_that_kills_what_stands_above_it_was_killed(mark: str) -> None:
    """What carries its marks is ended all the same."""
    ending = kept(f"sleep {mark} & kill -9 $PPID; wait", token=f"token-{mark}")
    assert (ending.status, ending.exit_code) == (StageStatus.EXITED, 128 + signal.SIGKILL)
    assert sleepers(mark) == []


def test_what_can_not_be_started_is_no_end_of_a_program(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A file that may be run and holds nothing that runs, without a word of limits before it."""
    monkeypatch.setenv("PATH", "/nowhere")
    program = Program(
        argv=["/proc/self/exe/none"], env={}, cwd="/", token="none", room="/none", kept=True
    )
    ending = run_group(program, timeout=60, stop=threading.Event())
    assert (ending.status, ending.exit_code) == (StageStatus.ENGINE, None)
    assert ending.detail == "/proc/self/exe/none can not be started: Not a directory"
