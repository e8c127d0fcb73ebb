"""What a killed run had recorded of a trial: taken up again, so that nothing is paid for twice."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from evalgate.core.scrubs import Scrub
from evalgate.gateway.cassette import CassetteFile
from evalgate.gateway.format.journal import load_journal
from evalgate.gateway.keys.rescrubbing import recorded_rules, rescrubbed
from evalgate.gateway.streams.moving import moved_body, recorded_places
from evalgate.gateway.witness.witness import answered
from evalgate.runner.artifacts import cassette_path
from evalgate.store.runs import RunFolder

#: A trial writes one, and plays the other: its own may be cut by a second kill.
_OLD, _NEW = ".journal", ".journal-new"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """The journal a trial writes, and what an earlier attempt at it had recorded, if anything.

    ``old`` holds that; it stays until the trial is on disk: the new attempt may be killed as
    well.
    """

    journal: Path
    old: Path
    tape: CassetteFile | None = None

    def remove(self) -> None:
        """Remove both journals: the trial is on disk."""
        for path in (self.journal, self.old):
            path.unlink(missing_ok=True)


def take_up(run: RunFolder, task: str, n: int) -> Kept:
    """Return where a trial's journal goes, and what can be played of earlier ones.

    Of two earlier attempts the one that got further is kept. UsageError naming a journal that
    was damaged.
    """
    cassette = cassette_path(run, task, n)
    old, journal = cassette.with_suffix(_OLD), cassette.with_suffix(_NEW)
    first, second = _usable(old), _usable(journal)
    if len(second.exchanges) > len(first.exchanges):
        journal.replace(old)
        first = second
    if not first.exchanges:
        old.unlink(missing_ok=True)
        return Kept(journal=journal, old=old)
    return Kept(journal=journal, old=old, tape=first)


def remove_journals(run: RunFolder) -> None:
    """Remove what is left of journals in a run whose trials are all on disk."""
    for suffix in (_OLD, _NEW):
        for path in (run.path / "artifacts").glob(f"*/*/cassette{suffix}"):
            path.unlink(missing_ok=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Topped:
    """A recording with what an earlier attempt had asked beyond it: ``asked`` exchanges."""

    tape: CassetteFile
    asked: int


def topped(recorded: CassetteFile, kept: CassetteFile | None, scrubs: tuple[Scrub, ...]) -> Topped:
    """Add what a killed top-up of a recording had asked to it.

    Its journal holds what it had played as well, in the places that it had.
    """
    if kept is None:
        return Topped(tape=recorded, asked=0)
    old, new = recorded_places(recorded.header), recorded_places(kept.header)
    known = rescrubbed(recorded.exchanges, recorded_rules(recorded.header), scrubs)
    played = Counter(one.key for one in known if answered(one))
    asked = []
    for one in kept.exchanges:
        if not played[one.key]:
            asked.append(one)
        played[one.key] -= played[one.key] > 0
    moved = (replace(one, body=moved_body(one.body, old, new)) for one in known)
    return Topped(tape=replace(kept, exchanges=(*moved, *asked)), asked=len(asked))


def _usable(path: Path) -> CassetteFile:
    """Return what was answered whole and well: an error would only be met again."""
    read = CassetteFile(header={}, exchanges=(), claim={}, record={})
    with suppress(FileNotFoundError):
        read = load_journal(path.read_bytes(), name=str(path))
    return replace(read, exchanges=tuple(filter(answered, read.exchanges)))
