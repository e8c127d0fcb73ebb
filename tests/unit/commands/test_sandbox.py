"""`evalgate sandbox exec|read|write`, as an agent on the host calls them."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from evalgate.sandboxes.client import SANDBOX
from tests.answering import answering

SCRIPT = Path(sys.executable).parent / "evalgate"


def sandbox(
    place: str | None, *words: str | bytes, stdin: bytes = b""
) -> subprocess.CompletedProcess[bytes]:
    """Run the command as the agent of a trial does."""
    env = {"PATH": "/usr/bin:/bin", "LANG": "C", **({} if place is None else {SANDBOX: place})}
    return subprocess.run([SCRIPT, "sandbox", *words], env=env, input=stdin, capture_output=True)


def test_a_command_ends_as_it_ends_inside(place: str) -> None:
    """Its words, both outputs and its exit code; options after it are its own."""
    done = sandbox(place, "exec", "--", "sh", "-c", "cat a.txt; echo err >&2; exit 7")
    assert (done.returncode, done.stdout, done.stderr) == (7, b"old\nerr\n", b"")
    done = sandbox(place, "exec", "ls", "--all", "--json", "--timeout=3")
    assert done.returncode == 2
    assert b"unrecognized option" in done.stdout
    assert sandbox(place, "exec", "--", "cat a.txt | wc -l").stdout.strip() == b"1"
    assert sandbox(place, "exec", "no-such-program", "x").returncode == 127


def test_bytes_pass_through(place: str) -> None:
    """In whatever locale; standard input only when it is asked for."""
    every = bytes(range(256))
    done = sandbox(place, "exec", "-i", "--", "cat", "-", stdin=every)
    assert done.stdout == every
    assert sandbox(place, "exec", "cat", "-", stdin=every).stdout == b""
    assert sandbox(place, "exec", "printf", "%s", b"\xff\xc3\xa9").stdout == b"\xff\xc3\xa9"
    assert sandbox(place, "write", "d/\u00e9", stdin=every).returncode == 0
    assert sandbox(place, "read", "d/\u00e9").stdout == every
    assert sandbox(place, "exec", "--cwd", "d", "--", "ls").stdout == "\u00e9\n".encode()


def test_a_time_out_is_124_and_is_said(place: str) -> None:
    """What it printed by then is there."""
    done = sandbox(place, "exec", "--timeout", "0.3", "--", "echo so; sleep 60")
    assert (done.returncode, done.stdout) == (124, b"so\n")
    assert done.stderr.startswith(b"error: ")


@pytest.mark.parametrize("words", [("exec", "--", "true"), ("read", "a"), ("write", "a"), ("mcp",)])
def test_without_a_trial_there_is_a_hint(words: tuple[str, ...]) -> None:
    """Exit 2, and which key of the configuration makes one."""
    done = sandbox(None, *words)
    assert done.returncode == 2
    assert b"EVALGATE_SANDBOX is not set" in done.stderr
    assert b"agent.placement" in done.stderr


def test_after_the_trial_it_is_not_available(tmp_path: Path) -> None:
    """The socket went with it."""
    done = sandbox(str(tmp_path / "gone"), "exec", "--", "true")
    assert done.returncode == 9
    assert done.stderr.startswith(b"error: the sandbox can not be reached")


def test_what_can_not_be_done_is_an_error_in_words(place: str) -> None:
    """Never a traceback."""
    for words in (("read", "none"), ("exec", "--cwd", "none", "true"), ("write", "a.txt/b")):
        done = sandbox(place, *words)
        assert done.returncode == 2
        assert done.stderr.startswith(b"error: ")
        assert b"Traceback" not in done.stderr


@pytest.mark.parametrize(
    "answer",
    [
        {"output": "aGk=", "exit_code": None, "timed_out": False, "cancelled": True},
        {"output": "aGk=", "exit_code": 256},
        {"output": "aGk=", "exit_code": True},
        {"output": "aGk="},
        {"output": "?", "exit_code": "0"},
        {},
    ],
)
def test_what_ended_nobody_knows_how_did_not_succeed(tmp_path: Path, answer: dict) -> None:
    """An agent goes on only behind what went well; its output is printed all the same."""
    place = tmp_path / "sandbox"
    with answering(place, json.dumps(answer).encode() + b"\n"):
        done = sandbox(str(place), "exec", "--", "true")
    assert done.returncode == 9
    assert done.stdout in {b"hi", b""}
    assert b"did not say how the command ended" in done.stderr


@pytest.mark.parametrize("line", [b'{"data": "?", "bytes": 7}\n', b'{"bytes": 7}\n', b"{", b"[]\n"])
def test_a_file_that_did_not_come_is_no_empty_one(tmp_path: Path, line: bytes) -> None:
    """What is no base64 is no internal error either."""
    place = tmp_path / "sandbox"
    with answering(place, line):
        done = sandbox(str(place), "read", "a.txt")
    assert (done.returncode, done.stdout) == (9, b"")
    assert done.stderr.startswith(b"error: ")


@pytest.mark.parametrize("line", [b"{}\n", b'{"bytes": 1}\n', b'{"bytes": true}\n'])
def test_a_file_that_nobody_wrote_is_not_written(tmp_path: Path, line: bytes) -> None:
    """Only who says how many bytes were written has written them."""
    place = tmp_path / "sandbox"
    with answering(place, line):
        done = sandbox(str(place), "write", "a.txt", stdin=b"new")
    assert done.returncode == 9
    assert b"did not say that the file is written" in done.stderr


def test_an_interrupted_call_promises_no_going_on(place: str, tmp_path: Path) -> None:
    """It is no run that the same command would take up."""
    words = [SCRIPT, "sandbox", "exec", "--", "touch begun; sleep 600"]
    env = {"PATH": "/usr/bin:/bin", SANDBOX: place}
    with subprocess.Popen(words, env=env, stderr=subprocess.PIPE) as process:
        while not list(tmp_path.glob("*/repo/begun")):
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        said = process.communicate()[1]
    assert process.returncode == 130
    assert b"is ended in the sandbox too" in said
    assert b"goes on" not in said


def test_it_loads_no_more_than_it_needs(place: str) -> None:
    """An agent calls it all the time."""
    probe = (
        "import sys; sys.argv = ['evalgate', 'sandbox', 'exec', 'true', 'x'];"
        "from evalgate.__main__ import main\n"
        "try: main()\n"
        "except SystemExit: print(*{name.partition('.')[0] for name in sys.modules})"
    )
    done = subprocess.run(
        [sys.executable, "-c", probe], env={SANDBOX: place}, capture_output=True, text=True
    )
    loaded = set(done.stdout.split())
    assert {"click", "evalgate"} < loaded
    assert not loaded & {"git", "docker", "vcr", "jinja2", "aiohttp", "rich", "tomllib", "asyncio"}
