"""A revision, the index or the work tree, seen as one thing: a git tree."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from evalgate.core.files import File, FileMode
from evalgate.disk import open_passing_folder
from evalgate.errors import UsageError
from evalgate.repo.git import Git
from evalgate.repo.pathspecs import literal, to_pathspecs
from evalgate.repo.staging import stage_worktree, write_tree
from evalgate.repo.subject import Subject, SubjectKind

SUBMODULE = "160000"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One line of a tree; bytes of ``path`` outside UTF-8 are surrogate escapes."""

    path: str
    mode: str
    oid: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeView:
    """A tree that can be listed and read; valid inside the context that opened it."""

    git: Git
    label: str
    tree: str
    commit: str | None = None

    def entries(self, globs: Sequence[str], *, root: str = "") -> tuple[Entry, ...]:
        """Return what the globs match, sorted by path bytes, relative to ``root``.

        A submodule is one entry (mode 160000); nothing inside it matches.
        """
        if not globs:
            return ()
        return _below(root, self._list(to_pathspecs(globs, root=root)))

    def read(self, wanted: Iterable[str | Entry]) -> dict[str, File]:
        """Return files by path; a path that is missing or a submodule is left out."""
        items = list(wanted)
        names = {item for item in items if isinstance(item, str)}
        entries = [item for item in items if isinstance(item, Entry)]
        if names:
            listed = self._list([literal(name) for name in sorted(names)])
            entries += [entry for entry in listed if entry.path in names]
        blobs = _blobs(self.git, [entry.oid for entry in entries if entry.mode != SUBMODULE])
        return {
            entry.path: File(data=blobs[entry.oid], mode=_file_mode(entry.mode))
            for entry in entries
            if entry.mode != SUBMODULE
        }

    def read_text(self, path: str) -> str | None:
        """Return a regular file as UTF-8 text, None when there is none at ``path``."""
        file = self.read([path]).get(path)
        if file is None:
            return None
        if file.mode is FileMode.SYMLINK:
            message = f"{path} is a symbolic link in {self.label}"
            raise UsageError(message, hint="commit the file itself")
        try:
            return file.data.decode()
        except UnicodeDecodeError as error:
            message = f"{path} in {self.label} is not UTF-8 text"
            raise UsageError(message) from error

    def read_prefix(self, prefix: str) -> dict[str, File]:
        """Return all files below a directory, named relative to it, without submodules."""
        return self.read(self._entries_below(prefix))

    def paths_below(self, prefix: str) -> tuple[str, ...]:
        """Return the names of all files below a directory, relative to it, without submodules."""
        return tuple(one.path for one in self._entries_below(prefix) if one.mode != SUBMODULE)

    def _entries_below(self, prefix: str) -> tuple[Entry, ...]:
        directory = prefix.strip("/")
        return _below(directory, self._list([literal(directory)] if directory else []))

    def _list(self, pathspecs: Sequence[str]) -> list[Entry]:
        """List by comparing with the empty tree: ls-tree itself knows no globs."""
        out = self.git.compare_trees(
            "-z",
            "--raw",
            "--no-abbrev",
            "--no-renames",
            self.git.empty_tree(),
            self.tree,
            "--",
            *pathspecs,
        )
        fields = out.decode("utf-8", "surrogateescape").split("\0")
        pairs = zip(fields[0::2], fields[1::2], strict=False)
        found = [_entry(meta, path) for meta, path in pairs]
        return sorted(found, key=lambda entry: entry.path.encode("utf-8", "surrogateescape"))


@contextmanager
def open_tree(git: Git, subject: Subject, *, paths: Sequence[str] = ()) -> Iterator[TreeView]:
    """Open a subject as a tree without writing to the user's repository.

    ``paths`` are pathspecs (see `to_pathspecs`): what of the work tree is looked at on disk;
    everything else is as in the index.
    """
    if subject.kind is SubjectKind.REVISION:
        yield _revision(git, subject.rev)
        return
    with open_passing_folder("tree") as place:
        objects = place / "objects"
        objects.mkdir()
        own = git.git_dir / "index"
        in_index = subject.kind is SubjectKind.INDEX
        _copy_index(git.index_file if in_index else own, place / "index")
        scratch = git.writing(objects, place / "index")
        if not in_index and paths:
            stage_worktree(scratch, paths)
        label = "index" if in_index else "work tree"
        yield TreeView(git=git.reading(objects), label=label, tree=write_tree(scratch))


def _revision(git: Git, rev: str) -> TreeView:
    commit, tree = git.lookup(f"{rev}^{{commit}}", f"{rev}^{{tree}}")
    if commit is None:
        git.refuse(rev)
    if tree is None:
        message = f"the files of {rev} are not in this clone"
        raise UsageError(message, hint="fetch them from the remote")
    return TreeView(
        git=git, label="HEAD" if rev == "HEAD" else commit[:12], tree=tree, commit=commit
    )


def _copy_index(source: Path, target: Path) -> None:
    """Copy with its time stamp: git distrusts entries as young as their index file."""
    try:
        shutil.copy2(source, target)
    except FileNotFoundError:
        return  # before the first `git add` there is none, which git reads as empty


def _below(root: str, entries: Iterable[Entry]) -> tuple[Entry, ...]:
    start = f"{root.strip('/')}/" if root.strip("/") else ""
    return tuple(
        Entry(path=entry.path[len(start) :], mode=entry.mode, oid=entry.oid)
        for entry in entries
        if entry.path.startswith(start)
    )


def _entry(meta: str, path: str) -> Entry:
    _, mode, _, oid, _ = meta.split(" ")
    return Entry(path=path, mode=mode, oid=oid)


def _file_mode(mode: str) -> FileMode:
    # Old repositories hold 100664 as well, which git checks out as 100644.
    return FileMode(mode) if mode in {"120000", "100755"} else FileMode.REGULAR


def _blobs(git: Git, oids: Sequence[str]) -> dict[str, bytes]:
    unique = sorted(set(oids))
    if not unique:
        return {}
    request = "".join(f"{oid}\n" for oid in unique).encode()
    reply = git.run("cat-file", "--batch", "--buffer", input=request)
    found: dict[str, bytes] = {}
    at = 0
    while at < len(reply):
        end = reply.index(b"\n", at)
        oid, *kind_and_size = reply[at:end].decode().split(" ")
        if len(kind_and_size) != 2:  # noqa: PLR2004 - "OID missing" has one word after it
            message = f"the content of {oid} is not in this clone"
            raise UsageError(message, hint="fetch it: git fetch --refetch")
        size = int(kind_and_size[1])
        found[oid] = reply[end + 1 : end + 1 + size]
        at = end + 1 + size + 1
    return found
