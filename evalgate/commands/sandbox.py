"""`evalgate sandbox`: what an agent on the host does in the sandbox of its trial."""

from __future__ import annotations

import base64
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from evalgate.sandboxes.client import Client

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
    def request(self) -> dict[str, Any]:
        """The request of the service."""
        request: dict[str, Any] = {"kind": "exec"}
        if len(self.words) == 1:
            request["command"] = self.words[0]
        else:
            request["argv"] = list(self.words)
        if self.timeout is not None:
            request["timeout"] = self.timeout
        if self.cwd is not None:
            request["cwd"] = self.cwd
        if self.stdin:
            request["stdin"] = base64.b64encode(self.stdin).decode()
        return request


def execute(execution: Execution, environ: Mapping[str, str]) -> int:
    """Run something in the sandbox; its output is printed, its exit code returned."""
    answer = Client.of(environ).ask(execution.request)
    _print(base64.b64decode(answer.get("output", "")))
    if answer.get("timed_out"):
        sys.stderr.write("error: it reached its time-out, and was ended with all it started\n")
        return LATE
    return int(answer.get("exit_code") or 0) & 0xFF


def read(path: str, environ: Mapping[str, str]) -> int:
    """Print a file of the sandbox."""
    _print(base64.b64decode(Client.of(environ).ask({"kind": "read", "path": path}).get("data", "")))
    return 0


def write(path: str, data: bytes, environ: Mapping[str, str]) -> int:
    """Write a file of the sandbox, with the directories above it."""
    content = base64.b64encode(data).decode()
    Client.of(environ).ask({"kind": "write", "path": path, "data": content})
    return 0


def _print(data: bytes) -> None:
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()
