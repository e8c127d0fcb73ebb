"""What a killed run had recorded of a trial: taken up again, so that nothing is paid for twice."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from evalgate.errors import UsageError
from evalgate.gateway.cassette import CassetteFile
from evalgate.gateway.format.journal import load_journal
from evalgate.gateway.witness.witness import answered
from evalgate.runner.artifacts import cassette_path
from evalgate.store.runs import RunFolder


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """The journal a trial writes, and what an earlier attempt at it had recorded, if anything.

    ``old`` holds that; it stays until the trial is sealed: the new attempt may be killed as well.
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

    Of two earlier attempts the one that got further is kept. A journal that can not be read is
    as good as none.
    """
    old = cassette_path(run, task, n).with_suffix(".journal")
    journal = old.with_suffix(".journal-new")
    first, second = _usable(old), _usable(journal)
    if len(second.exchanges) > len(first.exchanges):
        journal.replace(old)
        first = second
    if not first.exchanges:
        old.unlink(missing_ok=True)
        return Kept(journal=journal, old=old)
    return Kept(journal=journal, old=old, tape=first)


def _usable(path: Path) -> CassetteFile:
    """Return what was answered whole and well: an error would only be met again."""
    read = CassetteFile(header={}, exchanges=(), claim={}, record={})
    with suppress(OSError, UsageError):
        read = load_journal(path.read_bytes(), name=str(path))
    return replace(read, exchanges=tuple(filter(answered, read.exchanges)))
