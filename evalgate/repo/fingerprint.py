"""The name of a harness: a digest of its files and settings as they stand in a git tree."""

from __future__ import annotations

import hashlib
import posixpath
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evalgate.core.short_name import short_of
from evalgate.errors import UsageError
from evalgate.repo.git import Git
from evalgate.repo.pathspecs import to_pathspecs
from evalgate.repo.treeview import SUBMODULE, Entry, TreeView

_DOMAIN = b"evalgate-fingerprint\0v1\0"
_SYMLINK = "120000"
SETTINGS = "settings"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fingerprint:
    """``digest`` (64 hex) of everything, one digest a part, and what each part matched.

    ``parts`` also holds ``settings``, whose text is ``settings``; paths in ``entries`` are relative
    to the project.
    """

    digest: str
    parts: Mapping[str, str]
    entries: Mapping[str, tuple[Entry, ...]]
    settings: bytes
    warnings: tuple[str, ...] = ()

    @property
    def short(self) -> str:
        """Its first twelve hex, which name the harness and its recordings."""
        return short_of(self.digest)


@dataclass(frozen=True, slots=True, kw_only=True)
class LineCount:
    """Lines added and removed in one file; None for a binary one."""

    added: int | None
    removed: int | None


def fingerprint(
    view: TreeView, *, parts: Mapping[str, Sequence[str]], root: str, settings: bytes
) -> Fingerprint:
    """Name the harness in ``view``; equal content gives an equal digest anywhere.

    ``parts`` maps a name to globs relative to ``root``; ``settings`` is the canonical text
    of the tables that belong to the harness. A glob without a match is a `UsageError`.
    """
    if SETTINGS in parts:
        message = f"a part can not be called {SETTINGS!r}"
        raise UsageError(message, hint="that name stands for the tables of the configuration")
    matched = {name: _matched(view, name, parts[name], root) for name in sorted(parts)}
    total, digests = _digests(view.git, matched, settings)
    return Fingerprint(
        digest=total,
        parts=digests,
        entries=matched,
        settings=settings,
        warnings=(*_submodules(matched), *_leaving_links(view, matched)),
    )


def carried_over(git: Git, older: Fingerprint, before: Fingerprint, after: Fingerprint) -> str:
    """Return the digest that an older harness has with the change from one to another in it.

    File by file: what the change leaves alone is as it was in the older one.
    """
    changed = before.settings != after.settings
    settings = after.settings if changed else older.settings
    names = (after if changed else older).entries
    matched = {
        name: _carried(*(one.entries.get(name, ()) for one in (older, before, after)))
        for name in sorted(names)
    }
    return _digests(git, matched, settings)[0]


def _carried(
    older: Sequence[Entry], before: Sequence[Entry], after: Sequence[Entry]
) -> tuple[Entry, ...]:
    there, old, new = ({entry.path: entry for entry in one} for one in (older, before, after))
    kept = {path: entry for path, entry in there.items() if old.get(path) == new.get(path)}
    kept |= {path: entry for path, entry in new.items() if old.get(path) != entry}
    return tuple(kept[path] for path in sorted(kept, key=_as_bytes))


def _digests(
    git: Git, matched: Mapping[str, Sequence[Entry]], settings: bytes
) -> tuple[str, dict[str, str]]:
    """Return the digest of everything, and one a part."""
    total = hashlib.sha256(_DOMAIN + git.object_format.encode() + b"\0")
    digests: dict[str, str] = {}
    for name, entries in matched.items():
        text = _canonical(name, entries)
        digests[name] = hashlib.sha256(_DOMAIN + text).hexdigest()
        total.update(text)
    tables = SETTINGS.encode() + b"\0" + settings
    total.update(tables)
    digests[SETTINGS] = hashlib.sha256(_DOMAIN + tables).hexdigest()
    return total.hexdigest(), digests


def diff_parts(old: Fingerprint, new: Fingerprint) -> list[str]:
    """Return the names of the parts that differ, were added or were removed."""
    names = sorted({*old.parts, *new.parts})
    return [name for name in names if old.parts.get(name) != new.parts.get(name)]


def diff_text(git: Git, old: TreeView, new: TreeView, globs: Sequence[str], root: str = "") -> str:
    """Return the unified diff of what the globs match; bytes outside UTF-8 are replaced."""
    return _diff(git, old, new, ("-p", "-U3"), to_pathspecs(globs, root=root)).decode(
        "utf-8", "replace"
    )


def diff_counts(
    git: Git, old: TreeView, new: TreeView, globs: Sequence[str], root: str = ""
) -> dict[str, LineCount]:
    """Return the lines added and removed in each file that differs, by full path."""
    out = _diff(git, old, new, ("--numstat", "-z"), to_pathspecs(globs, root=root))
    counts = {}
    for field in out.decode("utf-8", "surrogateescape").split("\0")[:-1]:
        added, removed, path = field.split("\t", 2)
        counts[path] = LineCount(added=_lines(added), removed=_lines(removed))
    return counts


def _diff(
    git: Git, old: TreeView, new: TreeView, style: Sequence[str], pathspecs: Sequence[str]
) -> bytes:
    if not pathspecs:
        return b""
    plain = ("--no-ext-diff", "--no-textconv", "--no-renames", "--no-color", "--full-index")
    # Either tree may live in a temporary object directory of its own.
    reader = git.reading_with(old.git).reading_with(new.git)
    return reader.compare_trees(*plain, *style, old.tree, new.tree, "--", *pathspecs)


def _matched(view: TreeView, name: str, globs: Sequence[str], root: str) -> tuple[Entry, ...]:
    if not globs:
        message = f"part {name!r} has no globs"
        raise UsageError(message, hint="a part names the files it is made of")
    found: dict[str, Entry] = {}
    for glob in globs:
        entries = view.entries([glob], root=root)
        if not entries:
            message = f"part {name!r}: the glob {glob!r} matches nothing in {view.label}"
            raise UsageError(message, hint="only files that git knows and does not ignore count")
        found |= {entry.path: entry for entry in entries}
    return tuple(found[path] for path in sorted(found, key=_as_bytes))


def _canonical(name: str, entries: Sequence[Entry]) -> bytes:
    """Spell a part so that no two different ones read the same: counted and NUL-ended."""
    head = f"part\0{name}\0{len(entries)}\0".encode()
    lines = (f"{entry.mode} {entry.oid}\t".encode() + _as_bytes(entry.path) for entry in entries)
    return head + b"".join(line + b"\0" for line in lines)


def _submodules(matched: Mapping[str, Sequence[Entry]]) -> list[str]:
    return [
        f"part {name!r}: {entry.path} is a submodule; its commit counts, its files are not seen"
        for name, entries in matched.items()
        for entry in entries
        if entry.mode == SUBMODULE
    ]


def _leaving_links(view: TreeView, matched: Mapping[str, Sequence[Entry]]) -> list[str]:
    """Name the links that point at content which is not part of the fingerprint."""
    known = {entry.path for entries in matched.values() for entry in entries}
    links = {e.path: e for entries in matched.values() for e in entries if e.mode == _SYMLINK}
    warnings = []
    for path, file in sorted(view.read(links.values()).items()):
        text = file.data.decode("utf-8", "surrogateescape")
        target = posixpath.normpath(posixpath.join(posixpath.dirname(path), text))
        inside = target in known or any(name.startswith(f"{target}/") for name in known)
        if not inside:
            warnings.append(f"{path} is a link to {text!r}, which no part covers")
    return warnings


def _lines(text: str) -> int | None:
    return None if text == "-" else int(text)


def _as_bytes(path: str) -> bytes:
    return path.encode("utf-8", "surrogateescape")
