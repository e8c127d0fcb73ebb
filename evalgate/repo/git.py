"""One repository, found once, and asked with nothing left to chance.

Hooks run with GIT_DIR, GIT_WORK_TREE and GIT_INDEX_FILE set. `Git.locate` listens to them
once; every later call names the repository explicitly and drops them.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NoReturn

from evalgate.errors import UsageError
from evalgate.repo.program import GitFailedError, call_git, scrubbed

#: Git knows the empty tree of each object format without storing it.
_EMPTY_TREE = {
    "sha1": "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    "sha256": "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
}
_ALTERNATES = "GIT_ALTERNATE_OBJECT_DIRECTORIES"
#: The way out where a shallow clone lacks a commit.
DEEPER = "the clone is shallow: git fetch --unshallow (in GitHub Actions: fetch-depth: 0)"

_QUESTIONS = (
    "--show-toplevel",
    "--absolute-git-dir",
    "--git-common-dir",
    "--show-object-format",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Git:
    """A repository with a work tree; all paths are absolute.

    ``index_file`` is the index the caller's environment named (a hook of ``git commit -a``
    sees another one than ``.git/index``); it is read for the subject INDEX and nothing else.
    """

    top: Path
    git_dir: Path
    common_dir: Path
    object_format: str
    index_file: Path
    environment: Mapping[str, str] = field(repr=False)

    @classmethod
    def locate(cls, start: Path, *, environ: Mapping[str, str] | None = None) -> Git:
        """Find the repository ``start`` lies in, as git itself would with this environment."""
        given = dict(os.environ if environ is None else environ)
        for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR"):
            if given.get(name):
                given[name] = os.path.abspath(given[name])  # noqa: PTH100 - no link resolved
        top, git_dir, common, object_format = _ask(start, given)
        if given.get("GIT_DIR") and not given.get("GIT_WORK_TREE"):
            top = _top_of_same(start, given, git_dir) or top
        root = Path(top)
        index = given.get("GIT_INDEX_FILE")
        return cls(
            top=root,
            git_dir=Path(git_dir),
            common_dir=Path(os.path.abspath(start / common)),  # noqa: PTH100
            object_format=object_format,
            # Git reads a relative GIT_INDEX_FILE from the top of the work tree.
            index_file=root / index if index else Path(git_dir, "index"),
            environment=scrubbed(given) | _object_stores(given),
        )

    def run(
        self,
        *args: str,
        input: bytes = b"",  # noqa: A002 - the word subprocess uses
        env: Mapping[str, str] | None = None,
        ok: Sequence[int] = (0,),
    ) -> bytes:
        """Run one git command on this repository; ``env`` adds to the scrubbed environment."""
        return call_git(
            (
                "--no-replace-objects",
                f"--git-dir={self.git_dir}",
                f"--work-tree={self.top}",
                # A question must not start the user's file monitor.
                "-c",
                "core.fsmonitor=false",
                *args,
            ),
            cwd=self.top,
            env={**self.environment, **(env or {})},
            input=input,
            ok=ok,
        )

    def compare_trees(self, *args: str) -> bytes:
        """Run ``diff-tree -r``, which reads the whole index for nothing unless there is none.

        A submodule counts also where ``.gitmodules`` or a setting says to ignore it.
        """
        nowhere = {"GIT_INDEX_FILE": str(self.git_dir / "evalgate-no-index")}
        return self.run("diff-tree", "-r", "--ignore-submodules=none", *args, env=nowhere)

    def lookup(self, *names: str, env: Mapping[str, str] | None = None) -> tuple[str | None, ...]:
        """Return the object id of each name, None where there is no such object.

        Names travel on standard input, so none of them can be taken for an option.
        """
        for name in names:
            if "\n" in name or "\0" in name:
                message = f"not a revision: {name!r}"
                raise UsageError(message)
        lines = "".join(f"{name}\n" for name in names).encode("utf-8", "surrogateescape")
        reply = self.run("cat-file", "--batch-check=%(objectname)", input=lines, env=env)
        width = len(self.empty_tree())
        found = reply.decode("utf-8", "surrogateescape").splitlines()
        return tuple(line if len(line) == width and _is_hex(line) else None for line in found)

    def resolve(self, rev: str) -> str:
        """Return the commit ``rev`` names, or raise a `UsageError` that says what is wrong."""
        (oid,) = self.lookup(f"{rev}^{{commit}}")
        if oid is None:
            self.refuse(rev)
        return oid

    def refuse(self, rev: str) -> NoReturn:
        """Raise the `UsageError` for a revision that names no commit."""
        if self.lookup("HEAD^{commit}") == (None,):
            message = "there is no commit yet"
            raise UsageError(message, hint="make a first commit: git add -A && git commit")
        message = f"no such commit: {rev!r}"
        raise UsageError(message, hint=DEEPER if self.is_shallow() else "see git log")

    def parents(self, commit: str) -> tuple[str, ...]:
        """Return the parents written in the commit, also where a shallow clone hides them."""
        text = self.run("cat-file", "commit", self.resolve(commit))
        header = text.partition(b"\n\n")[0].split(b"\n")
        return tuple(line[7:].decode() for line in header if line.startswith(b"parent "))

    def has(self, oid: str) -> bool:
        """Tell whether an object is here, without fetching it where git can refrain."""
        return self.lookup(oid, env={"GIT_NO_LAZY_FETCH": "1"}) != (None,)

    def is_shallow(self) -> bool:
        """Tell whether history was cut off when this repository was cloned."""
        return (self.common_dir / "shallow").exists()

    def merge_bases(self, one: str, other: str) -> tuple[str, ...]:
        """Return all best common ancestors: two after a criss-cross merge.

        None at all: there is none, or a shallow clone hides it.
        """
        left, right = self.lookup(f"{one}^{{commit}}", f"{other}^{{commit}}")
        if left is None or right is None:
            self.refuse(other if left else one)
        found = self.run("merge-base", "--all", left, right, ok=(0, 1)).split()
        return tuple(oid.decode() for oid in found)

    def empty_tree(self) -> str:
        """Return the id of the tree without entries."""
        return _EMPTY_TREE[self.object_format]

    def reading(self, *stores: Path) -> Git:
        """Return this repository with more object directories to read from."""
        return replace(self, environment=_with_alternates(self.environment, stores))

    def reading_with(self, other: Git) -> Git:
        """Return this repository able to read what another view of it can read."""
        more = other.environment.get(_ALTERNATES, "")
        known = self.environment.get(_ALTERNATES, "")
        if not more or more == known:
            return self
        joined = os.pathsep.join(filter(None, (known, more)))
        return replace(self, environment={**self.environment, _ALTERNATES: joined})

    def writing(self, store: Path, index: Path) -> Git:
        """Return this repository with new objects and the index kept elsewhere."""
        own = Path(self.environment.get("GIT_OBJECT_DIRECTORY") or self.common_dir / "objects")
        environment = _with_alternates(self.environment, (own,))
        places = {"GIT_OBJECT_DIRECTORY": str(store), "GIT_INDEX_FILE": str(index)}
        return replace(self, environment={**environment, **places})


def _ask(start: Path, environ: Mapping[str, str]) -> list[str]:
    """Ask git where the repository is; one process unless a path holds a newline."""
    env = {**environ, "LC_ALL": "C"}
    try:
        reply = call_git(("rev-parse", *_QUESTIONS), cwd=start, env=env)
        lines = reply.removesuffix(b"\n").split(b"\n")
        if len(lines) != len(_QUESTIONS):
            replies = [call_git(("rev-parse", word), cwd=start, env=env) for word in _QUESTIONS]
            lines = [line.removesuffix(b"\n") for line in replies]
    except GitFailedError as error:
        raise _explained(start, error) from error
    return [os.fsdecode(line) for line in lines]


def _explained(start: Path, error: GitFailedError) -> UsageError:
    if "dubious ownership" in error.said or "unsafe repository" in error.said:
        remedy = [line.strip() for line in error.said.splitlines() if "safe.directory" in line]
        command = remedy[-1] if remedy else f"git config --global --add safe.directory {start}"
        message = f"git does not trust {start}: it belongs to another user"
        return UsageError(message, hint=f"if you trust it, run: {command}")
    if "must be run in a work tree" in error.said:
        message = f"no work tree at {start}: a bare repository or a .git directory"
        return UsageError(message, hint="run evalgate in a clone with files checked out")
    if "not a git repository" in error.said:
        message = f"not a git repository: {start}"
        return UsageError(message, hint="run evalgate inside a repository, or: git init")
    return UsageError(error.message)


def _top_of_same(start: Path, environ: Mapping[str, str], git_dir: str) -> str | None:
    """Return the work tree ``start`` lies in when it belongs to the given GIT_DIR.

    With GIT_DIR alone git takes the current directory for the top, which is wrong when a
    hook's program looks from a subdirectory.
    """
    try:
        top, found, *_ = _ask(start, scrubbed(environ))
    except UsageError:
        return None
    return top if Path(found).resolve() == Path(git_dir).resolve() else None


def _object_stores(environ: Mapping[str, str]) -> dict[str, str]:
    """Keep the object directories a hook was given: new commits may live only there."""
    names = ("GIT_OBJECT_DIRECTORY", _ALTERNATES)
    return {name: environ[name] for name in names if environ.get(name)}


def _with_alternates(environment: Mapping[str, str], stores: Sequence[Path]) -> dict[str, str]:
    known = [environment[_ALTERNATES]] if environment.get(_ALTERNATES) else []
    return {**environment, _ALTERNATES: os.pathsep.join([*known, *map(_quoted, stores)])}


def _quoted(path: Path) -> str:
    """Quote an entry of the list as git does: the path may hold the separator."""
    return '"' + str(path).replace("\\", "\\\\").replace('"', '\\"') + '"'


def _is_hex(text: str) -> bool:
    return all(letter in "0123456789abcdef" for letter in text)
