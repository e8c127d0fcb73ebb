"""The baseline of the base, or of the newest harness before it that was measured."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from evalgate.commands.project import State, open_state
from evalgate.core.baseline import pool
from evalgate.core.decision import Decision
from evalgate.core.sample import Sample
from evalgate.core.verdict import Verdict
from evalgate.errors import UsageError
from evalgate.repo.history import first_parent_changes
from evalgate.repo.pathspecs import to_pathspecs
from evalgate.repo.treeview import Subject

#: How many changes of the harness are looked back over.
_LIMIT = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A pooled baseline, and how many changes of the harness lie between it and the base."""

    sample: Sample
    changes: int = 0


def find_baseline(base: State) -> Found | None:
    """Look the base's harness up in the base's own tree, then the harnesses before it.

    None when none of them was measured.
    """
    sample = pool(base.baselines(base.fingerprint.digest))
    if sample is not None:
        return Found(sample=sample)
    seen = {base.fingerprint.digest}
    for digest in harnesses_before(base, _LIMIT):
        sample = pool(base.baselines(digest))
        if sample is not None:
            return Found(sample=sample, changes=len(seen))
        seen.add(digest)
    return None


def harnesses_before(state: State, limit: int) -> Iterator[str]:
    """Yield the harnesses before so many changes on the first-parent line, newest first.

    What is not committed is a change as well. It ends where evalgate was adopted, or a
    configuration can not be read.
    """
    project, harness = state.project, state.config.harness
    globs = [glob for part in harness.parts.values() for glob in part]
    pathspecs = (
        *to_pathspecs(globs, root=state.harness_root),
        *to_pathspecs([project.config_name], root=project.prefix),
    )
    tip = state.view.commit or "HEAD"
    committed = None if state.view.commit else harness_at(state, tip)
    if committed not in {None, state.fingerprint.digest}:
        yield committed
    for commit in first_parent_changes(project.git, tip, pathspecs, limit):
        parents = project.git.parents(commit)
        digest = harness_at(state, parents[0]) if parents else None
        if digest is None:
            return
        yield digest


def not_attributable(verdict: Verdict, found: Found) -> Verdict:
    """Keep what a comparison with an older harness says, but decide nothing by it."""
    sentence = (
        f"The base was not measured. Against the newest harness before it that was, "
        f"{found.changes} change(s) back, which can not be told apart: {verdict.sentence}"
    )
    decision = Decision.VOID if verdict.decision is Decision.VOID else Decision.NO_BASELINE
    return replace(verdict, decision=decision, sentence=sentence)


def harness_at(state: State, commit: str) -> str | None:
    """Return the harness of a commit of the same project, None where there is none."""
    try:
        with open_state(state.project, Subject.parse(commit)) as then:
            return then.fingerprint.digest
    except UsageError:  # from before evalgate was adopted, or broken then
        return None
