"""Rules about what tasks are called: on any file system no two of them may meet."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Sequence

from evalgate.commands.tasks.rules.problem import Problem, at_key
from evalgate.core.identity import folded, storage_key
from evalgate.tasks.suite import Folder


def same_ids(folders: Sequence[Folder]) -> Iterator[Problem]:
    """Two ids are the same, also by case or by Unicode form."""
    for first, other in _pairs(folders, folded):
        file, line = at_key(other, "task", "name")
        words = f"the id {_shown(other.id)} is used by {first.path} as well"
        words += "" if first.id == other.id else f", as {_shown(first.id)}"
        yield Problem(file=file, line=line, words=words)


def same_keys(folders: Sequence[Folder]) -> Iterator[Problem]:
    """Two ids have one name on disk, so that their recordings would be one another's."""
    for first, other in _pairs(folders, storage_key):
        if folded(first.id) != folded(other.id):
            file, line = at_key(other, "task", "name")
            words = (
                f"{other.id!r} and {first.id!r} of {first.path} are both {storage_key(first.id)}"
            )
            yield Problem(file=file, line=line, words=words)


def unusual_forms(folders: Sequence[Folder]) -> Iterator[Problem]:
    """An id that nobody types: not in NFC, with blanks around it, or like a pattern or a place."""
    for folder in folders:
        if folder.task is None:
            continue
        name, file_line = folder.id, at_key(folder, "task", "name")
        words = ""
        if unicodedata.normalize("NFC", name) != name:
            words = "is not in Unicode's form NFC"
        elif not name.isprintable():
            words = "has characters that nobody sees"
        elif name != name.strip() or "  " in name:
            words = "has blanks that nobody sees"
        elif unlike := sorted(set("*?[]:").intersection(name)):
            words = f"holds {unlike[0]!r}, which means something where tasks are named"
        elif name.startswith(("tag:", "local/")):
            words = "begins as no id does"
        if words:
            yield Problem(
                file=file_line[0], line=file_line[1], words=f"the id {_shown(name)} {words}"
            )


def same_folders(folders: Sequence[Folder]) -> Iterator[Problem]:
    """Two folders are one where the file system folds names."""
    seen: dict[str, str] = {}
    for folder in folders:
        first = seen.setdefault(folded(folder.path), folder.path)
        if first != folder.path:
            words = f"is the same as {first} where case or Unicode forms do not count"
            yield Problem(file=folder.path, words=words)


def _shown(name: str) -> str:
    """Return an id as it is told from others that look the same."""
    plain = name.isprintable() and unicodedata.normalize("NFC", name) == name
    return repr(name) if plain else ascii(name)


def _pairs(folders: Sequence[Folder], key: Callable[[str], str]) -> Iterator[tuple[Folder, Folder]]:
    seen: dict[str, Folder] = {}
    for folder in folders:
        if folder.task is not None:
            first = seen.setdefault(key(folder.id), folder)
            if first is not folder:
                yield first, folder
