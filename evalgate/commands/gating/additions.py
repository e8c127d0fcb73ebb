"""Baselines that a change adds: whose they are, and what of them its recordings prove."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from shlex import quote

from evalgate.commands.baselines.ancestry import (
    LIMIT,
    digest_of,
    harness_paths,
    harnesses_before,
)
from evalgate.commands.baselines.proof import contradicted, disagreeing, proven, unledgered
from evalgate.commands.project import State
from evalgate.commands.recordings import find_recordings
from evalgate.core.baseline import Baseline, pool, superseded
from evalgate.core.rates import counted
from evalgate.core.short_name import short_of
from evalgate.repo.fingerprint import carried_over
from evalgate.repo.history import changes_between
from evalgate.store.baselines import FOLDER, load_baselines


@dataclass(frozen=True, slots=True, kw_only=True)
class Additions:
    """What is told of the baselines that a change adds.

    ``foreign`` are those of a harness that no commit of the change has, ``joined`` such as a
    squash or a rebase has made so, ``wrong`` what speaks against them, ``placed`` which numbers
    take the place of which, and ``notes`` a line for each of the others. ``remedy`` are the
    commands that take the foreign ones away.
    """

    foreign: tuple[str, ...] = ()
    joined: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()
    placed: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    remedy: tuple[str, ...] = ()


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
    strange = any(one.sample.fingerprint not in own for one in added)
    squashed = _squashed(base, head) if strange else set()
    foreign: list[str] = []
    joined: list[str] = []
    wrong: list[str] = []
    placed: list[str] = []
    notes: list[str] = []
    remedy: list[str] = []
    for one in added:
        fingerprint = one.sample.fingerprint
        recorded = find_recordings(head, fingerprint)
        wrong += [*(said.text for said in contradicted(one, recorded)), *disagreeing(one, base)]
        if fingerprint not in own:
            whose = f"harness {short_of(fingerprint)}, which no commit of this change has"
            said = f"this change adds baselines/{one.filename}, of {whose}"
            if fingerprint in squashed:
                joined.append(said)
            else:
                foreign.append(said)
                remedy.append(_without(head, one))
            continue
        proved = f"{proven(one, recorded)} of its {counted(len(one.sample.rows), 'trial')}"
        notes.append(f"this change adds a baseline of {short_of(fingerprint)}: {proved} recorded")
        placed += _placed(one, base)
    wrong += [said.text for said in unledgered(head, added)]
    return Additions(
        foreign=tuple(foreign),
        joined=tuple(joined),
        wrong=tuple(wrong),
        placed=tuple(placed),
        notes=tuple(notes),
        remedy=tuple(remedy),
    )


def _without(head: State, one: Baseline) -> str:
    """Return the command that takes a baseline and its ledger entry away again."""
    folder = head.project.within(FOLDER)
    files = (f":/{folder}/{one.filename}", f":(top,glob){folder}/ledger/*-{one.filename}")
    return f"git rm -- {' '.join(map(quote, files))}"


def _placed(one: Baseline, base: State) -> list[str]:
    """Say which numbers of the base a baseline takes the place of, or which took its own."""
    there = base.baselines(one.sample.fingerprint)
    gone = superseded([*there, one])
    if one.digest in gone:
        newer = f"baselines/{gone[one.digest].filename} took the place of all before it"
        return [f"baselines/{one.filename} is not pooled: it is older, and {newer}"]
    before = pool([old for old in there if gone.get(old.digest) == one])
    if before is None:
        return []
    now = one.sample
    return [
        f"baselines/{one.filename} takes the place of the harness's older numbers:"
        f" {now.passed}/{now.measured} passed, and {before.passed}/{before.measured} then"
    ]


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


def _squashed(base: State, head: State) -> set[str]:
    """Return the harnesses that the change may have had before a squash or a rebase.

    It was made on an older harness of this line, and others were merged meanwhile: the harness
    that was measured is the older one with the whole change in it, or with one step of it. Nothing
    where the head itself was measured, for then nobody lacks its numbers.
    """
    digest = head.fingerprint.digest
    measured = head.baselines(digest) or find_recordings(head, digest).trials
    if measured or digest == base.fingerprint.digest or not head.view.commit:
        return set()
    line = (head.fingerprint, *harnesses_before(head, LIMIT))
    steps = [(base.fingerprint, head.fingerprint)]
    for after, before in pairwise(line):
        if after.digest == base.fingerprint.digest:
            break
        steps.append((before, after))
    git = head.project.git
    return {
        carried_over(git, older, *step) for older in harnesses_before(base, LIMIT) for step in steps
    }
