"""Text that looks like an agent's work: real code, real prose, and logs made from them.

The code is the standard library of the Python that runs this and the prose is its language
reference, so that they compress as code and prose do; words drawn at random would not. Draws are
seeded: the same Python gives the same text.
"""

from __future__ import annotations

import random
import re
import sysconfig
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from pydoc_data.topics import topics
from typing import Final

_LEFT_OUT: Final = re.compile(r"/(test|tests|idlelib|site-packages|pydoc_data|encodings|lib2to3)/")
_SMALLEST, _LARGEST = 6_000, 90_000
_LONGEST_LINE: Final = 160
_DEFINED: Final = re.compile(r"^\s*(?:def|class) (\w+)", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFile:
    """A file of a workspace: its path there, its lines, and the names it defines."""

    path: str
    lines: tuple[str, ...]
    names: tuple[str, ...]


@cache
def sources() -> tuple[SourceFile, ...]:
    """Return all code there is to draw from, in the order of its paths."""
    root = Path(sysconfig.get_paths()["stdlib"])
    found = []
    for path in sorted(root.rglob("*.py")):
        if _LEFT_OUT.search(path.as_posix()) or not _SMALLEST < path.stat().st_size < _LARGEST:
            continue
        text = path.read_text(errors="replace")
        lines = tuple(line for line in text.splitlines() if len(line) <= _LONGEST_LINE)
        names = tuple(_DEFINED.findall(text)) or ("main",)
        where = path.relative_to(root).as_posix()
        found.append(SourceFile(path=f"src/{where}", lines=lines, names=names))
    return tuple(found)


@cache
def sentences() -> tuple[str, ...]:
    """Return all prose there is to draw from, a sentence each."""
    text = re.sub(r"\s+", " ", " ".join(topics[name] for name in sorted(topics)))
    return tuple(one for one in re.split(r"(?<=[.:]) ", text) if 30 < len(one) < 300)


def prose(rng: random.Random, size: int) -> str:
    """Return sentences of ``size`` characters or a few more."""
    said: list[str] = []
    left = size
    while left > 0:
        said.append(rng.choice(sentences()))
        left -= len(said[-1]) + 1
    return " ".join(said)


def excerpt(rng: random.Random, file: SourceFile, size: int) -> tuple[str, int]:
    """Return lines of a file with their numbers, as a reading tool gives them, and the first."""
    first = rng.randrange(max(1, len(file.lines) - size // 40))
    taken: list[str] = []
    left = size
    for number, line in enumerate(file.lines[first:], start=first + 1):
        if left <= 0:
            break
        taken.append(f"{number:>6}\t{line}")
        left -= len(taken[-1]) + 1
    return "\n".join(taken), first


def found(rng: random.Random, files: tuple[SourceFile, ...], size: int) -> tuple[str, str]:
    """Return what a search gives over some files, and the word it searched for."""
    word = rng.choice(rng.choice(files).names)
    hits = [
        f"{file.path}:{number}:{line}"
        for file in files
        for number, line in enumerate(file.lines, start=1)
        if word in line or word[:4] in line
    ]
    return "\n".join(hits)[: max(200, size)], word


def test_log(rng: random.Random, files: tuple[SourceFile, ...], size: int) -> str:
    """Return the output of a test run with some failures of about ``size`` characters."""
    written = [
        "============================= test session starts ==============================",
        "platform linux -- Python 3.11.7, pytest-8.3.4, pluggy-1.5.0",
        "rootdir: /evalgate/repo",
        f"collected {rng.randrange(40, 400)} items",
        "",
    ]
    left = size - sum(map(len, written))
    while left > 0:
        file = rng.choice(files)
        name = rng.choice(file.names)
        done = rng.randrange(1, 101)
        more = [f"{file.path}::test_{name} PASSED{' ' * rng.randrange(4, 30)}[{done:>3}%]"]
        if rng.random() < 0.25:
            more = _failure(rng, file, name)
        written += more
        left -= sum(len(line) + 1 for line in more)
    passed, failed = rng.randrange(30, 300), rng.randrange(1, 20)
    seconds = rng.uniform(0.2, 30)
    return "\n".join([*written, f"==== {failed} failed, {passed} passed in {seconds:.2f}s ===="])


def _failure(rng: random.Random, file: SourceFile, name: str) -> list[str]:
    start = rng.randrange(max(1, len(file.lines) - 8))
    shown = [f"    {line}" for line in file.lines[start : start + 6]]
    got, wanted = rng.randrange(1000), rng.randrange(1000)
    return [
        f"_________________________ test_{name} _________________________",
        *shown,
        f">       assert result == {wanted}",
        f"E       AssertionError: assert {got} == {wanted}",
        f"{file.path}:{start + 6}: AssertionError",
    ]
