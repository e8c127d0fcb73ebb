"""Files without their history: a repository of one commit."""

from __future__ import annotations

import os
from collections.abc import Iterator, MutableMapping
from pathlib import Path

from evalgate.core.files import File, Tree, is_safe_path, tree_digest
from evalgate.disk import open_passing_folder
from evalgate.errors import UsageError
from evalgate.repo.program import call_git, isolated

_BRANCH = "refs/heads/main"
_WHO = "Snapshot <snapshot@example.invalid> 946684800 +0000"
_CONFIG = b"""[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = false
\tautocrlf = false
"""
#: Files are laid out byte for byte, so no attribute of the project may make git expect
#: other bytes on disk than the ones it stores.
_ATTRIBUTES = b"* -text !eol !ident !filter !working-tree-encoding\n"


def single_commit_repository(
    tree: Tree, *, cache: MutableMapping[str, dict[str, File]] | None = None
) -> dict[str, File]:
    """Return the files of a ``.git`` whose only commit holds ``tree``.

    Equal trees give equal bytes. Laid out beside the files it makes a clean repository on
    branch ``main``. ``cache`` (tree digest -> result) saves building it again.
    """
    known = {} if cache is None else cache
    digest = tree_digest(tree, domain="evalgate-single-commit")
    if digest not in known:
        known[digest] = _build(tree)
    return known[digest]


def _build(tree: Tree) -> dict[str, File]:
    for path in tree:
        if not is_safe_path(path):
            message = f"not a path a repository can hold: {path!r}"
            raise UsageError(message)
    with open_passing_folder("snapshot") as top:
        git_dir = top / ".git"
        _lay_out(git_dir)
        env = isolated(os.environ)
        # One pack whatever the size, fast rather than small, and no reflog with today's date.
        fast = ("core.logAllRefUpdates=false", "fastimport.unpackLimit=0", "core.compression=1")
        options = [f"--git-dir={git_dir}", *(word for item in fast for word in ("-c", item))]
        stream = b"".join(_import_stream(tree))
        call_git([*options, "fast-import", "--quiet", "--depth=0"], cwd=top, env=env, input=stream)
        call_git([*options, "read-tree", _BRANCH], cwd=top, env=env)
        files = sorted(path for path in git_dir.rglob("*") if path.is_file())
        return {str(path.relative_to(top)): File(data=path.read_bytes()) for path in files}


def _lay_out(git_dir: Path) -> None:
    """Make by hand what ``git init`` makes, without its samples and templates."""
    for name in ("objects/pack", "refs/heads", "info"):
        (git_dir / name).mkdir(parents=True)
    (git_dir / "HEAD").write_bytes(f"ref: {_BRANCH}\n".encode())
    (git_dir / "config").write_bytes(_CONFIG)
    (git_dir / "info" / "attributes").write_bytes(_ATTRIBUTES)


def _import_stream(tree: Tree) -> Iterator[bytes]:
    yield f"commit {_BRANCH}\nauthor {_WHO}\ncommitter {_WHO}\ndata 9\nSnapshot\n\n".encode()
    named = {path.encode("utf-8", "surrogateescape"): file for path, file in tree.items()}
    for path in sorted(named):
        file = named[path]
        yield f"M {file.mode} inline ".encode() + _quoted(path)
        yield f"\ndata {len(file.data)}\n".encode() + file.data + b"\n"


def _quoted(path: bytes) -> bytes:
    escaped = path.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n")
    return b'"' + escaped + b'"'
