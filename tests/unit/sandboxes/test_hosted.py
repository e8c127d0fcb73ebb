"""One result of an agent on the host and of its tools, whatever becomes of the tools."""

from __future__ import annotations

import json
import os
import socket
import sys
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import ClassVar

import pytest

from evalgate.core.files import File
from evalgate.errors import NotAvailableError, UsageError
from evalgate.protocols import Places, Promises, Stage, StageResult, StageStatus, Stop
from evalgate.sandboxes.client import Client
from evalgate.sandboxes.hosted import open_hosted
from evalgate.sandboxes.process import ProcessProvider
from evalgate.sandboxes.service import WORD, open_service
from evalgate.sandboxes.taking import MAX_FILES
from evalgate.sandboxes.toolrequest import Read, Write

PLACES = Places(**{place.name: f"/inside/{place.name}" for place in fields(Places)})

#: Asks once, and says what it was answered.
ASKING = """
import os, socket
s = socket.socket(socket.AF_UNIX)
s.connect(os.environ["EVALGATE_SANDBOX"])
s.sendall(b'{"kind": "exec", "command": "true"}\\n')
print(s.makefile("rb").readline().decode())
"""

#: Asks so often, and ends when that is heard.
MANY = 2000
ASKING_ONLY = f"""
import os, socket, time
s = socket.socket(socket.AF_UNIX)
s.connect(os.environ["EVALGATE_SANDBOX"])
s.sendall(b'{{"kind": "exec", "command": "true"}}\\n' * {MANY})
time.sleep(1)
"""


def told(
    status: StageStatus, exit_code: int | None = None, *, log: bytes = b"", detail: str = ""
) -> StageResult:
    return StageResult(
        status=status,
        exit_code=exit_code,
        log=log,
        log_bytes=len(log),
        seconds=9.0,
        trees={"repo": {"a": File(data=b"1")}},
        detail=detail,
    )


@dataclass
class Pretended:
    """A sandbox whose service says one thing, then waits for its end, or ends early.

    When it is ``late`` it says it after it was told to end.
    """

    result: StageResult
    says: bytes | None = b""
    early: bool = False
    late: bool = False

    name = "pretended"
    promises = Promises(
        own_network=False, own_processes=False, hides_host_files=False, limits_memory=False
    )
    places = PLACES
    images: ClassVar[Mapping[str, str]] = {}

    def unavailable(self) -> str | None:
        return None

    def prepare(self) -> None:
        pass

    @contextmanager
    def open_sandbox(self) -> Iterator[Pretended]:
        yield self

    def run(self, stage: Stage, stop: Stop) -> StageResult:
        if self.says is None:
            return self.result
        assert stage.reach is not None
        with socket.create_connection(("127.0.0.1", stage.reach)) as connection:
            connection.sendall(stage.env[WORD].encode() + b"\n")
            stream = connection.makefile("rb")
            if not self.early:
                if self.says:
                    stream.readline()
                    if not self.late:
                        connection.sendall(self.says)
                stream.read()
                if self.late:
                    connection.sendall(self.says or b"")
        return self.result


def run(provider: Pretended | ProcessProvider, code: str = "print('said')") -> StageResult:
    with open_hosted(provider, {}) as hosted:
        stage = Stage(trees={"repo": {}}, argv=[sys.executable, "-c", code], timeout=20)
        return hosted.run(stage, threading.Event())


WAITING = "import time; time.sleep(300)"


def test_the_agents_end_is_the_result_and_the_files_are_the_tools() -> None:
    """Log, exit code and time are the agent's."""
    result = run(Pretended(told(StageStatus.EXITED, 0, log=b"inner")), "print('said'); exit(3)")
    assert (result.status, result.exit_code, result.log) == (StageStatus.EXITED, 3, b"said\n")
    assert result.seconds < 9.0
    assert result.trees["repo"] == {"a": File(data=b"1")}


@pytest.mark.parametrize("early", [False, True])
@pytest.mark.parametrize("status", [StageStatus.MEMORY, StageStatus.TOO_LARGE, StageStatus.ENGINE])
def test_what_went_wrong_inside_is_what_counts(status: StageStatus, early: bool) -> None:
    """Whether or not the agent had ended by then; it does not go on without its tools."""
    pretended = Pretended(told(status, detail="why"), early=early)
    result = run(pretended, WAITING if early else "pass")
    assert (result.status, result.exit_code, result.detail) == (status, None, "why")


def test_tools_that_come_to_no_end_are_no_unchanged_workspace() -> None:
    """What a frozen service held is lost, and nobody takes that for files as they were."""
    frozen = replace(told(StageStatus.TIMEOUT), trees={})
    result = run(Pretended(frozen))
    assert (result.status, result.exit_code) == (StageStatus.TIMEOUT, None)
    assert result.detail == "the tools of the agent came to no end"


@pytest.mark.parametrize("says", [None, b""])
def test_tools_that_fail_are_no_fault_of_the_agent(says: bytes | None) -> None:
    """Before they began or later: not measured, with their last words."""
    result = told(StageStatus.EXITED, 1, log=b"Traceback\nKeyError: 7")
    result = run(Pretended(result, says=says, early=True), WAITING)
    assert result.status is StageStatus.ENGINE
    assert result.detail == "its tools ended with 1: KeyError: 7"


def test_a_sandbox_without_python_can_not_be_used() -> None:
    """It is said what is missing, and no trial is made."""
    missing = told(StageStatus.NOT_FOUND, detail="python3: no such program")
    with pytest.raises(NotAvailableError, match="python3") as caught:
        run(Pretended(missing, says=None))
    assert "python3" in caught.value.hint


@pytest.mark.parametrize(
    "said", [b"no json\n", b"[]\n", b'{"id": Infinity}\n', b'{"id": 1, "a": ' + b"[" * 5000 + b"\n"]
)
def test_nonsense_from_inside_ends_the_tools(said: bytes, tmp_path: Path) -> None:
    """Whoever waits for an answer is told so."""
    place = tmp_path / "sandbox"
    with (
        open_service(place) as service,
        socket.create_connection(("127.0.0.1", service.port)) as inside,
        ThreadPoolExecutor(1) as pool,
    ):
        inside.sendall(service.word.encode() + b"\n")
        assert service.connected.wait(20)
        asked = pool.submit(Client(str(place)).ask, Read(path="a"))
        assert json.loads(inside.makefile("rb").readline())["path"] == "a"
        inside.sendall(said)
        with pytest.raises(UsageError, match="the sandbox has ended"):
            asked.result()


def test_only_what_is_sound_of_an_answer_is_passed_on() -> None:
    """Fields of another kind, and unknown ones, are left out."""
    said = {"id": 1, "exit_code": "0", "output": 7, "bytes": 3, "timed_out": None, "more": 1}
    pretended = Pretended(told(StageStatus.EXITED, 0), says=json.dumps(said).encode() + b"\n")
    result = run(pretended, ASKING)
    assert json.loads(result.log).keys() == {"id", "seconds", "bytes"}
    (call,) = result.calls
    assert (call.exit_code, call.bytes, call.timed_out) == (None, 3, False)


def test_what_is_answered_last_is_a_call_as_any_other() -> None:
    """The agent has ended by then, and the sandbox ends right behind the answer."""
    said = [json.dumps({"id": n + 1, "bytes": n}).encode() + b"\n" for n in range(MANY)]
    pretended = Pretended(told(StageStatus.EXITED, 0), says=b"".join(said), late=True)
    calls = run(pretended, ASKING_ONLY).calls
    assert [call.bytes for call in calls] == list(range(MANY))


def test_more_files_than_are_taken_back_are_too_large(tmp_path: Path) -> None:
    """As for an agent inside."""
    code = ASKING.replace('"true"', f'"seq {MAX_FILES + 1} | xargs touch"')
    result = run(ProcessProvider(tmp_path), code)
    assert (result.status, result.exit_code) == (StageStatus.TOO_LARGE, None)


def test_only_who_knows_the_word_is_the_service(tmp_path: Path) -> None:
    """And only one: whoever comes later is hung up on."""
    with open_service(tmp_path / "sandbox") as service:
        refused = socket.create_connection(("127.0.0.1", service.port))
        refused.sendall(b"0" * 32 + b"\n")
        assert refused.recv(1) == b""
        with socket.create_connection(("127.0.0.1", service.port)) as first:
            first.sendall(service.word.encode() + b"\n")
            assert service.connected.wait(20)
            with socket.create_connection(("127.0.0.1", service.port)) as second:
                second.sendall(service.word.encode() + b"\n")
                assert second.recv(1) == b""
        refused.close()


def test_a_socket_of_a_long_path_is_reached(tmp_path: Path) -> None:
    """The system takes 107 bytes; a temporary directory may have more."""
    folder = tmp_path / ("d" * 100)
    folder.mkdir()
    with open_service(folder / "sandbox") as service:
        assert len(os.fsencode(folder)) > 107
        with pytest.raises(UsageError, match="the sandbox has ended"):
            Client(str(folder / "sandbox")).ask(Read(path="a"))
        assert [call.error for call in service.calls] == ["the sandbox has ended"]


def test_more_than_is_ever_sent_is_refused_before(tmp_path: Path) -> None:
    """With words, not by hanging up."""
    with pytest.raises(UsageError, match="24 MiB are more than"):
        Client(str(tmp_path)).ask(Write(path="a", data=bytes(18 << 20)))
