"""Rules about the files of a task's folder."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence

from evalgate.commands.tasks.rules.problem import Problem
from evalgate.core.files import File, FileMode
from evalgate.core.identity import folded
from evalgate.tasks.suite import Folder

_WORDS = ("task.toml", "instruction.md", "environment/Dockerfile")
_READ = {"task.toml", "instruction.md", "environment", "tests", "solution"}
_PLAIN = ("readme", "license", "licence", "notice", "authors", ".git")


def carriage_returns(folders: Sequence[Folder]) -> Iterator[Problem]:
    r"""A script with ``\r\n`` does not run: the shell takes ``\r`` for a part of the word."""
    for folder in folders:
        for path, file in sorted(folder.files.items()):
            if (path in _WORDS or _is_script(folder, path, file)) and b"\r\n" in file.data:
                line = file.data[: file.data.index(b"\r\n")].count(b"\n") + 1
                words = "lines end with CR LF"
                yield Problem(file=f"{folder.path}/{path}", line=line, words=words)


def links_out(folders: Sequence[Folder]) -> Iterator[Problem]:
    """A symbolic link that leads out of the task's own files finds something else elsewhere."""
    for folder in folders:
        for path, file in sorted(folder.files.items()):
            if file.mode is not FileMode.SYMLINK:
                continue
            target = file.data.decode("utf-8", "surrogateescape")
            top = "" if folder.format else _top(path)
            joined = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
            outside = joined.split("/")[0] == ".." or not f"{joined}/".startswith(top)
            if target.startswith("/") or outside:
                yield Problem(file=f"{folder.path}/{path}", words=f"leads out, to {target!r}")


def folding_paths(folders: Sequence[Folder]) -> Iterator[Problem]:
    """Two files of a task are one where the file system folds names."""
    for folder in folders:
        seen: dict[str, str] = {}
        for path in sorted(folder.files):
            first = seen.setdefault(folded(path), path)
            if first != path:
                words = f"is the same as {first!r} where case or Unicode forms do not count"
                yield Problem(file=f"{folder.path}/{path}", words=words)


def strays(folders: Sequence[Folder]) -> Iterator[Problem]:
    """A file that nothing reads, often because of a wrong name."""
    for folder in folders:
        # Other formats refuse such a file when they are read.
        tops = set() if folder.format else {path.split("/")[0] for path in folder.files}
        for top in sorted(tops - _READ):
            if not top.casefold().startswith(_PLAIN):
                yield Problem(file=f"{folder.path}/{top}", words="nothing reads this")


def no_solutions(folders: Sequence[Folder]) -> Iterator[Problem]:
    """Without a solution nobody knows that a task can be solved."""
    for folder in folders:
        if folder.task is not None and not folder.task.solution:
            yield Problem(file=folder.path, words="there is no solution/")


def _is_script(folder: Folder, path: str, file: File) -> bool:
    ours = folder.format or path.startswith(("tests/", "solution/"))
    return bool(ours) and (path.endswith(".sh") or file.data.startswith(b"#!"))


def _top(path: str) -> str:
    """Return the place that a file is laid in with, beyond which links lead to nothing."""
    for top in ("environment/workspace/", "environment/", "tests/", "solution/"):
        if path.startswith(top):
            return top
    return ""
