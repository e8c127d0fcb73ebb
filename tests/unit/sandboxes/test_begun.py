"""A program with all it starts: known to have ended, and ended, whatever it does to get away."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from evalgate.protocols import StageStatus
from evalgate.sandboxes.begun import Program
from evalgate.sandboxes.process_group import Ending, run_group

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


def sleepers(mark: str) -> list[bytes]:
    """Return the command lines of this machine that hold a mark and sleep."""
    found = []
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = place.read_bytes()
        except OSError:
            continue
        if line.startswith(b"sleep\0" + mark.encode()):
            found.append(line)
    return found


@pytest.mark.parametrize(
    ("last", "code"),
    [
        ("exit 3", 3),
        ("kill $$", 128 + signal.SIGTERM),
        ("kill -9 0", 128 + signal.SIGKILL),
        ("kill -STOP 0 & wait", None),
    ],
)
def test_a_child_without_any_tie_is_ended(mark: str, last: str, code: int | None) -> None:
    """However the program ends: by itself, by a signal to its group, or by its time."""
    ending = kept(f"{UNTIED.format(mark=mark)}; {last}", timeout=60 if code else 3)
    assert sleepers(mark) == []
    assert ending.exit_code == code
    assert ending.status is (StageStatus.TIMEOUT if code is None else StageStatus.EXITED)


def test_nothing_outlives_a_killed_evalgate(mark: str) -> None:
    """There is nobody left to end it, so what stands above it does."""
    line = f"{UNTIED.format(mark=mark)}; sleep {mark}"
    with subprocess.Popen([sys.executable, "-c", _SLEEPER, line, os.environ["PATH"]]) as owner:
        while len(sleepers(mark)) < 2:
            time.sleep(0.02)
        owner.kill()
    deadline = time.monotonic() + 60
    while sleepers(mark) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert sleepers(mark) == []


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
