"""Files kept beside the branches: commits below a ref of their own.

Nothing but the ref and new objects is written: index, work tree and branches stay as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from evalgate.errors import UsageError
from evalgate.repo.git import Git
from evalgate.repo.program import GitFailedError

_NAMING = "a name of its own, such as refs/evalgate/cassettes/old"
_WHO = "evalgate <evalgate@localhost>"


def keep_files(git: Git, ref: str, files: Mapping[str, bytes], *, message: str) -> str:
    """Commit files to ``ref``, beside those that are kept there already; return the commit.

    UsageError as `require_ref` raises.
    """
    require_ref(git, ref)
    (old,) = git.lookup(f"{ref}^{{commit}}")
    now = int(datetime.now(UTC).timestamp())
    stream = [f"feature done\ncommit {ref}\ncommitter {_WHO} {now} +0000\n".encode()]
    stream += [_data(message.encode())]
    if old is not None:
        stream += [f"from {old}\n".encode()]
    for path in sorted(files):
        stream += [b"M 100644 inline ", _quoted(path), b"\n", _data(files[path])]
    stream += [b"\ndone\n"]
    git.run("fast-import", "--quiet", "--date-format=raw", input=b"".join(stream))
    return git.resolve(ref)


def require_ref(git: Git, ref: str) -> None:
    """Require a full name below ``refs/`` that git takes and that is free for files.

    UsageError for a branch, a tag, an odd name, and one that is a folder of other refs.
    """
    if not ref.startswith("refs/") or ref.startswith(("refs/heads/", "refs/tags/")):
        raise UsageError(f"{ref} is no ref for files that are put aside", hint=_NAMING)
    try:
        git.run("check-ref-format", ref)
    except GitFailedError as error:
        raise UsageError(f"{ref!r} is no name of a ref", hint=_NAMING) from error
    for other in refs_below(git, "refs"):
        if other.startswith(f"{ref}/") or ref.startswith(f"{other}/"):
            raise UsageError(f"there can be no ref {ref} beside {other}", hint=_NAMING)


def refs_below(git: Git, prefix: str) -> tuple[str, ...]:
    """Return the full names of all refs below a prefix, sorted."""
    said = git.run("for-each-ref", "--format=%(refname)", prefix)
    return tuple(sorted(said.decode("utf-8", "surrogateescape").split()))


def _data(data: bytes) -> bytes:
    return b"data %d\n" % len(data) + data + b"\n"


def _quoted(path: str) -> bytes:
    escaped = path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return b'"' + escaped.encode("utf-8", "surrogateescape") + b'"'
