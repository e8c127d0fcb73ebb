"""One thing that an agent on the host asked of its sandbox, as it is kept of a trial."""

from __future__ import annotations

from dataclasses import dataclass, replace

from evalgate.core.json import Json
from evalgate.core.redaction import Redactor


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxCall:
    """``kind`` is exec, read or write; ``command`` what was run, or the path of the file.

    ``bytes`` counts the program's output or the file's content, ``timed_out`` and
    ``cancelled`` why it was ended; ``error`` says why nothing was done.
    """

    kind: str
    command: str
    exit_code: int | None = None
    seconds: float = 0.0
    bytes: int = 0
    timed_out: bool = False
    cancelled: bool = False
    error: str = ""

    def redacted(self, redactor: Redactor) -> SandboxCall:
        """Return the call without secrets."""
        return replace(self, command=redactor.text(self.command), error=redactor.text(self.error))

    def labelled(self, token: str, label: str) -> SandboxCall:
        """Return the call with a label in place of what is another one in each trial."""
        command, error = self.command.replace(token, label), self.error.replace(token, label)
        return replace(self, command=command, error=error)

    @property
    def sound(self) -> SandboxCall:
        """The call as it can be kept: what is no UTF-8 in it is escaped."""
        return replace(self, command=_escaped(self.command), error=_escaped(self.error))

    @property
    def asked(self) -> dict[str, Json]:
        """What was asked, without what came of it."""
        return {"kind": self.kind, "command": self.command}

    def to_json(self) -> dict[str, Json]:
        """Return the JSON form."""
        return {
            "kind": self.kind,
            "command": self.command,
            "exit_code": self.exit_code,
            "seconds": self.seconds,
            "bytes": self.bytes,
            "timed_out": self.timed_out,
            **({"cancelled": True} if self.cancelled else {}),
            **({"error": self.error} if self.error else {}),
        }


def _escaped(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()
