"""Baselines that a change adds: whose they are, and what of them its recordings prove."""

from __future__ import annotations

from dataclasses import dataclass

from evalgate.commands.ancestry import digest_of, harness_paths
from evalgate.commands.project import State
from evalgate.commands.proof import contradicted, disagreeing, proven, unledgered
from evalgate.commands.recordings import find_recordings
from evalgate.core.short_name import short_of
from evalgate.repo.history import changes_between
from evalgate.store.baselines import FOLDER, load_baselines


@dataclass(frozen=True, slots=True, kw_only=True)
class Additions:
    """What is told of the baselines that a change adds.

    ``foreign`` are those of a harness that no commit of the change has, ``wrong`` what speaks
    against them, and ``notes`` a line for each of the others.
    """

    foreign: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def additions(base: State, head: State) -> Additions:
    """Look at the baselines that the head has and the base has not.

    Raises:
        UsageError: one is cut, newer than this evalgate, or was edited by hand.
    """
    folder = base.project.within(FOLDER)
    old = {entry.path for entry in base.view.entries(["*.toml"], root=folder)}
    new = [entry for entry in head.view.entries(["*.toml"], root=folder) if entry.path not in old]
    added = load_baselines(head.view.read(new))
    if not added:
        return Additions()
    own = _harnesses(base, head, {one.sample.fingerprint for one in added})
    foreign, wrong, notes = [], [], []
    for one in added:
        fingerprint = one.sample.fingerprint
        recorded = find_recordings(head, fingerprint)
        wrong += [*contradicted(one, recorded), *disagreeing(one, base)]
        if fingerprint not in own:
            whose = f"harness {short_of(fingerprint)}, which no commit of this change has"
            foreign.append(f"this change adds baselines/{one.filename}, of {whose}")
            continue
        proved = f"{proven(one, recorded)} of its {len(one.sample.rows)} trials"
        notes.append(f"this change adds a baseline of {short_of(fingerprint)}: {proved} recorded")
    wrong += unledgered(head, added)
    return Additions(foreign=tuple(foreign), wrong=tuple(wrong), notes=tuple(notes))


def _harnesses(base: State, head: State, wanted: set[str]) -> set[str]:
    """Return the harnesses of the change: the head's, and those of its commits if need be."""
    own = {head.fingerprint.digest}
    if not head.view.commit:  # what is not committed may yet be, in steps
        return {*own, base.fingerprint.digest}
    if wanted <= own or not base.view.commit:
        return own
    git, paths = head.project.git, harness_paths(head)
    for commit in changes_between(git, base.view.commit, head.view.commit, paths):
        if wanted <= own:
            break
        own.add(digest_of(head.project, commit) or "")
    return own
