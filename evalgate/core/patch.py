"""Apply the unified diffs that `evalgate.core.claim.render_patch` writes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from evalgate.core.claim import claim_of, render_patch, split_lines
from evalgate.core.files import File, FileMode, Tree

_HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_NO_NEWLINE = "\\ No newline"


def apply_patch(snapshot: Tree, patch: str) -> dict[str, File]:
    """Return the files after a patch; ValueError when it is not for this snapshot."""
    files = dict(snapshot)
    for old, new, hunks in _files(patch):
        before = split_lines(files[old].data.decode()) if old in files else []
        mode = files[old].mode if old in files else FileMode.REGULAR
        after = _patched(before, hunks)
        if old is not None and old != new:
            files.pop(old, None)
        if new is not None:
            files[new] = File(data="".join(after).encode(), mode=mode)
    return files


def render_difference(snapshot: Tree, passing: str, failing: str) -> str:
    """Return how the outcome of one patch differs from that of another, as a unified diff."""
    good, bad = apply_patch(snapshot, passing), apply_patch(snapshot, failing)
    return render_patch(good, claim_of(good, bad))


def _files(patch: str) -> Iterator[tuple[str | None, str | None, list[list[str]]]]:
    lines = split_lines(patch)
    at = 0
    while at < len(lines):
        if not lines[at].startswith("--- "):
            at += 1
            continue
        if not lines[at + 1 : at + 2] or not lines[at + 1].startswith("+++ "):
            message = f"the header is cut after {lines[at]!r}"
            raise ValueError(message)
        old, new = _name(lines[at], "a/"), _name(lines[at + 1], "b/")
        at += 2
        hunks: list[list[str]] = []
        while at < len(lines) and (hunk := _HUNK.match(lines[at])):
            end = _end_of_hunk(lines, at + 1, int(hunk[2] or 1), int(hunk[4] or 1))
            hunks.append(lines[at:end])
            at = end
        yield old, new, hunks


def _end_of_hunk(lines: list[str], at: int, old: int, new: int) -> int:
    # Counted, not guessed: a removed line may itself look like the header of a file.
    while at < len(lines) and (old > 0 or new > 0):
        old -= lines[at][:1] in " -"
        new -= lines[at][:1] in " +"
        at += 1
        if at < len(lines) and lines[at].startswith(_NO_NEWLINE):
            at += 1
    return at


def _name(line: str, prefix: str) -> str | None:
    name = line[4:].rstrip("\n")
    name = str(json.loads(name)) if name.startswith('"') else name
    return None if name == "/dev/null" else name.removeprefix(prefix)


def _patched(before: list[str], hunks: list[list[str]]) -> list[str]:
    after: list[str] = []
    at = 0
    for hunk in hunks:
        head = _HUNK.match(hunk[0])
        if head is None:
            message = f"this is no hunk: {hunk[0]!r}"
            raise ValueError(message)
        start = int(head[1]) - (0 if head[2] == "0" else 1)
        after += before[at:start]
        at = start
        for line in _whole_lines(hunk[1:]):
            kind, text = line[:1], line[1:]
            if kind in " -":
                if at >= len(before) or before[at] != text:
                    message = f"line {at + 1} is not {text!r}"
                    raise ValueError(message)
                at += 1
            if kind in " +":
                after.append(text)
    return after + before[at:]


def _whole_lines(lines: list[str]) -> Iterator[str]:
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if not line.startswith(_NO_NEWLINE):
            yield line.removesuffix("\n") if following.startswith(_NO_NEWLINE) else line
