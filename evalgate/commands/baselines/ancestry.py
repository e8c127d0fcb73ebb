"""The baseline of the base, or of the newest harness before it that was measured."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from evalgate.commands.making.cost import recounted, unpriced
from evalgate.commands.project import Project, State, open_state
from evalgate.core.baseline import pool
from evalgate.core.decision import Decision
from evalgate.core.json import Json
from evalgate.core.rates import counted
from evalgate.core.sample import Sample
from evalgate.core.short_name import short_of
from evalgate.core.verdict import Verdict
from evalgate.errors import UsageError
from evalgate.repo.fingerprint import SETTINGS, Fingerprint
from evalgate.repo.history import first_parent_changes
from evalgate.repo.pathspecs import to_pathspecs
from evalgate.repo.subject import Subject

#: How many changes of the harness are looked back over.
LIMIT = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A pooled baseline, and how many changes of the harness lie between it and the base.

    ``settings`` tells whether it is of the base's own tables. ``union`` names the harnesses that a
    merge joined into the base's, when each of them was measured and the base's was not.
    """

    sample: Sample
    changes: int = 0
    settings: bool = True
    union: tuple[str, ...] = ()

    @property
    def line(self) -> str:
        """Say how it fits the base."""
        of = f"of harness {short_of(self.sample.fingerprint)}"
        if not self.changes:
            return f"baseline: exact, {of}"
        return f"baseline: stale by {counted(self.changes, 'change')} of the harness, {of}"

    def to_json(self) -> dict[str, Json]:
        """Return the form in ``verdict.json``."""
        return {
            "match": "stale" if self.changes else "exact",
            "changes": self.changes,
            "fingerprint": self.sample.fingerprint,
        }


def find_baseline(base: State) -> Found | None:
    """Look the base's harness up in the base's own tree, then the harnesses before it.

    None when none of them was measured.
    """
    sample = pool(base.baselines(base.fingerprint.digest))
    if sample is not None:
        return Found(sample=sample)
    for changes, before in enumerate(harnesses_before(base, LIMIT), 1):
        baselines = base.baselines(before.digest)
        sample = pool(baselines)
        if sample is not None:
            now = base.fingerprint.parts[SETTINGS]
            settings = all(one.parts.get(SETTINGS) == now for one in baselines)
            union = union_of(base)
            return Found(sample=sample, changes=changes, settings=settings, union=union)
    return None


def at_base_prices(found: Found, base: State) -> Found:
    """Return a baseline of other settings, and maybe other prices, counted at the base's price.

    Where the base's models have several, nobody knows what its trials would cost.
    """
    if found.settings:
        return found
    sample = recounted(found.sample, base.config) or unpriced(found.sample)
    return replace(found, sample=sample)


def harnesses_before(state: State, limit: int) -> Iterator[Fingerprint]:
    """Yield the harnesses before so many changes on the first-parent line, newest first.

    What is not committed is a change as well; an edit of the configuration that is none of the
    harness is not. It ends where evalgate was adopted, or a configuration can not be read.
    """
    project, newest = state.project, state.fingerprint
    tip = state.view.commit or "HEAD"
    committed = None if state.view.commit else fingerprint_of(project, tip)
    if committed is not None and committed.digest != newest.digest:
        newest = committed
        yield newest
    for commit in first_parent_changes(project.git, tip, harness_paths(state), limit):
        parents = project.git.parents(commit)
        before = fingerprint_of(project, parents[0]) if parents else None
        if before is None:
            return
        if before.digest != newest.digest:
            newest = before
            yield newest


def harness_paths(state: State) -> tuple[str, ...]:
    """Return the pathspecs of all that can change a state's harness."""
    parts = state.config.harness.parts.values()
    return (
        *to_pathspecs([glob for part in parts for glob in part], root=state.harness_root),
        *to_pathspecs([state.project.config_name], root=state.project.prefix),
    )


def union_of(state: State) -> tuple[str, ...]:
    """Return the harnesses that a merge joined into this state's, which nobody measured.

    Nothing unless the newest change of the harness is a merge, and each side of it has a
    baseline here while the outcome has none.
    """
    git, commit = state.project.git, state.view.commit
    newest = first_parent_changes(git, commit, harness_paths(state), 1) if commit else ()
    sides = git.parents(newest[0]) if newest else ()
    if len(sides) < 2 or state.baselines(state.fingerprint.digest):  # noqa: PLR2004 - a merge has two
        return ()
    digests = [digest_of(state.project, side) for side in sides]
    known = [digest for digest in digests if digest and state.baselines(digest)]
    if len(known) < len(sides) or state.fingerprint.digest in known:
        return ()
    return tuple(short_of(digest) for digest in known)


def not_attributable(verdict: Verdict, found: Found) -> Verdict:
    """Keep what a comparison with an older harness says, but decide nothing by it."""
    union = f" (no baseline for this union of {' and '.join(found.union)})" if found.union else ""
    sentence = (
        f"The base was not measured{union}. Against the newest harness before it that was, "
        f"{counted(found.changes, 'change')} back, which can not be told apart: {verdict.sentence}"
    )
    decision = Decision.VOID if verdict.decision is Decision.VOID else Decision.NO_BASELINE
    return replace(verdict, decision=decision, sentence=sentence)


def digest_of(project: Project, commit: str) -> str | None:
    """Return the digest of a commit's harness; None where it has none that can be read."""
    found = fingerprint_of(project, commit)
    return None if found is None else found.digest


def fingerprint_of(project: Project, commit: str) -> Fingerprint | None:
    """Return the harness of a commit; None where it has none that can be read."""
    try:
        with open_state(project, Subject.parse(commit)) as state:
            return state.fingerprint
    except UsageError:  # from before evalgate was adopted, or broken then
        return None
