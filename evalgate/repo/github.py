"""The pair a GitHub event means.

Sound pairs are (merge commit, its first parent) and (head, merge base); the ``base.sha`` of
an event may be hours old and is never compared with a merge commit.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from evalgate.errors import UsageError
from evalgate.repo.git import Git
from evalgate.repo.history import merge_bases
from evalgate.repo.pair import FIRST_COMMIT, Pair, reachable
from evalgate.repo.treeview import Subject, SubjectKind

_MERGE_PARENTS = 2


def event_pair(git: Git, environ: Mapping[str, str]) -> Pair | None:
    """Return the pair of the event in ``environ``, None outside the events we know."""
    rules = {
        "pull_request": _pull_request,
        "pull_request_target": _pull_request,
        "merge_group": _merge_group,
        "push": _push,
    }
    rule = rules.get(environ.get("GITHUB_EVENT_NAME", ""))
    path = environ.get("GITHUB_EVENT_PATH", "")
    return rule(git, _load_event(Path(path))) if rule and path else None


def _pull_request(git: Git, event: object) -> Pair:
    wanted = _text(event, "pull_request", "head", "sha")
    head = git.resolve("HEAD")
    if head == wanted:
        return _pull_request_head(git, event, head)
    parents = git.parents(head)
    if len(parents) == _MERGE_PARENTS and parents[1] == wanted:
        base = reachable(git, parents[0], "the first parent of the merge commit")
        return _pair("HEAD", base, "the pull request's merge commit against its first parent")
    message = f"stale merge ref: HEAD is {head[:12]}, the event is about {wanted[:12]}"
    hint = "re-run on the newest commit, or check out the pull request's head sha"
    raise UsageError(message, hint=hint)


def _pull_request_head(git: Git, event: object, head: str) -> Pair:
    branch = f"origin/{_text(event, 'pull_request', 'base', 'ref')}"
    # The branch as fetched is newer than the event's sha, which may predate the fork point.
    (target,) = git.lookup(f"refs/remotes/{branch}^{{commit}}")
    if target is None:
        sha = _text(event, "pull_request", "base", "sha")
        target = reachable(git, sha, f"the target branch {branch}", depth="0")
    common = merge_bases(git, target, head)
    if not common:
        message = f"no common ancestor of HEAD and {branch} in this clone"
        hint = "check out with fetch-depth: 0" if git.is_shallow() else "rebase the branch"
        raise UsageError(message, hint=hint)
    several = f" (the first of {len(common)} merge bases)" if len(common) > 1 else ""
    return _pair("HEAD", common[0], f"the pull request's head against {branch}{several}")


def _merge_group(git: Git, event: object) -> Pair:
    head = _text(event, "merge_group", "head_sha")
    base = _text(event, "merge_group", "base_sha")
    reachable(git, head, "the head of the merge group")
    reachable(git, base, "the base of the merge group")
    return _pair(head, base, "the merge group's head against its base")


def _push(git: Git, event: object) -> Pair:
    before, after = _text(event, "before"), _text(event, "after")
    if not after.strip("0"):
        message = "the push deleted a branch: nothing to judge"
        raise UsageError(message)
    reachable(git, after, "the pushed commit")
    created = not before.strip("0")
    forced = isinstance(event, dict) and event.get("forced") is True
    if not created and not forced:
        # Not here in a shallow clone says nothing; only a full one knows of a force push.
        if git.is_shallow():
            reachable(git, before, "the commit before the push", depth="0")
        if git.has(before) and git.merge_base(before, after) == before:
            return _pair(after, before, "the pushed commit against the one before the push")
    parents = git.parents(after)
    if not parents:
        return _pair(after, None, FIRST_COMMIT)
    parent = reachable(git, parents[0], "the first parent of the pushed commit")
    why = "new branch" if created else "force push"
    return _pair(after, parent, f"the pushed commit against its first parent ({why})")


def _pair(rev: str, base: str | None, how: str) -> Pair:
    subject = Subject(kind=SubjectKind.REVISION, rev=rev)
    return Pair(head=subject, base=base, how=how, head_label=rev if rev == "HEAD" else rev[:12])


def _load_event(path: Path) -> object:
    try:
        event: object = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        message = f"GITHUB_EVENT_PATH can not be read: {path}"
        raise UsageError(message, hint="or name the commits: --base and --head") from error
    return event


def _text(event: object, *keys: str) -> str:
    value = event
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    if isinstance(value, str) and value:
        return value
    message = f"the GitHub event has no {'.'.join(keys)}"
    raise UsageError(message, hint="or name the commits: --base and --head")
