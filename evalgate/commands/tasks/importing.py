"""`evalgate task import`: folders of ours from tasks of other formats, all of them or none."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from evalgate.commands.answer import Answer
from evalgate.commands.project import WORKTREE, Project, open_state
from evalgate.commands.tasks.lint import broken
from evalgate.commands.tasks.writing import TaskFolders, holds, require_free, write_folders
from evalgate.core.files import Tree
from evalgate.core.identity import folded, storage_key
from evalgate.core.json import Json
from evalgate.errors import UsageError
from evalgate.repo.git import Git
from evalgate.repo.subject import Subject
from evalgate.repo.treeview import open_tree
from evalgate.tasks.draft import Draft
from evalgate.tasks.formats import read_drafts
from evalgate.tasks.source import find_sources
from evalgate.tasks.suite import read_folders

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportOptions:
    """What is imported: where it lies, its format where that is not plain, and where it goes.

    ``repo`` is a clone in which instances of SWE-bench find the commit they begin at.
    """

    sources: Sequence[Path]
    into: str | None = None
    format_name: str = ""
    repo: Path | None = None
    dry_run: bool = False


#: What only people can add, so that it is said and stands in nobody's way.
_LATER: Final = frozenset({"no-solution"})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Made:
    """A folder that is to be written; ``source`` is where it comes from, ``name`` its own."""

    id: str
    format: str
    source: Path
    name: str
    files: Tree
    notes: tuple[str, ...]


def import_tasks(project: Project, options: ImportOptions) -> Answer:
    """Write a folder for each task, below the suite's folder or the one that is named.

    Raises:
        UsageError: one can not be read, breaks a rule of `evalgate task lint`, or there is
            something at its place already.
    """
    with open_state(project, WORKTREE) as state:
        folders = TaskFolders.of(state, options.into)
        return write_tasks(options, folders, state.task_files if folders.in_suite else dict)


def write_tasks(
    options: ImportOptions, folders: TaskFolders, suite: Callable[[Tree], Tree] = dict
) -> Answer:
    """Write the folders: all of them, or none when one is not sound.

    Those that are there as they would be written, since the same command was killed between them,
    are left; unless all are. ``suite`` returns the files of all tasks, as if some more were there.
    """
    made: dict[str, _Made] = {}
    for source in options.sources:
        for kind, place, files in find_sources(source, name=options.format_name):
            parent = place if place.is_dir() else place.parent
            for draft in read_drafts(kind, str(parent), files):
                one = _made(kind, place, _at_commit(draft, options.repo), made)
                made[folded(one.name)] = one
    places = {folders.folder / one.name: one for one in made.values()}
    open_ = [place for place, one in places.items() if not holds(place, one.files)]
    for place in open_ or places:
        require_free(place)
    _require_sound(places.values(), folders, suite)
    if not options.dry_run:
        write_folders({place: places[place].files for place in open_})
    text = "\n".join([_text(places, options), *folders.notes])
    return Answer(text=text, value=_json(places, options))


def _made(kind: str, place: Path, draft: Draft, others: Mapping[str, _Made]) -> _Made:
    if any(folded(one.id) == folded(draft.id) for one in others.values()):
        message = f"{place}: the id {draft.id!r} is there twice"
        raise UsageError(message, hint="give each task an id of its own")
    slug = _UNSAFE.sub("-", draft.id).strip("-.")
    name = slug if slug and folded(slug) not in others else storage_key(draft.id)
    files = draft.whole().folder()
    return _Made(id=draft.id, format=kind, source=place, name=name, files=files, notes=draft.notes)


def _require_sound(
    made: Collection[_Made], folders: TaskFolders, suite: Callable[[Tree], Tree]
) -> None:
    """Refuse what would break a rule: what is imported is what `evalgate task lint` takes."""
    laid = {
        f"{folders.name}/{one.name}/{path}": file
        for one in made
        for path, file in one.files.items()
    }
    before = {problem for _, problem in broken(read_folders(suite({})))}
    for rule, problem in broken(read_folders(suite(laid))):
        if problem in before or rule.name in _LATER:
            continue
        own = (one for one in made if f"{problem.file}/".startswith(f"{folders.name}/{one.name}/"))
        one = next(own, None)
        # What breaks a rule may be the other one of two, which was there before.
        whose = "" if one is None else f"{one.source}: {one.id} would not be sound: "
        message = f"{whose}{problem.place}: {rule.name}: {problem.words}"
        raise UsageError(message, hint=problem.hint or rule.hint)


def _at_commit(draft: Draft, repo: Path | None) -> Draft:
    """Return a draft whose workspace is a commit of a clone, in place of an image."""
    if repo is None or not draft.commit:
        return draft
    with open_tree(Git.locate(repo.resolve()), Subject.parse(draft.commit)) as view:
        workspace = view.read_prefix("")
    return replace(draft, workspace=workspace, image="", workdir="", notes=())


def _text(places: Mapping[Path, _Made], options: ImportOptions) -> str:
    verb = "would write" if options.dry_run else "wrote"
    lines = [f"{verb} {place}  ({one.format})" for place, one in places.items()]
    lines += list(dict.fromkeys(f"note: {note}" for one in places.values() for note in _notes(one)))
    return "\n".join([*lines, "", "next: evalgate task lint, then evalgate task verify"])


def _notes(one: _Made) -> tuple[str, ...]:
    if any(path.startswith("solution/") for path in one.files):
        return one.notes
    return (*one.notes, f"{one.id} has no solution yet, so it can not be proven: write solve.sh")


def _json(places: Mapping[Path, _Made], options: ImportOptions) -> dict[str, Json]:
    tasks: list[Json] = [
        {"id": one.id, "format": one.format, "folder": str(place), "notes": [*_notes(one)]}
        for place, one in places.items()
    ]
    return {"tasks": tasks, "written": not options.dry_run}
