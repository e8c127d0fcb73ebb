"""What an agent on the host may ask of its sandbox: one JSON document a line, bytes as base64."""

from __future__ import annotations

import base64
import binascii
import json
import math
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

#: Seconds that a program may take when nothing is said.
SECONDS: Final = 600.0
#: Bytes of head and of tail that are kept of an output, at most and when nothing is said.
KEEP: Final = 1 << 20

_DAY: Final = 86_400.0
_FIELDS: Final = {
    "exec": {"argv", "command", "timeout", "cwd", "stdin", "keep"},
    "read": {"path"},
    "write": {"path", "data"},
}


class RequestError(Exception):
    """A request that says nothing that can be done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRequest:
    """One request: its kind, the name its sender gave it, and its fields, all of them sound."""

    kind: str
    name: Any
    fields: Mapping[str, Any] = field(default_factory=dict)

    @property
    def told(self) -> str:
        """What is run, as a shell would be told it, or the path of the file."""
        if "argv" in self.fields:
            return shlex.join(self.fields["argv"])
        return str(self.fields.get("command", self.fields.get("path", "")))


def parse_request(line: bytes) -> ToolRequest:
    """Read a request.

    Raises:
        RequestError: it is no such document, or a field of it is missing, wrong or unknown.
    """
    try:
        document = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise RequestError("a request is one JSON object a line") from error
    if not isinstance(document, dict):
        raise RequestError("a request is one JSON object a line")
    fields = dict(document)
    kind, name = fields.pop("kind", None), fields.pop("id", None)
    if not isinstance(kind, str) or kind not in _FIELDS:
        raise RequestError(f"kind: one of {', '.join(_FIELDS)}")
    if unknown := sorted(fields.keys() - _FIELDS[kind]):
        raise RequestError(f"{kind}: unknown field {unknown[0]!r}")
    if kind == "exec":
        fields = _exec(fields)
    else:
        _text(fields, "path")
        if kind == "write":
            _bytes(fields, "data")
    return ToolRequest(kind=kind, name=name, fields=fields)


def _exec(given: Mapping[str, Any]) -> dict[str, Any]:
    fields = {"timeout": SECONDS, "keep": KEEP, **given}
    if ("argv" in fields) == ("command" in fields):
        raise RequestError("exec: give one of argv and command")
    if "argv" in fields:
        words = fields["argv"]
        if not isinstance(words, list) or not words or not all(map(_is_text, words)):
            raise RequestError("argv: a list of words")
    else:
        _text(fields, "command")
    if "cwd" in fields:
        _text(fields, "cwd")
    if "stdin" in fields:
        _bytes(fields, "stdin")
    for name, most in (("timeout", _DAY), ("keep", KEEP)):
        value = fields[name]
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not number or not math.isfinite(value) or not 0 < value <= most:
            raise RequestError(f"{name}: a number above 0, at most {most:g}")
    return {**fields, "keep": int(fields["keep"])}


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value) and "\0" not in value


def _text(fields: Mapping[str, Any], name: str) -> None:
    if not _is_text(fields.get(name)):
        raise RequestError(f"{name}: a text that is not empty")


def _bytes(fields: Mapping[str, Any], name: str) -> None:
    try:
        base64.b64decode(fields.get(name, ""), validate=True)
    except (TypeError, ValueError, binascii.Error) as error:
        raise RequestError(f"{name}: bytes in base64") from error
