"""An agent on the host with its tools in a sandbox: what holds whichever sandbox it is.

The agents here are real programs that use the socket, or the command line, for their tools.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from evalgate.core.files import File, Tree
from evalgate.protocols import SandboxProvider, Stage, StageResult, StageStatus
from evalgate.sandboxes.hosted import open_hosted
from evalgate.sandboxes.table import PROVIDERS

#: How an agent begins: ``ask`` makes one request on a connection of its own.
ASK = """
import base64, json, os, socket, subprocess, sys, threading, time
def opened():
    s = socket.socket(socket.AF_UNIX)
    s.connect(os.environ["EVALGATE_SANDBOX"])
    return s
def ask(**request):
    with opened() as s:
        s.sendall(json.dumps(request).encode() + b"\\n")
        return json.loads(s.makefile("rb").readline())
def sh(command, **more):
    answer = ask(kind="exec", command=command, **more)
    answer["output"] = base64.b64decode(answer.get("output", ""))
    return answer
"""


#: Tells what one worker's tests start from what others do.
MARK = str(os.getpid())


def run(
    provider: SandboxProvider,
    code: str,
    *,
    repo: Tree | None = None,
    timeout: float = 20,
    stop: threading.Event | None = None,
    argv: Sequence[str] = (),
) -> StageResult:
    """Run an agent on the host, its tools in a fresh sandbox."""
    with open_hosted(provider, {}) as hosted:
        stage = Stage(
            trees={
                "repo": repo or {},
                "harness": {
                    "agent.py": File(data=(ASK + code.replace(".MARK", f".{MARK}")).encode())
                },
            },
            argv=list(argv) or [sys.executable, f"{hosted.places.harness}/agent.py"],
            env={"REPO": hosted.places.repo, "HARNESS": hosted.places.harness},
            timeout=timeout,
        )
        return hosted.run(stage, stop or threading.Event())


def fine(result: StageResult) -> str:
    """Return what an agent said that came to a good end."""
    said = result.log.decode("utf-8", "replace")
    assert (result.status, result.exit_code) == (StageStatus.EXITED, 0), (result.detail, said)
    return said


def test_tools_work_in_the_repository_of_the_sandbox(provider) -> None:
    """What they change comes back; the agent itself sees an empty folder and its harness."""
    result = run(
        provider,
        """
assert os.listdir() == [] and os.path.isdir(os.environ["HOME"])
answer = sh("pwd; cat a.txt; echo more >>a.txt; echo new >b.txt")
assert answer["exit_code"] == 0 and answer["timed_out"] is False, answer
assert answer["output"].decode() == os.environ["REPO"] + "\\nold\\n", answer
assert ask(kind="exec", argv=["sh", "-c", "exit 7"])["exit_code"] == 7
assert sh("kill -9 $$")["exit_code"] == 137
""",
        repo={"a.txt": File(data=b"old\n")},
    )
    fine(result)
    assert {path: file.data for path, file in result.trees["repo"].items()} == {
        "a.txt": b"old\nmore\n",
        "b.txt": b"new\n",
    }


def test_bytes_and_names_of_any_kind_come_through(provider) -> None:
    """Output, input and files hold all bytes; commands and paths are not only ASCII."""
    result = run(
        provider,
        """
every = bytes(range(256)) * 5
data = base64.b64encode(every).decode()
assert sh("cat", stdin=data)["output"] == every
assert ask(kind="write", path="a/b/é ü", data=data)["bytes"] == len(every)
assert ask(kind="read", path="a/b/é ü")["data"] == data
assert sh("ls a/b; printf 'ß\\\\377'")["output"] == "é ü\\nß".encode() + b"\\xff"
odd = ask(kind="exec", argv=["printf", "%s", "a\\udcffb"])["output"]
assert base64.b64decode(odd) == b"a\\xffb"
assert sh("pwd", cwd="a/b")["output"].endswith(b"/a/b\\n")
""",
    )
    fine(result)
    assert result.trees["repo"]["a/b/é ü"].data == bytes(range(256)) * 5


def test_what_can_not_be_done_is_told(provider) -> None:
    """A missing program is 127 as in a shell; files, folders and requests have words."""
    said = fine(
        run(
            provider,
            """
assert ask(kind="exec", argv=["no-such-program"])["exit_code"] == 127
assert ask(kind="exec", argv=["/etc/passwd"])["exit_code"] == 126
sh("mkfifo pipe")
for request in (
    dict(kind="read", path="nothing"), dict(kind="read", path="pipe"), dict(kind="read", path="."),
    dict(kind="exec", command="true", cwd="nowhere"), dict(kind="exec"), dict(kind="dance"),
    dict(kind="exec", argv=["a"], command="a"), dict(kind="exec", argv="a"),
    dict(kind="exec", command="a", timeout=0), dict(kind="exec", command="a", timeout=1e400),
    dict(kind="exec", command="a", keep=-1), dict(kind="exec", command="a\\0b"),
    dict(kind="write", path="x", data="?"), dict(kind="exec", command="a", more=1),
):
    print(ask(**request)["error"])
with opened() as s:
    s.sendall(b'[[[\\n{}\\n{"kind": "exec", "command": "echo", "id": "x"}\\n')
    stream = s.makefile("rb")
    print(json.loads(stream.readline())["error"])
    print(json.loads(stream.readline())["error"])
    assert json.loads(stream.readline())["id"] == "x"
""",
        )
    )
    lines = said.splitlines()
    assert len(lines) == 16
    assert "nothing" in lines[0]
    assert lines[1] == "pipe: not a file"
    assert lines[3] == "nowhere: no such directory"


def test_a_flood_is_kept_as_head_and_tail(provider) -> None:
    """All its bytes are counted."""
    fine(
        run(
            provider,
            """
answer = sh("echo first; head -c 5000000 /dev/zero; echo last", keep=1000)
assert answer["bytes"] == 5000011, answer["bytes"]
assert answer["output"].startswith(b"first\\n") and answer["output"].endswith(b"last\\n")
assert b"[... 4998011 bytes left out ...]" in answer["output"]
assert len(answer["output"]) < 2100
""",
        )
    )


def test_a_call_that_takes_too_long_is_ended_with_all_it_started(provider) -> None:
    """Also what made a session of its own below it, or does not hear TERM."""
    result = run(
        provider,
        """
own = "setsid sh -c 'sleep 300.MARK' & (sleep 301.MARK &) ; sleep 302.MARK"
answer = sh("echo begun; trap '' TERM; " + own, timeout=5)
assert answer["timed_out"] and answer["exit_code"] is None, answer
assert answer["output"] == b"begun\\n"
rest = sh("cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\\\0' ' '")["output"]
for seconds in (b"300.MARK", b"301.MARK", b"302.MARK"):
    assert b"sleep " + seconds not in rest, rest
""",
    )
    fine(result)
    assert [call.timed_out for call in result.calls] == [True, False]


def test_what_is_left_in_the_background_lives_on(provider) -> None:
    """It does not hold a call up, its later words do not end it, and the stage's end does."""
    fine(
        run(
            provider,
            """
sh("(while sleep 0.05; do echo word; echo x >>ticks; done) & echo $! >number")
while sh("test $(wc -l <ticks) -gt 3")["exit_code"]:
    time.sleep(0.1)
assert sh("kill -0 $(cat number)")["exit_code"] == 0
""",
        )
    )


def test_calls_are_made_at_the_same_time(provider) -> None:
    """From several threads, and on one connection: two that wait for one another meet."""
    fine(
        run(
            provider,
            """
sh("mkfifo one other")
answers = []
work = [
    threading.Thread(target=lambda: answers.append(sh("echo a >one; cat other"))),
    threading.Thread(target=lambda: answers.append(sh("cat one; echo b >other"))),
]
for thread in work: thread.start()
for thread in work: thread.join()
assert sorted(a["output"] for a in answers) == [b"a\\n", b"b\\n"], answers
with opened() as s:
    for name, command in (("x", "echo a >one; cat other"), ("y", "cat one; echo b >other")):
        s.sendall(json.dumps({"kind": "exec", "id": name, "command": command}).encode() + b"\\n")
    s.shutdown(socket.SHUT_WR)
    lines = [json.loads(line) for line in s.makefile("rb")]
assert sorted(line["id"] for line in lines) == ["x", "y"], lines
assert all(line["exit_code"] == 0 for line in lines)
work = [threading.Thread(target=sh, args=(f"echo {n} >>all",)) for n in range(24)]
for thread in work: thread.start()
for thread in work: thread.join()
assert sh("sort -n all")["output"].split() == [str(n).encode() for n in range(24)]
""",
        )
    )


def test_a_call_that_nobody_waits_for_is_ended(provider) -> None:
    """As when the agent ends a command of its own that made it."""
    result = run(
        provider,
        """
s = opened()
s.sendall(json.dumps({"kind": "exec", "command": "sleep 303.MARK"}).encode() + b"\\n")
look = "cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\\\0' ' '"
while b"sleep 303.MARK" not in sh(look)["output"]:
    time.sleep(0.05)
s.close()
while b"sleep 303.MARK" in sh(look)["output"]:
    time.sleep(0.05)
""",
    )
    fine(result)


def test_an_agent_that_never_connects_has_nothing_changed(provider) -> None:
    """It ends as it ends, and the files come back as they were."""
    result = run(provider, "sys.exit(3)", repo={"a": File(data=b"1")})
    assert (result.status, result.exit_code, result.calls) == (StageStatus.EXITED, 3, ())
    assert result.trees["repo"] == {"a": File(data=b"1")}


def test_a_killed_service_ends_the_agent(provider) -> None:
    """All that is inside was killed from inside: the claim is what is there by then."""
    result = run(
        provider,
        """
sh("echo done >a")
print(sh("kill -9 $PPID; sleep 5")["error"], flush=True)
print(sh("true")["error"], flush=True)
time.sleep(300)
""",
        timeout=100,
    )
    assert (result.status, result.exit_code) == (StageStatus.EXITED, 137), result
    assert result.trees["repo"]["a"].data == b"done\n"
    assert "killed" in result.detail


def test_a_time_out_of_the_agent_ends_both(provider) -> None:
    """What it had changed by then comes back."""
    result = run(provider, 'sh("echo done >a; sleep 304.MARK")', timeout=2)
    assert result.status is StageStatus.TIMEOUT
    assert result.trees["repo"]["a"].data == b"done\n"
    assert processes(f"sleep\000304.{MARK}") == []


def test_an_interruption_ends_both(provider) -> None:
    """Ctrl-C: nothing comes back and nothing is left."""
    stop = threading.Event()
    timer = threading.Timer(1.5, stop.set)
    timer.start()
    result = run(provider, 'sh("sleep 305.MARK")', timeout=100, stop=stop)
    timer.join()
    assert result.status is StageStatus.INTERRUPTED
    assert processes(f"sleep\000305.{MARK}") == []


def test_what_an_agent_leaves_on_the_host_is_ended(provider, tmp_path) -> None:
    """Also what made a session of its own, with no environment or directory to tell it by."""
    code = """
subprocess.Popen(["sleep", "306.MARK"], start_new_session=True, cwd="/")
subprocess.Popen(["sleep", "306.MARK"], start_new_session=True, cwd="/", env={})
assert sh("true")["exit_code"] == 0
"""
    fine(run(provider, code))
    assert processes(f"sleep\000306.{MARK}") == []


def test_a_program_that_is_not_there_is_told(provider) -> None:
    """An agent that is missing is no fault of the harness."""
    result = run(provider, "", argv=["no-such-agent"])
    assert result.status is StageStatus.NOT_FOUND
    assert "no-such-agent" in result.detail


def test_the_agent_is_given_no_more_than_a_trial_needs(provider, monkeypatch) -> None:
    """The environment is fixed, the harness is for reading, and the socket is this user's."""
    monkeypatch.setenv("SOME_API_KEY", "of the host")
    said = fine(
        run(
            provider,
            """
assert "SOME_API_KEY" not in os.environ
assert (os.environ["TZ"], os.environ["LANG"]) == ("UTC", "C.UTF-8")
assert os.environ["PWD"] == os.getcwd()
harness = os.environ["HARNESS"]
assert os.listdir(harness) == ["agent.py"]
assert os.stat(harness).st_mode & 0o222 == os.stat(harness + "/agent.py").st_mode & 0o222 == 0
room = os.path.dirname(os.environ["EVALGATE_SANDBOX"])
assert os.stat(room).st_mode & 0o077 == 0
print(sh("env")["output"].decode())
""",
        )
    )
    assert "of the host" not in said
    assert "EVALGATE_SERVICE" not in said


def test_every_call_is_written_down(provider) -> None:
    """Kind, command, exit code, seconds, bytes, and what could not be done."""
    result = run(
        provider,
        """
ask(kind="exec", argv=["echo", "a b"])
ask(kind="write", path="f", data="QUI=")
ask(kind="read", path="f")
ask(kind="read", path="g")
""",
    )
    fine(result)
    told = [(call.kind, call.command, call.exit_code, call.bytes) for call in result.calls]
    assert told == [
        ("exec", "echo 'a b'", 0, 4),
        ("write", "f", None, 2),
        ("read", "f", None, 2),
        ("read", "g", None, 0),
    ]
    assert result.calls[3].error
    assert all(call.seconds > 0 for call in result.calls)


def test_nobody_else_takes_the_place_of_the_tools(provider) -> None:
    """A program inside that finds the port is not answered, and takes nothing away."""
    fine(
        run(
            provider,
            """
steal = '''
import socket, sys
s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
s.settimeout(5)
try:
    s.sendall(b"0" * 32 + b"\\\\n")
    assert s.recv(10) == b""
except ConnectionError:
    pass
'''
ask(kind="write", path="steal.py", data=base64.b64encode(steal.encode()).decode())
look = "cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\\\0' ' '"
port = sh(look + " | grep -o 'service.py [0-9]*' | head -1 | cut -d' ' -f2")
port = port["output"].decode().strip()
answer = sh("python3 steal.py " + port)
assert answer["exit_code"] == 0, answer
assert sh("echo still")["output"] == b"still\\n"
""",
        )
    )


@pytest.mark.parametrize(
    "provider",
    [name for name in sorted(PROVIDERS) if PROVIDERS[name].make().promises.limits_memory],
    indirect=True,
)
def test_as_many_processes_as_there_may_be_do_not_end_the_tools(provider) -> None:
    """Calls say that they can not be made, and are made again once there is room."""
    fine(
        run(
            provider,
            """
bomb = threading.Thread(target=sh, args=("while :; do sleep 60 & done",), kwargs={"timeout": 6})
bomb.start()
answers = [sh("true")]
while answers[-1].get("exit_code") == 0:
    answers.append(sh("true"))
for _ in range(20):
    sh("true", timeout=1)
bomb.join()
while sh("true").get("exit_code"):
    time.sleep(0.1)
""",
            timeout=60,
        )
    )


def processes(words: str) -> list[str]:
    """Return the command lines of this machine that hold the words."""
    found = []
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = place.read_bytes().decode("utf-8", "replace")
        except OSError:
            continue
        if words in line:
            found.append(line)
    return found
