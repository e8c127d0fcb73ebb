"""What an agent on the host may ask of its sandbox: one JSON document a line, bytes as base64."""

from __future__ import annotations

import base64
import binascii
import json
import math
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from evalgate.errors import UsageError

#: Seconds that a program may take when nothing is said.
SECONDS: Final = 600.0
#: Bytes of head and of tail that are kept of an output, at most and when nothing is said.
KEEP: Final = 1 << 20

_DAY: Final = 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Exec:
    """Run a line of a shell (``command``) or a program and its words (``argv``), one of them.

    ``timeout`` is in seconds, ``cwd`` relative to the repository; ``keep`` bytes are kept of the
    output's head and of its tail. UsageError naming the field that is wrong.
    """

    kind: ClassVar[str] = "exec"

    argv: Sequence[str] | None = None
    command: str | None = None
    timeout: float = SECONDS
    cwd: str | None = None
    stdin: bytes = b""
    keep: int = KEEP

    def __post_init__(self) -> None:
        """Refuse what can not be run."""
        if (self.argv is None) == (self.command is None):
            raise UsageError("exec: give one of argv and command")
        if self.argv is not None:
            words = self.argv
            if not isinstance(words, (list, tuple)) or not words or not all(map(_is_text, words)):
                raise UsageError("argv: a list of words")
        else:
            _require_text("command", self.command)
        if self.cwd is not None:
            _require_text("cwd", self.cwd)
        _require_number("timeout", self.timeout, most=_DAY)
        _require_number("keep", self.keep, most=KEEP)

    @property
    def told(self) -> str:
        """What is run, as a shell would be told it."""
        return self.command or shlex.join(self.argv or ())

    def dump(self) -> dict[str, Any]:
        """Return the document."""
        what = {"command": self.command} if self.argv is None else {"argv": list(self.argv)}
        return {
            "kind": self.kind,
            **what,
            "timeout": self.timeout,
            "keep": int(self.keep),
            **({} if self.cwd is None else {"cwd": self.cwd}),
            **({"stdin": to_base64(self.stdin)} if self.stdin else {}),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """Read a file. UsageError for what is no path."""

    kind: ClassVar[str] = "read"

    path: str

    def __post_init__(self) -> None:
        """Refuse what is no path."""
        _require_text("path", self.path)

    @property
    def told(self) -> str:
        """The path."""
        return self.path

    def dump(self) -> dict[str, Any]:
        """Return the document."""
        return {"kind": self.kind, "path": self.path}


@dataclass(frozen=True, slots=True, kw_only=True)
class Write:
    """Write a file, with the directories above it. UsageError for what is no path."""

    kind: ClassVar[str] = "write"

    path: str
    data: bytes = b""

    def __post_init__(self) -> None:
        """Refuse what is no path."""
        _require_text("path", self.path)

    @property
    def told(self) -> str:
        """The path."""
        return self.path

    def dump(self) -> dict[str, Any]:
        """Return the document."""
        return {"kind": self.kind, "path": self.path, "data": to_base64(self.data)}


ToolRequest = Exec | Read | Write

_KINDS: Final[Mapping[str, tuple[Callable[..., ToolRequest], frozenset[str]]]] = {
    "exec": (Exec, frozenset({"argv", "command", "timeout", "cwd", "stdin", "keep"})),
    "read": (Read, frozenset({"path"})),
    "write": (Write, frozenset({"path", "data"})),
}


def load_request(line: bytes) -> tuple[ToolRequest, Any]:
    """Read a request, and the name that its sender gave it.

    Raises:
        UsageError: it is no such document, or a field of it is missing, wrong or unknown.
    """
    try:
        document = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise UsageError("a request is one JSON object a line") from error
    if not isinstance(document, dict):
        raise UsageError("a request is one JSON object a line")
    fields = dict(document)
    kind, name = fields.pop("kind", None), fields.pop("id", None)
    if not isinstance(kind, str) or kind not in _KINDS:
        raise UsageError(f"kind: one of {', '.join(_KINDS)}")
    make, known = _KINDS[kind]
    if unknown := sorted(fields.keys() - known):
        raise UsageError(f"{kind}: unknown field {unknown[0]!r}")
    if kind == "write":
        fields.setdefault("data", None)
    for field in fields.keys() & {"stdin", "data"}:
        content = from_base64(fields[field])
        if content is None:
            raise UsageError(f"{field}: bytes in base64")
        fields[field] = content
    return make(**{"path": None, **fields} if kind != "exec" else fields), name


def to_base64(data: bytes) -> str:
    """Return bytes as they are sent."""
    return base64.b64encode(data).decode()


def from_base64(text: object) -> bytes | None:
    """Return bytes that were sent; None when there are none in it."""
    try:
        return base64.b64decode(text, validate=True) if isinstance(text, str) else None
    except (ValueError, binascii.Error):
        return None


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value) and "\0" not in value


def _require_text(name: str, value: object) -> None:
    if not _is_text(value):
        raise UsageError(f"{name}: a text that is not empty")


def _require_number(name: str, value: object, *, most: float) -> None:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not number or not math.isfinite(value) or not 0 < value <= most:  # type: ignore[arg-type,operator]
        raise UsageError(f"{name}: a number above 0, at most {most:g}")
