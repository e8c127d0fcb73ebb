"""History as GitPython reads it, for the commands that are not in a hurry.

Only its command wrapper is used: its own object database opens neither sha256 nor sparse
repositories and leaves processes behind.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from evalgate.errors import NotAvailableError, UsageError
from evalgate.repo.git import Git
from evalgate.repo.program import is_stray, isolated

_DEMO = {
    "GIT_AUTHOR_NAME": "evalgate demo",
    "GIT_AUTHOR_EMAIL": "demo@example.invalid",
    "GIT_COMMITTER_NAME": "evalgate demo",
    "GIT_COMMITTER_EMAIL": "demo@example.invalid",
}


def first_parents(git: Git, commit: str, limit: int) -> tuple[str, ...]:
    """Return up to ``limit`` commits from ``commit`` back along first parents."""
    options = ("--first-parent", f"--max-count={limit}")
    return tuple(_ask(git, ("rev-list", *options, git.resolve(commit), "--")).split())


def subject_line(git: Git, commit: str) -> str:
    """Return the first line of a commit's message."""
    text = git.run("cat-file", "commit", git.resolve(commit))
    lines = text.partition(b"\n\n")[2].decode("utf-8", "replace").strip().splitlines()
    return lines[0] if lines else ""


def tags_within(git: Git, commit: str) -> dict[str, str]:
    """Return the tags of commits that ``commit`` has in its history, the newest first.

    Each with the commit that it names.
    """
    named = "%(if)%(*objectname)%(then)%(*objectname)%(else)%(objectname)%(end)"
    options = ("--merged", git.resolve(commit), "--sort=-version:refname", "--sort=-creatordate")
    format_ = f"--format=%(refname:lstrip=2) {named}"
    lines = _ask(git, ("for-each-ref", *options, format_, "refs/tags/")).splitlines()
    return {name: oid for name, _, oid in (line.partition(" ") for line in lines)}


def first_parent_changes(
    git: Git, commit: str, pathspecs: Sequence[str], limit: int
) -> tuple[str, ...]:
    """Return the commits on the first-parent line that changed ``pathspecs``, newest first.

    The oldest commit of a shallow clone looks as if it had added everything, so it is left out.
    """
    options = ("--first-parent", f"--max-count={limit}")
    command = ("rev-list", *options, git.resolve(commit), "--", *pathspecs)
    cut = _shallow_boundary(git)
    found = _ask(git, command).split()
    return tuple(oid for oid in found if oid not in cut or not git.parents(oid))


def changes_between(git: Git, base: str, head: str, pathspecs: Sequence[str]) -> tuple[str, ...]:
    """Return the commits of ``head`` that ``base`` lacks and that changed ``pathspecs``.

    Those of merged branches are among them, whatever became of them in the merge.
    """
    span = (git.resolve(head), f"^{git.resolve(base)}")
    return tuple(_ask(git, ("rev-list", "--full-history", *span, "--", *pathspecs)).split())


def commit_all(path: Path, message: str, *, date: str) -> str:
    """Commit everything below ``path`` in its own repository, made if needed; return the id.

    The result depends on nothing but the files, the message and the date: not on the user's
    configuration, hooks, signing or environment.
    """
    plain = ("core.autocrlf=false", "core.hooksPath=/dev/null", "commit.gpgSign=false")
    options = [word for item in plain for word in ("-c", item)]
    here = [f"--git-dir={path / '.git'}", f"--work-tree={path}", *options]
    env = {**_DEMO, "GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
    if not (path / ".git").exists():
        _start(path, ["init", "-q", "--template=", "--initial-branch=main", "."], env)
    _start(path, [*here, "add", "-A"], env)
    _start(path, [*here, "commit", "-q", "--no-verify", "--allow-empty", "-m", message], env)
    return _start(path, [*here, "rev-parse", "HEAD"], env)


def _shallow_boundary(git: Git) -> frozenset[str]:
    try:
        return frozenset((git.common_dir / "shallow").read_text("ascii").split())
    except FileNotFoundError:
        return frozenset()


def _ask(git: Git, command: Sequence[str], *, ok: Sequence[int] = (0,)) -> str:
    place = (f"--git-dir={git.git_dir}", f"--work-tree={git.top}", "--no-replace-objects")
    return _execute(git.top, [*place, *command], git.environment, ok=ok)


def _start(path: Path, arguments: Sequence[str], env: Mapping[str, str]) -> str:
    return _execute(path, arguments, {**isolated(os.environ), **env})


def _execute(
    cwd: Path, arguments: Sequence[str], env: Mapping[str, str], *, ok: Sequence[int] = (0,)
) -> str:
    if shutil.which("git") is None:  # importing GitPython fails without it
        message = "the program git was not found"
        raise NotAvailableError(message, hint="install git 2.32 or newer")
    from git import Git as Wrapper  # noqa: PLC0415 - slow to import, not needed by hooks
    from git.exc import GitCommandError  # noqa: PLC0415

    # GitPython adds to the environment of this process and can not take away from it.
    stray = [name for name in os.environ if is_stray(name) and name not in env]
    without = [word for name in stray for word in ("-u", name)]
    prefix = ["env", *without] if without else []
    code, out, said = Wrapper(cwd).execute(
        [*prefix, "git", *arguments],
        env=dict(env),
        with_extended_output=True,
        with_exceptions=False,
    )
    if code in ok:
        return str(out)
    reason = (str(said).splitlines() or [f"exit code {code}"])[0]
    message = f"git: {reason.removeprefix('fatal: ')}"
    raise UsageError(message) from GitCommandError(list(arguments), code, str(said))
