"""`evalgate cassette prune`: few recordings stay in the tree, the rest is put aside first."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from evalgate.commands.answer import Answer, bytes_text
from evalgate.commands.cassettes.retention import FOLDER, files_aside, full_ref
from evalgate.commands.project import WORKTREE, Project, State, open_state
from evalgate.commands.shelf import Shelf
from evalgate.commands.shelved import Shelved, shelved
from evalgate.core.json import Json
from evalgate.core.rates import counted
from evalgate.core.trial import Outcome
from evalgate.disk import write_whole
from evalgate.errors import UsageError
from evalgate.repo.keeping import keep_files, require_ref


@dataclass(frozen=True, slots=True, kw_only=True)
class PruneOptions:
    """What the command line says: how many trials of a task stay, and where the others go.

    ``ref`` is ``auto`` for the one of the current harness.
    """

    keep: int = 1
    folder: Path | None = None
    ref: str | None = None
    dry_run: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Aside:
    """Where recordings went, and the command that brings them back."""

    place: str
    back: str


def prune_cassettes(project: Project, options: PruneOptions) -> Answer:
    """Leave ``keep`` trials of each task of the current harness; put everything else aside.

    Passing trials are kept before others, then those of low numbers. UsageError when nothing
    would be left, or when what goes is nowhere else: neither committed nor put aside. A dry run
    refuses what the run would.
    """
    if options.folder is not None and options.ref is not None:
        message = "--to and --to-ref name two places"
        raise UsageError(message, hint="name one of them")
    with open_state(project, WORKTREE) as state:
        files = [one for one in shelved(state) if one.short]
        staying = _staying(files, state, options.keep)
        going = [one for one in files if one not in staying]
        shelf = state.shelf
        short = state.fingerprint.short
        aside = _put_aside(project, shelf, going, options, short)
    if not options.dry_run:
        for one in going:
            (shelf.folder / one.path).unlink(missing_ok=True)
        _remove_empty(shelf, going)
    return _answer(staying, going, aside, options)


def _staying(files: Sequence[Shelved], state: State, keep: int) -> list[Shelved]:
    short = state.fingerprint.short
    digests = {task.id: task.digest for task in state.tasks}
    trials = [(one, one.load()) for one in files if one.short == short]
    ours = [(one, trial) for one, trial in trials if digests.get(trial.task) == trial.task_digest]
    if files and not ours:
        message = f"nothing is recorded of this harness ({short}): all would go"
        raise UsageError(message, hint="record it first: evalgate run --record")
    staying = []
    for task in sorted({trial.task for _, trial in ours}):
        many = [(one, trial) for one, trial in ours if trial.task == task]
        many.sort(key=lambda pair: (pair[1].measured.get("outcome") != Outcome.PASSED, pair[1].n))
        staying += [one for one, _ in many[:keep]]
    return staying


def _require_apart(folder: Path, shelf: Shelf) -> None:
    """Refuse a place from which the removal of what was put aside would take it as well."""
    target, own = folder.resolve(), shelf.folder.resolve()
    if target.exists() and not target.is_dir():
        raise UsageError(f"--to {folder} is no folder", hint="name a folder, there or not yet")
    if target.is_relative_to(own) or own.is_relative_to(target) or ".git" in target.parts:
        message = f"--to {folder} is no place apart from the recordings in {shelf.name}"
        raise UsageError(message, hint="name a folder of their own, outside the recordings")


def _put_aside(
    project: Project,
    shelf: Shelf,
    going: Sequence[Shelved],
    options: PruneOptions,
    short: str,
) -> _Aside:
    shelter = shlex.quote(str(shelf.folder))
    if options.folder is not None:
        _require_apart(options.folder, shelf)
        back = f"cp -r {shlex.quote(str(options.folder))}/. {shelter}"
        for one in () if options.dry_run else going:
            write_whole(options.folder / one.path, one.data)
        return _Aside(place=str(options.folder), back=back)
    if options.ref is not None:
        ref = full_ref(options.ref, short)
        back = f"evalgate cassette export --from-ref {ref} --to {shelter}"
        require_ref(project.git, ref)
        if going and not options.dry_run:
            files = {f"{FOLDER}/{one.path}": one.data for one in going}
            keep_files(project.git, ref, files, message=f"Recordings put aside ({short})")
            _require_aside(project, ref, going)
        return _Aside(place=ref, back=back)
    lost = _nowhere_else(project, shelf, going)
    if lost:
        message = f"in no commit: {counted(len(lost), 'recording')}, as {lost[0]}"
        hint = "put them aside: --to DIR or --to-ref"
        if shelf.outside:
            message += f": {shelf.name} lies outside the repository"
        else:
            hint = f"commit them first, or {hint}"
        raise UsageError(message, hint=hint)
    (commit,) = project.git.lookup("HEAD^{commit}")
    here = (commit or "HEAD")[:12]
    place = f"the history, at {here}"
    return _Aside(place=place, back=f"git checkout {here} -- {shelter}")


def _require_aside(project: Project, ref: str, going: Sequence[Shelved]) -> None:
    there = files_aside(project, ref)
    for one in going:
        if one.path not in there or there[one.path].data != one.data:
            message = f"{ref} does not hold {one.name} as it is"
            raise UsageError(message, hint="nothing was removed; look at the ref with git show")


def _nowhere_else(project: Project, shelf: Shelf, going: Sequence[Shelved]) -> list[str]:
    if shelf.within is None:
        return [one.name for one in going]
    names = [f"HEAD:{shelf.within}/{one.path}" for one in going]
    found = project.git.lookup(*names) if names else ()
    blobs = {one.path: oid for one, oid in zip(going, found, strict=True)}
    now = _blobs_of(project, going)
    return [one.name for one in going if blobs[one.path] != now[one.path]]


def _blobs_of(project: Project, files: Sequence[Shelved]) -> dict[str, str]:
    return {
        one.path: project.git.run("hash-object", "--stdin", input=one.data).decode().strip()
        for one in files
    }


def _remove_empty(shelf: Shelf, going: Sequence[Shelved]) -> None:
    folders = {(shelf.folder / one.path).parent for one in going}
    for folder in [*sorted(folders), *sorted({one.parent for one in folders})]:
        with suppress(OSError):  # it still holds what was kept
            folder.rmdir()


def _answer(
    staying: Sequence[Shelved], going: Sequence[Shelved], aside: _Aside, options: PruneOptions
) -> Answer:
    size = sum(len(one.data) for one in going)
    value: dict[str, Json] = {
        "kept": [one.name for one in staying],
        "removed": [one.name for one in going],
        "removed_bytes": size,
        "aside": aside.place,
        "back": aside.back,
        "dry_run": options.dry_run,
    }
    if not going:
        return Answer(
            text=f"nothing to prune; what stays: {counted(len(staying), 'recording')}", value=value
        )
    verb = "would go" if options.dry_run else "went"
    lines = [
        *(f"keeps {one.name}" for one in staying),
        f"what stays: {counted(len(staying), 'recording')}; "
        f"{len(going)} ({bytes_text(size)}) {verb} to {aside.place}",
        f"back again: {aside.back}",
    ]
    if options.ref is not None:
        lines.append(f"a push of branches leaves the ref here: git push origin {aside.place}")
    lines.append("a set that is not whole is not judged: prune after the change was judged")
    return Answer(text="\n".join(lines), value=value)
