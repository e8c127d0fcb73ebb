"""Every format of tasks beside our own: its name -> how it is known, and how it is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from evalgate.core.files import Tree
from evalgate.errors import UsageError
from evalgate.tasks import criteria, golden, snapshot, swebench, terminal_bench
from evalgate.tasks.draft import Draft
from evalgate.tasks.marks import CRITERIA, IN_PLACE

#: What one is asked with: the files of a folder by their paths in it, or one file by its name.
Known = Callable[[Tree], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """A format: what it is, how files are known to be it, and what makes drafts of them.

    Those in `IN_PLACE` are loaded as they are; the others are imported.
    """

    what: str
    known: Known
    read: Callable[[str, Tree], tuple[Draft, ...]]


def _only(files: Tree, *endings: str) -> bytes:
    """Return the bytes of the one file there is, if it has such an ending."""
    names = list(files)
    return files[names[0]].data if len(names) == 1 and names[0].endswith(endings) else b""


FORMATS: Final[Mapping[str, Format]] = {
    "terminal-bench": Format(
        what="a folder with task.yaml, run-tests.sh and Dockerfile",
        known=lambda files: IN_PLACE["terminal-bench"] in files,
        read=terminal_bench.read_terminal_bench,
    ),
    "snapshot": Format(
        what="a folder with issue.md, repo.tar and hidden_tests/",
        known=lambda files: (
            IN_PLACE["snapshot"] in files
            and any(name == "repo.tar" or name.startswith("hidden_tests/") for name in files)
        ),
        read=snapshot.read_snapshot,
    ),
    "criteria": Format(
        what="JSON with prompt, setup and successCriteria: task.json in a folder, or a file",
        known=lambda files: IN_PLACE["criteria"] in files or CRITERIA in _only(files, ".json"),
        read=criteria.read_criteria,
    ),
    "swe-bench": Format(
        what="rows of JSON with instance_id, base_commit, test_patch and FAIL_TO_PASS",
        known=lambda files: swebench.MARK in _only(files, ".json", ".jsonl"),
        read=swebench.read_swebench,
    ),
    "golden": Format(
        what="a Python file with a list of tables: id, prompt, expected_output or checks",
        known=lambda files: bool(_only(files, ".py")),
        read=golden.read_golden,
    ),
}


def format_of(files: Tree) -> str:
    """Return the name of the format that files are in; nothing for none of these."""
    return next((name for name, one in FORMATS.items() if one.known(files)), "")


def read_drafts(name: str, path: str, files: Tree) -> tuple[Draft, ...]:
    """Read files of a format; ``path`` is their folder, for errors.

    Raises:
        UsageError: what is wrong, with file and line.
    """
    drafts = FORMATS[name].read(path, files)
    if not drafts:
        raise UsageError(f"{path}: holds no task", hint=f"{name}: {FORMATS[name].what}")
    return drafts
