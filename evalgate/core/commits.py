"""A commit as mining sees it: its message, what it changes, and whether a task may lie in it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

#: More source files than this make no sharp task.
MOST_SOURCES: Final = 3
_FIX: Final = re.compile(
    r"\b(?:fix(?:es|ed|ing)?|bug(?:fix(?:es)?)?|clos(?:e[sd]?|ing)|resolv(?:e[sd]?|ing)"
    r"|regression)\b",
    re.IGNORECASE,
)
_ISSUE: Final = re.compile(r"(?:#|\bgh-|/issues/)(\d+)\b", re.IGNORECASE)
#: The number that a squashed pull request leaves at the end of its subject is no issue's.
_PULL: Final = re.compile(r"\(#\d+\)\s*$")
_TEST_FILE: Final = re.compile(r"(?:tests?|test_.*|.*_tests?)\.py")
_TEST_FOLDERS: Final = frozenset({"test", "tests"})
_ASIDE_FOLDERS: Final = frozenset({"doc", "docs", ".github", ".circleci", "changelog", "news"})
_ASIDE: Final = re.compile(
    r".*\.(?:md|rst|txt|cfg|ini|toml|ya?ml|lock|svg|png)|(?:AUTHORS|CHANGE|HISTORY|LICENSE|NEWS).*"
    r"|\.[^/]*|setup\.py|.*(?:__about__|_version|version)\.py",
    re.IGNORECASE,
)


class Kind(StrEnum):
    """What a file is for."""

    SOURCE = "source"
    TEST = "test"
    ASIDE = "aside"


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """A commit on the first-parent line: what it changes is held against its first parent.

    ``changed`` and ``deleted`` are paths. ``message`` holds nothing but what can be seen; it is
    that of a pull request where a merge has one, and else those of what it merged.
    """

    id: str
    parent: str
    message: str
    changed: Sequence[str] = ()
    deleted: Sequence[str] = ()

    @property
    def subject(self) -> str:
        """The first line of the message."""
        return self.message.strip().partition("\n")[0].strip()

    @property
    def issues(self) -> tuple[str, ...]:
        """The numbers of the issues that the message names."""
        return issues_in(self.message)

    @property
    def touched(self) -> tuple[str, ...]:
        """All paths that it changes or deletes."""
        return (*self.changed, *self.deleted)

    def of_kind(self, kind: Kind) -> tuple[str, ...]:
        """Return the touched paths of a kind."""
        return tuple(path for path in self.touched if kind_of(path) is kind)

    @property
    def test_files(self) -> tuple[str, ...]:
        """The Python files of tests that it adds or changes."""
        return tuple(path for path in self.changed if is_test_file(path))


def issues_in(message: str) -> tuple[str, ...]:
    """Return the numbers of the issues that a message names, each once."""
    told = "\n".join(_PULL.sub("", line) for line in message.strip().splitlines())
    return tuple(dict.fromkeys(_ISSUE.findall(told)))


def says_fix(message: str) -> bool:
    """Tell whether a message says that something was mended, or names an issue."""
    return bool(_FIX.search(message) or issues_in(message))


def kind_of(path: str) -> Kind:
    """Tell what a file is for, by its path."""
    *folders, name = path.split("/")
    if is_test_file(path) or _TEST_FOLDERS.intersection(folders) or name == "conftest.py":
        return Kind.TEST
    if _ASIDE.fullmatch(name) or _ASIDE_FOLDERS.intersection(folders):
        return Kind.ASIDE
    return Kind.SOURCE


def is_test_file(path: str) -> bool:
    """Tell whether a path is that of a Python file of tests."""
    return bool(_TEST_FILE.fullmatch(path.rpartition("/")[2]))


def unfit(commit: Commit) -> str | None:
    """Say why a commit is no candidate, None when it is one."""
    if not commit.parent:
        return "it has no parent"
    if not commit.touched:
        return "it changes nothing"
    if not says_fix(commit.message):
        return "its message neither says fix nor names an issue"
    if not commit.test_files:
        return "it touches no file of tests"
    sources = commit.of_kind(Kind.SOURCE)
    if not any(path.endswith(".py") for path in sources):
        return "it touches no source file"
    if len(sources) > MOST_SOURCES:
        return f"it touches more than {MOST_SOURCES} source files"
    return None
