"""Commits as mining reads them: along first parents, each with its message and what it changes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from evalgate.core.commits import Commit, says_fix
from evalgate.core.plain import readable
from evalgate.errors import UsageError
from evalgate.repo.git import Git

_MERGED: Final = 2
#: The first line of a merge that nobody wrote, and what git lists below one.
_CALLED: Final = re.compile(
    r"\AMerge (?:(?:remote-tracking )?branch(?:es)?|pull request|tag|commit|https?:)[^\n]*"
)
_LISTED: Final = re.compile(
    r"^(?:[A-Z][A-Za-z]+(?:-[A-Za-z]+)*-by: .*|(?:# )?Conflicts:\n(?:#?[ \t]+\S.*\n?)*)",
    re.MULTILINE,
)
#: What no message and no path can hold: ids between three NULs and two, then the message.
_HEAD: Final = re.compile(r"\0{3}([0-9a-f]{40,64}(?: [0-9a-f]{40,64})* ?)\0\0([^\0]*)\0\0")


def read_commits(git: Git, span: str, *, most: int) -> Iterator[Commit]:
    """Yield up to ``most`` commits of a revision or range, the newest first.

    Raises:
        UsageError: it names no commit.
    """
    ends = [end for end in span.replace("...", "..").split("..") if end]
    if not ends or span.startswith("-"):
        raise UsageError(f"not a range of commits: {span!r}", hint="as HEAD, or v1.0..HEAD")
    for end in ends:
        git.resolve(end)
    out = git.run(
        "log",
        "--first-parent",
        "--diff-merges=first-parent",
        "--no-renames",
        "--name-status",
        "-z",
        f"--max-count={most}",
        "--format=%x00%x00%x00%H %P%x00%x00%B%x00%x00",
        "--end-of-options",
        span,
        "--",
    )
    text = out.decode("utf-8", "surrogateescape")
    heads = list(_HEAD.finditer(text))
    stops = [*(head.start() for head in heads[1:]), len(text)]
    for head, stop in zip(heads, stops, strict=False):  # without a head there is one end
        yield _commit(git, head[1].split(), readable(head[2]), text[head.end() : stop])


def one_commit(git: Git, rev: str) -> Commit:
    """Return one commit; UsageError when there is none of that name."""
    return next(read_commits(git, git.resolve(rev), most=1))


def _commit(git: Git, ids: list[str], message: str, names: str) -> Commit:
    oid, *parents = ids
    fields = [field for field in names.strip("\n").split("\0") if field.strip("\n")]
    pairs = list(zip(fields[0::2], fields[1::2], strict=False))
    if len(parents) >= _MERGED:
        message = _of_merge(git, message, f"{parents[0]}..{oid}")
    return Commit(
        id=oid,
        parent=parents[0] if parents else "",
        message=message,
        changed=tuple(path for status, path in pairs if status.strip() != "D"),
        deleted=tuple(path for status, path in pairs if status.strip() == "D"),
    )


def _of_merge(git: Git, message: str, span: str) -> str:
    """Return what a merge is told as: its own words, and if these name no fix, those of its fixes.

    What git calls a merge and lists below it says nothing, and its number is no issue's.
    """
    own = _LISTED.sub("", _CALLED.sub("", message)).strip()
    if says_fix(own):
        return own
    out = git.run("log", "--reverse", "--no-merges", "-z", "--format=%B", span, "--")
    messages = list(filter(None, map(readable, out.decode("utf-8", "replace").split("\0"))))
    fixes = [one for one in messages if says_fix(one)]
    return "\n\n".join(filter(None, [own, *fixes])) or "\n\n".join(messages)
