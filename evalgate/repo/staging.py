"""What is on disk, put into a temporary index as ``git add -A`` would.

``git add`` itself is not used: it fails where a pathspec matches nothing, honours
assume-unchanged, and refuses paths outside a sparse checkout.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence

from evalgate.errors import UsageError
from evalgate.repo.git import Git

#: A shared index would be written beside the user's; a line-end warning would stop here.
_PLAIN = ("-c", "core.splitIndex=false", "-c", "core.safecrlf=false")

#: More conflicts than these are told by the folder they lie in.
_FEW = 3


def stage_worktree(git: Git, paths: Sequence[str]) -> None:
    """Bring the index of ``git`` in line with the disk where the pathspecs match."""
    untracked = _unveil(git, paths)
    gone, changed = _differences(git, paths)
    _require_files(git, changed)
    _update(git, ("--force-remove",), gone)
    _update(git, ("--add", "--replace"), changed + untracked)


def write_tree(git: Git) -> str:
    """Write the index of ``git`` as a tree and return its id."""
    try:
        return git.run(*_PLAIN, "write-tree", "--missing-ok").decode().strip()
    except UsageError:
        fields = git.run(*_PLAIN, "ls-files", "-u", "-z").split(b"\0")
        names = {field.partition(b"\t")[2] for field in fields if field}
        if names:
            raise _unmerged(names) from None
        raise


def _unveil(git: Git, paths: Sequence[str]) -> list[bytes]:
    """Drop the marks that hide edits on disk; return the untracked files."""
    command = ("ls-files", "-v", "-z", "-c", "-o", "--exclude-standard", "--", *paths)
    assumed, skipped, untracked = [], [], []
    for field in git.run(*_PLAIN, *command).split(b"\0"):
        tag, path = field[:1], field[2:]
        if tag == b"?":
            # A nested repository ends with a slash: it is no file and its files are not ours.
            untracked += [] if path.endswith(b"/") else [path]
            continue
        if tag.islower():
            assumed.append(path)
        # Not on disk and marked is a sparse checkout, not a deletion; on disk it counts.
        if tag.upper() == b"S" and os.path.lexists(os.path.join(os.fsencode(git.top), path)):  # noqa: PTH118 - bytes
            skipped.append(path)
    _update(git, ("--no-assume-unchanged",), assumed)
    _update(git, ("--no-skip-worktree",), skipped)
    return untracked


def _differences(git: Git, paths: Sequence[str]) -> tuple[list[bytes], list[bytes]]:
    """Return the tracked paths that are gone and those that may have changed."""
    command = ("diff-files", "--raw", "-z", "--no-renames", "--ignore-submodules=dirty")
    fields = git.run(*_PLAIN, *command, "--", *paths).split(b"\0")
    states = [(meta[-1:], path) for meta, path in zip(fields[0::2], fields[1::2], strict=False)]
    unmerged = {path for state, path in states if state == b"U"}
    if unmerged:
        raise _unmerged(unmerged)
    gone = [path for state, path in states if state == b"D"]
    return gone, [path for state, path in states if state != b"D"]


def _require_files(git: Git, paths: Sequence[bytes]) -> None:
    """Refuse what git takes for a changed file and can not read; it lists no new ones of these."""
    for path in paths:
        mode = os.lstat(os.path.join(os.fsencode(git.top), path)).st_mode  # noqa: PTH118 - bytes
        if not (stat.S_ISREG(mode) or stat.S_ISLNK(mode) or stat.S_ISDIR(mode)):
            message = f"{os.fsdecode(path)} is no file that can be read"
            raise UsageError(message, hint="restore the file from git")


def _update(git: Git, options: Sequence[str], paths: Sequence[bytes]) -> None:
    if paths:
        lines = b"".join(path + b"\0" for path in paths)
        git.run(*_PLAIN, "update-index", *options, "-z", "--stdin", input=lines)


def _unmerged(paths: set[bytes]) -> UsageError:
    names = sorted(map(os.fsdecode, paths))
    folder = os.path.commonpath(names)
    many = len(names) > _FEW and folder
    said = f"{len(names)} files below {folder}" if many else ", ".join(names)
    hint = "resolve the conflicts and git add them"
    if many:
        restore = f"git restore --source=HEAD --staged --worktree -- {folder}"
        hint += f"; recordings go together: {restore} (or --source=MERGE_HEAD)"
    return UsageError(f"a merge is not finished: {said}", hint=hint)
