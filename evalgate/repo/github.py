"""The pair a GitHub event means.

Sound pairs are (merge commit, its first parent) and (head, merge base); the ``base.sha`` of
an event may be hours old and is never compared with a merge commit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from evalgate.core.event import Event
from evalgate.core.pull import Pull
from evalgate.errors import UsageError
from evalgate.repo.git import Git
from evalgate.repo.pair import FIRST_COMMIT, Pair, common_ancestor, reachable

_MERGE_PARENTS = 2
_FORK_UNKNOWN = (
    "an event of a merge group does not say whether its pull requests come from forks: what"
    " policy.fork_evidence asks for was asked on their own checks only"
)


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
    return rule(git, load_event(Path(path))) if rule and path else None


def _pull_request(git: Git, event: Event) -> Pair:
    wanted = event.text("pull_request", "head", "sha")
    head = git.resolve("HEAD")
    if head == wanted:
        return _pull_request_head(git, event, head)
    parents = git.parents(head)
    if len(parents) == _MERGE_PARENTS and parents[1] == wanted:
        base = reachable(git, parents[0], "the first parent of the merge commit")
        how = "the pull request's merge commit against its first parent"
        return _of_pull("HEAD", base, how, event)
    message = f"stale merge ref: HEAD is {head[:12]}, the event is about {wanted[:12]}"
    hint = "re-run on the newest commit, or check out the pull request's head sha"
    raise UsageError(message, hint=hint)


def _pull_request_head(git: Git, event: Event, head: str) -> Pair:
    branch = f"origin/{event.text('pull_request', 'base', 'ref')}"
    # The branch as fetched is newer than the event's sha, which may predate the fork point.
    (target,) = git.lookup(f"refs/remotes/{branch}^{{commit}}")
    if target is None:
        sha = event.text("pull_request", "base", "sha")
        target = reachable(git, sha, f"the target branch {branch}", depth="0")
    base, several = common_ancestor(git, target, head, said=f"HEAD and {branch}")
    how = f"the pull request's head against {base[:12]}, where it left {branch}{several}"
    return _of_pull("HEAD", base, how, event)


def _of_pull(head: str, base: str, how: str, event: Event) -> Pair:
    fork = event.from_fork("pull_request")
    number, branch = event.number("pull_request", "number"), event.at("pull_request", "base", "ref")
    if not fork or number is None or not isinstance(branch, str):
        return Pair.of(head, base, how, fork=fork)
    name = event.at("repository", "full_name")
    pull = Pull(number=number, base=branch, repository=name if isinstance(name, str) else "")
    return replace(Pair.of(head, base, how, fork=True), measuring=pull.measuring)


def _merge_group(git: Git, event: Event) -> Pair:
    head = event.text("merge_group", "head_sha")
    base = event.text("merge_group", "base_sha")
    reachable(git, head, "the head of the merge group")
    reachable(git, base, "the base of the merge group")
    pair = Pair.of(head, base, "the merge group's head against its base")
    return replace(pair, note=_FORK_UNKNOWN)


def _push(git: Git, event: Event) -> Pair:
    before, after = event.text("before"), event.text("after")
    if not after.strip("0"):
        message = "the push deleted a branch: nothing to judge"
        raise UsageError(message)
    reachable(git, after, "the pushed commit")
    created = not before.strip("0")
    forced = event.at("forced") is True
    if not created and not forced:
        # Not here in a shallow clone says nothing; only a full one knows of a force push.
        if git.is_shallow():
            reachable(git, before, "the commit before the push", depth="0")
        if git.has(before) and (git.is_shallow() or before in git.merge_bases(before, after)):
            how = "the pushed commit against the one before the push"
            return Pair.of(after, before, how, landed=True)
    parents = git.parents(after)
    if not parents:
        return Pair.of(after, None, FIRST_COMMIT)
    parent = reachable(git, parents[0], "the first parent of the pushed commit")
    why = "new branch" if created else "force push"
    how = f"the pushed commit against its first parent ({why})"
    return Pair.of(after, parent, how, landed=True)


def load_event(path: Path) -> Event:
    """Read the event of a workflow; UsageError where it can not be read."""
    try:
        return Event.parse(path.read_bytes())
    except (OSError, ValueError) as error:
        message = f"GITHUB_EVENT_PATH can not be read: {path}"
        raise UsageError(message, hint="or name the commits: --base and --head") from error
