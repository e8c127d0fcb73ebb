"""A recording put on the shelf: by one process at a time, and as a whole or not at all."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from evalgate.commands.project import State
from evalgate.commands.recordings import header_of
from evalgate.commands.shelf import Shelf, files_below
from evalgate.commands.shelved import FOLDER
from evalgate.core.harness import Harness
from evalgate.core.identity import storage_key
from evalgate.core.short_name import short_of
from evalgate.core.trial import Trial
from evalgate.errors import NotAvailableError, UsageError, from_os_error
from evalgate.repo.remotes import public_host
from evalgate.runner.artifacts import cassette_path
from evalgate.store.lock import HeldError, hold
from evalgate.store.runs import RunFolder, RunStore
from evalgate.store.sets import replace_set, settle_set


@dataclass(frozen=True, slots=True, kw_only=True)
class Publication:
    """The right to put the recordings of one harness on the shelf; made by `open_publication`.

    ``found`` is what lay there before, ``retired`` the sets of other harnesses that go when
    this one comes.
    """

    state: State
    folder: Path
    found: Mapping[str, str]
    retired: Sequence[Path]

    def publish(self, run: RunFolder, trials: Sequence[Trial]) -> Path:
        """Copy a complete run's cassettes to the shelf; return their folder there.

        A set that exists already is replaced as a whole, never mixed. UsageError when it is not
        the one that was there when the recording began; NotAvailableError when the disk does
        not take the new one. The old set stays then, and the run as well.
        """
        if _content(self.folder) != self.found:
            message = f"{self.folder} has changed while this recording was made"
            hint = f"the recording is kept in {run.id}: the same command with --again puts it there"
            raise UsageError(message, hint=f"{hint}, and asks no model")
        try:
            replace_set(
                self.folder,
                {
                    f"{storage_key(trial.task)}/{trial.key.n}.json": cassette_path(
                        run, trial.task, trial.key.n
                    ).read_bytes()
                    for trial in trials
                },
            )
        except OSError as error:
            message = f"the recordings can not be put on the shelf: {from_os_error(error).message}"
            hint = f"they are kept in {run.id}: mend that, and the same command puts them there"
            raise NotAvailableError(message, hint=hint) from error
        for old in _uncommitted(self.state, [path for path in self.retired if path.exists()]):
            shutil.rmtree(old)
        return self.folder


@contextmanager
def open_publication(state: State, harness: Harness, *, retire: bool) -> Iterator[Publication]:
    """Let no other process record this harness while the context lasts.

    ``retire`` names the sets of other harnesses that are there now and were never committed for
    removal: edits that were tried and left. Committed ones stay until somebody prunes them. A
    branch that deletes a set and adds a similar one looks to git like a renaming, and two
    branches that rename one file apart can not be merged.

    UsageError when another process records this harness.
    """
    shelf = state.shelf
    folder = shelf.folder / harness.short
    RunStore(state.project.state).prepare()
    place = shelf.folder if shelf.outside else state.project.state
    try:
        with hold(place / f".recording-{harness.short}"):
            settle_set(folder)
            # Outside the repository they may be another clone's.
            others = _folders(shelf, but=harness.short) if retire and not shelf.outside else []
            yield Publication(
                state=state, folder=folder, found=_content(folder), retired=tuple(others)
            )
    except HeldError as error:
        owner = "another process" if error.owner is None else f"process {error.owner}"
        message = f"this harness ({harness.short}) is being recorded by {owner}"
        raise UsageError(message, hint="wait until it has ended: one recording counts") from error


def recorded_before(state: State, fingerprint: str) -> int:
    """Return how often this harness was recorded, by the cassettes on disk."""
    files = files_below(state.shelf.folder / short_of(fingerprint))
    headers = (header_of(data) for _, data in files)
    return max((header.recording for header in headers if header), default=0)


def publication_warning(state: State, harness: Harness) -> str:
    """Return one line when a project's first recording may become public, else nothing."""
    shelf = state.shelf
    if shelf.outside or (shelf.folder / harness.short).exists():
        return ""
    if _folders(shelf, but=harness.short):
        return ""
    host = public_host(state.project.git)
    if not host:
        return ""
    return (
        f"cassettes hold your prompts, source code and the vendor's replies: if the repository "
        f"on {host} is public, keep [cassettes] path outside it"
    )


def _content(folder: Path) -> dict[str, str]:
    """Return the digest of each file of a set, by its path there."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def _folders(shelf: Shelf, *, but: str) -> list[Path]:
    return [
        folder
        for folder in (sorted(shelf.folder.iterdir()) if shelf.folder.is_dir() else ())
        if FOLDER.fullmatch(folder.name) and folder.name != but
        if folder.is_dir() and not folder.is_symlink()
    ]


def _uncommitted(state: State, folders: Sequence[Path]) -> list[Path]:
    names = [f"HEAD:{state.shelf.within}/{folder.name}" for folder in folders]
    found = state.project.git.lookup(*names) if names else ()
    return [folder for folder, oid in zip(folders, found, strict=True) if oid is None]
