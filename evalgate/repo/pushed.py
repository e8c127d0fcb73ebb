"""What a pre-push hook is told, and which pair of commits each pushed ref means."""

from __future__ import annotations

from dataclasses import dataclass

from evalgate.errors import UsageError
from evalgate.repo.git import Git

_FIELDS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class PushedRef:
    """One line of the hook's standard input."""

    local_ref: str
    local_oid: str
    remote_ref: str
    remote_oid: str


def parse_pre_push(stdin: str) -> list[PushedRef]:
    """Read ``<local ref> <local oid> <remote ref> <remote oid>`` lines; none is fine."""
    return [_pushed(line) for line in stdin.splitlines() if line.strip()]


def pair_for_push(git: Git, ref: PushedRef, remote: str) -> tuple[str, str | None] | None:
    """Return (head, base) commits for a pushed ref, or None when nothing new is pushed.

    The base is None for a root commit. A remote commit that is unknown here (a new branch, a
    force push over work never fetched) is replaced by what is known of the remote.
    """
    if _is_zero(ref.local_oid):
        return None
    (head,) = git.lookup(f"{ref.local_oid}^{{commit}}")  # a tag is peeled
    if head is None:
        return None
    base = _common(git, head, ref.remote_oid)
    if base is not None:
        return None if base == head else (head, base)
    return _since_remote(git, head, remote)


def _common(git: Git, head: str, remote_oid: str) -> str | None:
    if _is_zero(remote_oid):
        return None
    (commit,) = git.lookup(f"{remote_oid}^{{commit}}", env={"GIT_NO_LAZY_FETCH": "1"})
    return git.merge_base(commit, head) if commit else None


def _since_remote(git: Git, head: str, remote: str) -> tuple[str, str | None] | None:
    """Compare with the parent of the first commit the remote does not have."""
    named = git.run("config", "--get-all", f"remote.{remote}.url", ok=(0, 1)) if remote else b""
    # Pushed by URL, no branches are tracked for it: what any remote has is not new.
    known = f"--remotes={remote}" if named else "--remotes"
    command = ("rev-list", "--first-parent", "--topo-order", head, "--not", known, "--")
    fresh = git.run(*command).split()
    if not fresh:
        return None
    parents = git.parents(fresh[-1].decode())
    return head, parents[0] if parents else None


def _pushed(line: str) -> PushedRef:
    # The local side is what was typed, such as "HEAD@{1 day ago}": it may hold spaces.
    fields = line.strip().rsplit(" ", _FIELDS - 1)
    if len(fields) != _FIELDS:
        message = f"not a line of pre-push: {line!r}"
        raise UsageError(message, hint="lines are: LOCAL_REF LOCAL_OID REMOTE_REF REMOTE_OID")
    local_ref, local_oid, remote_ref, remote_oid = fields
    return PushedRef(
        local_ref=local_ref, local_oid=local_oid, remote_ref=remote_ref, remote_oid=remote_oid
    )


def _is_zero(oid: str) -> bool:
    return not oid.strip("0")
