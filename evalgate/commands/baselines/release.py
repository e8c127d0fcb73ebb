"""The anchor of a project: the newest release tag whose harness was measured."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from evalgate.commands.baselines.ancestry import digest_of
from evalgate.commands.project import State
from evalgate.core.anchor import Since, since, turned
from evalgate.core.baseline import pool
from evalgate.core.policy import Policy
from evalgate.core.sample import Sample
from evalgate.core.verdict import Verdict
from evalgate.repo.history import tags_within

#: So many tags are looked at, the newest first.
_LIMIT = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """A release that was measured, or ``lacking``: why there is none to compare with."""

    tag: str = ""
    sample: Sample | None = None
    lacking: str = ""


def find_release(base: State, policy: Policy) -> Release:
    """Look for the newest tag within a state's history that the policy takes for an anchor.

    Its baseline is read from the tree of that state, as the parent's is.
    """
    git, pattern = base.project.git, policy.anchor
    known = tags_within(git, base.view.commit or "HEAD")
    tags = [tag for tag in known if fnmatchcase(tag, pattern)]
    for tag in tags[:_LIMIT]:
        fingerprint = digest_of(base.project, known[tag])
        sample = None if fingerprint is None else pool(base.baselines(fingerprint))
        if sample is not None:
            return Release(tag=tag, sample=sample)
    if tags:
        return Release(lacking=f"no harness of these releases was measured: {', '.join(tags[:3])}")
    more = ", and this clone is shallow (fetch-depth: 0 has the tags)" if git.is_shallow() else ""
    return Release(lacking=f"there is no tag {pattern} to compare with{more}")


def beside_release(verdict: Verdict, base: State) -> tuple[Verdict, str]:
    """Hold the head of a verdict against the release as well; return what is said of it.

    Only a policy with ``anchor_blocks`` lets that decide.
    """
    policy = verdict.policy
    if not policy.anchor or verdict.head is None or not verdict.head.measured:
        return verdict, ""
    release = find_release(base, policy)
    if release.sample is None:
        return verdict, f"No anchor: {release.lacking}."
    found: Since = since(release.tag, release.sample, verdict.head, policy)
    verdict = replace(
        turned(verdict, found), context={**verdict.context, "anchor": found.to_json()}
    )
    return verdict, found.sentence
