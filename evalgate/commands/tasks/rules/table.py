"""Every rule that tasks are held to: its name, what breaks it, and how that is mended."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from evalgate.commands.tasks.rules import files, ids, words
from evalgate.commands.tasks.rules.problem import Problem
from evalgate.tasks.suite import Folder


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A rule: ``look`` finds what breaks it among all folders of a suite."""

    name: str
    what: str
    hint: str
    look: Callable[[Sequence[Folder]], Iterable[Problem]]


RULES: Final = (
    Rule(
        name="unreadable",
        what="the task can not be read: a file is missing, a key unknown, a value or path wrong",
        hint="docs/tasks.md of git-evalgate lists every key",
        look=words.unreadable,
    ),
    Rule(
        name="id-taken",
        what="two ids are the same; upper and lower case, and Unicode's forms, do not count",
        hint="give one of them another [task] name",
        look=ids.same_ids,
    ),
    Rule(
        name="key-taken",
        what="two ids have the same name on disk",
        hint="give one of them another [task] name",
        look=ids.same_keys,
    ),
    Rule(
        name="id-form",
        what="an id is not in NFC, has blanks around it or what nobody sees, or holds"
        " `*`, `?`, `[`, `]` or `:`",
        hint="use words and dashes",
        look=ids.unusual_forms,
    ),
    Rule(
        name="folder-taken",
        what="two folders are one on a disk where upper and lower case do not count",
        hint="git mv one of them",
        look=ids.same_folders,
    ),
    Rule(
        name="path-taken",
        what="two files of a task are one on such a disk",
        hint="git mv one of them",
        look=files.folding_paths,
    ),
    Rule(
        name="crlf",
        what="a script of the tests or the solution, or task.toml, instruction.md or Dockerfile,"
        " has lines that end with CR LF",
        hint="write '*.sh text eol=lf' to .gitattributes, then git add --renormalize",
        look=files.carriage_returns,
    ),
    Rule(
        name="link-out",
        what="a symbolic link leads out of workspace, tests or solution",
        hint="put the file itself there",
        look=files.links_out,
    ),
    Rule(
        name="check",
        what="a check is of an unknown kind, or its parameters are wrong",
        hint="docs/tasks.md of git-evalgate lists the checks",
        look=words.wrong_checks,
    ),
    Rule(
        name="no-limits",
        what="agent.timeout_sec, verifier.timeout_sec or metadata.evalgate.max_turns is not said",
        hint="say all three: 120, 60 and 15 are what is taken without them",
        look=words.no_limits,
    ),
    Rule(
        name="path-unknown",
        what="one of expected_files is neither in the workspace nor in the solution, or"
        " a file_unchanged looks at what is not in the workspace",
        hint="correct the name",
        look=words.unknown_paths,
    ),
    Rule(
        name="no-instruction",
        what="instruction.md is empty",
        hint="say what is wrong and what would be right, not how to do it",
        look=words.empty_instructions,
    ),
    Rule(
        name="no-solution",
        what="there is no solution, so that nobody knows that the task can be solved",
        hint="put one into solution/, with a solve.sh that lays it in, or a right answer.txt",
        look=files.no_solutions,
    ),
    Rule(
        name="stray",
        what="something lies in the folder that nothing reads",
        hint="instruction.md, environment/, tests/ and solution/ are what is read",
        look=files.strays,
    ),
)
