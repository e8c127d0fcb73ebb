"""What a pre-push hook is told, and which pair of commits each pushed ref means."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from evalgate.errors import UsageError
from evalgate.repo.git import Git
from evalgate.repo.pair import FIRST_COMMIT, Pair, one_of, reachable

_FIELDS = 4
#: Set for hooks by pre-commit and prek, which read git's lines themselves.
_FRAMEWORK = ("PRE_COMMIT_TO_REF", "PRE_COMMIT_FROM_REF", "PRE_COMMIT_REMOTE_BRANCH")


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


def pushed_refs(git: Git, stdin: str, environ: Mapping[str, str]) -> list[PushedRef]:
    """Return what is pushed, by whoever tells: git's lines, pre-commit and prek, or nobody.

    pre-commit and prek tell of the first ref of a push alone. Where nobody tells (a manager that
    hands no lines on, or a person by hand) HEAD is held against its upstream.
    """
    lines = parse_pre_push(stdin)
    if lines:
        return lines
    head, known, name = (environ.get(variable, "") for variable in _FRAMEWORK)
    if not head:
        if environ.get("PRE_COMMIT_REMOTE_NAME"):
            return []  # pre-commit names no commits where a whole history is new
        head, name = "HEAD", "HEAD"
        upstream = ("rev-parse", "-q", "--verify", "@{upstream}^{commit}")
        known = git.run(*upstream, ok=(0, 1, 128)).decode().strip()
    (local,) = git.lookup(f"{head}^{{commit}}")
    if local is None:
        return []
    known = known or "0" * len(local)
    return [PushedRef(local_ref=head, local_oid=local, remote_ref=name, remote_oid=known)]


def pair_for_push(git: Git, ref: PushedRef, remote: str) -> Pair | None:
    """Return what a pushed ref means to be compared, or None when nothing new is pushed.

    The base is None for a root commit. A remote commit that is unknown here (a new branch, a
    force push over work never fetched) is replaced by what is known of the remote.

    Raises:
        UsageError: a shallow clone lacks the base.
    """
    if _is_zero(ref.local_oid):
        return None
    peeled = (f"{oid}^{{commit}}" for oid in (ref.local_oid, ref.remote_oid))  # a tag is none
    head, known = git.lookup(*peeled, env={"GIT_NO_LAZY_FETCH": "1"})
    if head is None:
        return None
    common = _common(git, head, known)
    if not common:
        return _since_remote(git, head, remote, is_new=_is_zero(ref.remote_oid))
    if head in common:
        return None
    base, has = common[0], f"what {remote or 'the remote'} has"
    where = has if base == ref.remote_oid else f"{base[:12]}, where it left {has}"
    return Pair.of(head, base, f"the pushed commit against {where}{one_of(common)}")


def _common(git: Git, head: str, known: str | None) -> tuple[str, ...]:
    if known is None:
        return ()
    found = git.run("merge-base", "--all", known, head, ok=(0, 1)).split()
    return tuple(oid.decode() for oid in found)


def _since_remote(git: Git, head: str, remote: str, *, is_new: bool) -> Pair | None:
    """Compare with the parent of the first commit the remote does not have."""
    named = git.run("config", "--get-all", f"remote.{remote}.url", ok=(0, 1)) if remote else b""
    # Pushed by URL, no branches are tracked for it: what any remote has is not new.
    known = f"--remotes={remote}" if named else "--remotes"
    command = ("rev-list", "--first-parent", "--topo-order", head, "--not", known, "--")
    fresh = git.run(*command).split()
    if not fresh:
        return None
    parents = git.parents(fresh[-1].decode())
    if not parents:
        return Pair.of(head, None, FIRST_COMMIT)
    parent = reachable(git, parents[0], "the parent of the first pushed commit")
    why = "new branch" if is_new else "what the remote has is not known here"
    how = f"the pushed commit against the parent of its first new one ({why})"
    return Pair.of(head, parent, how)


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
