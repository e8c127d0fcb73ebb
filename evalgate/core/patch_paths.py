"""What a stranger's patch would touch, before any program is given it."""

from __future__ import annotations

import re
from typing import Final

from evalgate.core.files import is_safe_path

_HUNK: Final = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")
_NAMED: Final = re.compile(r"(?:---|\+\+\+) (?P<file>.+)|(?:rename|copy) (?:from|to) (?P<moved>.+)")
_BOTH: Final = re.compile(
    r'diff --git (?P<old>"(?:[^"\\]|\\.)*"|\S.*) (?P<new>"(?:[^"\\]|\\.)*"|b/.*)'
)
_MODE: Final = re.compile(r"(?:new file mode|new mode|index \S+) (?:120000|160000)")
_ESCAPE: Final = re.compile(rb"\\([0-7]{3}|.)", re.DOTALL)
_LETTERS: Final = {b"a": b"\a", b"b": b"\b", b"t": b"\t", b"n": b"\n", b"v": b"\v", b"f": b"\f",
                   b"r": b"\r"}  # fmt: skip


def paths_of_patch(data: bytes) -> tuple[str, ...]:
    """Return the paths that a unified diff touches, below ``a/`` and ``b/``, each once.

    Raises:
        ValueError: it is no such diff, or is cut off; it makes a link or a module, or a path leaves
            the tree. The message says on which line.
    """
    if b"\0" in data:
        raise ValueError(f"line {data[: data.index(0)].count(10) + 1}: holds NUL")
    lines = data.decode("utf-8", "surrogateescape").split("\n")
    found: dict[str, None] = {}
    changes = at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        try:
            found.update(dict.fromkeys(_paths(line)))
            if _MODE.match(line):
                raise ValueError("makes a link or a module")  # noqa: TRY301 - the line is added
            if hunk := _HUNK.match(line):
                if not found:
                    raise ValueError("is a hunk of no file")  # noqa: TRY301
                at = _after_hunk(lines, at, int(hunk[1] or 1), int(hunk[2] or 1))
        except ValueError as error:
            raise ValueError(f"line {at}: {error}") from error
        changes += bool(hunk) or line.startswith(("rename to ", "GIT binary patch", "deleted file"))
        changes += line.startswith(("new file", "new mode", "copy to "))
    if not found or not changes:
        raise ValueError("changes no file as a unified diff does")
    return tuple(found)


def _paths(line: str) -> list[str]:
    if both := _BOTH.match(line):
        return [_inside(both["old"], "a/"), _inside(both["new"], "b/")]
    if not (named := _NAMED.fullmatch(line.rstrip("\r"))):
        return []
    if named["moved"]:
        return [_inside(named["moved"], "")]
    # A time may stand behind a tab.
    name = named["file"].partition("\t")[0]
    return [] if name == "/dev/null" else [_inside(name, "a/" if line[0] == "-" else "b/")]


def _inside(name: str, prefix: str) -> str:
    name = _unquoted(name)
    path = name.removeprefix(prefix)
    if (prefix and path == name) or not is_safe_path(path):
        raise ValueError(f"{name[:80]!r} leaves the tree, or does not begin with {prefix!r}")
    return path


def _unquoted(name: str) -> str:
    """Return a name that git has put between quotes, as it is."""
    if not (name.startswith('"') and name.endswith('"') and len(name) > 1):
        return name

    def letter(found: re.Match[bytes]) -> bytes:
        one = found[1]
        return bytes([int(one, 8) & 0xFF]) if len(one) > 1 else _LETTERS.get(one, one)

    inner = name[1:-1].encode("utf-8", "surrogateescape")
    return _ESCAPE.sub(letter, inner).decode("utf-8", "surrogateescape")


def _after_hunk(lines: list[str], at: int, old: int, new: int) -> int:
    # Counted: a line that is taken away may itself look like the header of a file.
    while old > 0 or new > 0:
        # The piece behind the last line's end is no line.
        if at >= len(lines) - 1 or lines[at][:1] not in {"", " ", "-", "+", "\\", "\r"}:
            raise ValueError("its hunk is cut off")
        kind = lines[at][:1]
        old -= kind not in {"+", "\\"}
        new -= kind not in {"-", "\\"}
        at += 1
    return at
