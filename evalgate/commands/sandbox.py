"""`evalgate sandbox`: what an agent on the host does in the sandbox of its trial."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from evalgate.errors import NotAvailableError
from evalgate.sandboxes.client import Client
from evalgate.sandboxes.toolrequest import SECONDS, Exec, Read, Write

#: What `timeout` ends with as well.
LATE: Final = 124


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """What is to be run: one word is a line for a shell, several are a program and its words."""

    words: Sequence[str]
    timeout: float | None = None
    cwd: str | None = None
    stdin: bytes = b""

    @property
    def request(self) -> Exec:
        """The request of the service. UsageError for words that can not be run."""
        one = len(self.words) == 1
        return Exec(
            command=self.words[0] if one else None,
            argv=None if one else self.words,
            timeout=SECONDS if self.timeout is None else self.timeout,
            cwd=self.cwd,
            stdin=self.stdin,
        )


def execute(execution: Execution, environ: Mapping[str, str]) -> int:
    """Run something in the sandbox; its output is printed, its exit code returned.

    Raises:
        NotAvailableError: nobody knows how it ended.
    """
    answer = Client.of(environ).ask(execution.request)
    _print(answer.output or b"")
    if answer.late:
        sys.stderr.write("error: it reached its time-out, and was ended with all it started\n")
        return LATE
    if answer.exit_code is None:
        raise NotAvailableError(
            "the sandbox did not say how the command ended",
            hint="it was given up, or what answers in the sandbox was tampered with",
        )
    return answer.exit_code


def read(path: str, environ: Mapping[str, str]) -> int:
    """Print a file of the sandbox.

    Raises:
        NotAvailableError: the sandbox did not send one.
    """
    data = Client.of(environ).ask(Read(path=path)).data
    if data is None:
        raise NotAvailableError("the sandbox sent no file", hint="what answers was tampered with")
    _print(data)
    return 0


def write(path: str, data: bytes, environ: Mapping[str, str]) -> int:
    """Write a file of the sandbox, with the directories above it.

    Raises:
        NotAvailableError: the sandbox did not say that all of it is written.
    """
    if Client.of(environ).ask(Write(path=path, data=data)).size != len(data):
        raise NotAvailableError(
            "the sandbox did not say that the file is written",
            hint="what answers was tampered with",
        )
    return 0


def _print(data: bytes) -> None:
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()
