"""What a killed run had recorded of a trial: taken up again, so that nothing is paid for twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from evalgate.core.exchange import Exchange
from evalgate.core.scrubs import Scrub
from evalgate.gateway.cassette import CassetteFile
from evalgate.gateway.format.header import Header
from evalgate.gateway.format.journal import load_journal
from evalgate.gateway.keys.rescrubbing import rescrubbed
from evalgate.gateway.streams.moving import moved_body
from evalgate.gateway.witness.witness import answered
from evalgate.runner.artifacts import cassette_path
from evalgate.store.runs import RunFolder

#: A trial writes one, and plays the other: its own may be cut by a second kill.
_OLD, _NEW = ".journal", ".journal-new"


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenUp:
    """The journal a trial writes, and what an earlier attempt at it had recorded, if anything.

    ``old`` holds that; it stays until the trial is on disk: the new attempt may be killed as
    well. ``dropped`` is what another attempt had asked beyond it: nobody plays that any more.
    """

    journal: Path
    old: Path
    tape: CassetteFile | None = None
    dropped: tuple[Exchange, ...] = ()

    def remove(self) -> None:
        """Remove both journals: the trial is on disk."""
        for path in (self.journal, self.old):
            path.unlink(missing_ok=True)


def take_up(run: RunFolder, task: str, n: int) -> TakenUp:
    """Return where a trial's journal goes, and what can be played of earlier ones.

    Of two earlier attempts the one that got further is kept. UsageError naming a journal that
    was damaged.
    """
    cassette = cassette_path(run, task, n)
    old, journal = cassette.with_suffix(_OLD), cassette.with_suffix(_NEW)
    first, second = _usable(old), _usable(journal)
    if len(second.exchanges) > len(first.exchanges):
        journal.replace(old)
        first, second = second, first
    if not first.exchanges:
        old.unlink(missing_ok=True)
        return TakenUp(journal=journal, old=old)
    dropped = tuple(_beyond(first.exchanges, second.exchanges))
    return TakenUp(journal=journal, old=old, tape=first, dropped=dropped)


def paid_for(
    run: RunFolder, task: str, n: int, *, recorded: CassetteFile | None, scrubs: tuple[Scrub, ...]
) -> list[Exchange]:
    """Return what earlier attempts at a trial had asked of the model, beyond its recording.

    Each once, as their journals tell. UsageError naming a journal that was damaged.
    """
    cassette = cassette_path(run, task, n)
    first, second = (_usable(cassette.with_suffix(one)).exchanges for one in (_OLD, _NEW))
    known = () if recorded is None else _known(recorded, scrubs)
    asked = _beyond(known, first)
    return [*asked, *_beyond((*known, *asked), second)]


def remove_journals(run: RunFolder) -> None:
    """Remove what is left of journals in a run whose trials are all on disk."""
    for suffix in (_OLD, _NEW):
        for path in run.artifacts.glob(f"*/*/cassette{suffix}"):
            path.unlink(missing_ok=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToppedUp:
    """A recording with what an earlier attempt had asked beyond it: the last ``asked`` ones."""

    tape: CassetteFile
    asked: int


def top_up(
    recorded: CassetteFile, earlier: CassetteFile | None, scrubs: tuple[Scrub, ...]
) -> ToppedUp:
    """Add what a killed top-up of a recording had asked to it.

    Its journal holds what it had played as well, in the places that it had.
    """
    if earlier is None:
        return ToppedUp(tape=recorded, asked=0)
    old, new = recorded.header.places, earlier.header.places
    known = _known(recorded, scrubs)
    asked = _beyond(known, earlier.exchanges)
    moved = (replace(one, body=moved_body(one.body, old, new)) for one in known)
    return ToppedUp(tape=replace(earlier, exchanges=(*moved, *asked)), asked=len(asked))


def _known(recorded: CassetteFile, scrubs: tuple[Scrub, ...]) -> list[Exchange]:
    return rescrubbed(recorded.exchanges, recorded.header.rules, scrubs)


def _beyond(known: Iterable[Exchange], journal: Iterable[Exchange]) -> list[Exchange]:
    """Return what a journal holds beyond what is known; equal requests are counted."""
    played = Counter(one.key for one in known if answered(one))
    more = []
    for one in journal:
        if not played[one.key]:
            more.append(one)
        played[one.key] -= played[one.key] > 0
    return more


def _usable(path: Path) -> CassetteFile:
    """Return what was answered whole and well: an error would only be met again."""
    read = CassetteFile(header=Header(), exchanges=(), claim={}, record={})
    with suppress(FileNotFoundError):
        # A kill right after the file was made leaves nothing in it.
        data = path.read_bytes()
        read = load_journal(data, name=str(path)) if data else read
    return replace(read, exchanges=tuple(filter(answered, read.exchanges)))
