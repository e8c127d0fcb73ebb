"""A claim: the files an agent hands back, as a change to the snapshot it was given."""

from __future__ import annotations

import base64
import difflib
import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from evalgate.core.files import File, FileMode, Tree, is_safe_path
from evalgate.core.json import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """Files changed or added, and paths deleted, against the snapshot."""

    changed: Tree = field(default_factory=dict)
    deleted: tuple[str, ...] = ()

    @property
    def touched(self) -> tuple[str, ...]:
        """Every path the claim touches, sorted."""
        return tuple(sorted({*self.changed, *self.deleted}))

    def applied_to(self, snapshot: Tree) -> dict[str, File]:
        """Return the snapshot as the agent left it."""
        kept = {path: file for path, file in snapshot.items() if path not in self.deleted}
        return {**kept, **self.changed}

    def without(self, paths: Collection[str]) -> Claim:
        """Return the claim as if it had left some paths as they were."""
        return Claim(
            changed={path: file for path, file in self.changed.items() if path not in paths},
            deleted=tuple(path for path in self.deleted if path not in paths),
        )

    def labelled(self, token: str, label: str) -> Claim:
        """Return the claim with a label in place of what is another one in each trial."""
        old, new = token.encode(), label.encode()
        return Claim(
            changed={
                path.replace(token, label): replace(file, data=file.data.replace(old, new))
                for path, file in self.changed.items()
            },
            deleted=tuple(path.replace(token, label) for path in self.deleted),
        )

    def to_json(self) -> dict[str, Json]:
        """Return the JSON form: UTF-8 text as it is, other bytes in base64."""
        changed = {_written(p): _file_to_json(f) for p, f in sorted(self.changed.items())}
        return {"changed": changed, "deleted": [_written(path) for path in self.deleted]}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Claim:
        """Read the JSON form; a path that leaves the workspace raises ValueError."""
        changed = {_read(path): _file_from_json(item) for path, item in value["changed"].items()}
        deleted = tuple(_read(path) for path in value["deleted"])
        for path in (*changed, *deleted):
            if not is_safe_path(path):
                message = f"the claim holds the path {path!r}, which leaves the workspace"
                raise ValueError(message)
        return cls(changed=changed, deleted=deleted)


def claim_of(snapshot: Tree, after: Tree) -> Claim:
    """Return what changed between a snapshot and the workspace an agent left."""
    changed = {
        path: file
        for path, file in after.items()
        if snapshot.get(path) != file and not _is_litter(path)
    }
    return Claim(changed=changed, deleted=tuple(sorted(snapshot.keys() - after.keys())))


def render_patch(snapshot: Tree, claim: Claim) -> str:
    """Return the claim as a unified diff, for people to read."""
    return "".join(_patch_lines(snapshot, claim))


def diff_lines(snapshot: Tree, claim: Claim) -> int:
    """Return the number of lines the claim adds and removes."""
    changes = line_changes(snapshot, claim).values()
    return sum(len(change.added) + len(change.removed) for change in changes)


@dataclass(frozen=True, slots=True, kw_only=True)
class LineChange:
    """The lines that a claim adds to a file and removes from it, each with its end."""

    added: tuple[str, ...]
    removed: tuple[str, ...]


def line_changes(snapshot: Tree, claim: Claim) -> dict[str, LineChange]:
    """Return what the claim changes in each file that it touches and that is text."""
    changes = {}
    for path in claim.touched:
        old, new = _lines(snapshot.get(path)), _lines(claim.changed.get(path))
        if old is not None and new is not None:
            # The first two lines name the file; a changed line may look like them.
            body = list(difflib.unified_diff(old, new))[2:]
            changes[path] = LineChange(
                added=tuple(line[1:] for line in body if line[0] == "+"),
                removed=tuple(line[1:] for line in body if line[0] == "-"),
            )
    return changes


def _patch_lines(snapshot: Tree, claim: Claim) -> Iterator[str]:
    for path in claim.touched:
        before, after = snapshot.get(path), claim.changed.get(path)
        old, new = _lines(before), _lines(after)
        if old is None or new is None:
            yield f"Binary file {path} differs\n"
            continue
        names = (
            _name(f"a/{path}") if before else "/dev/null",
            _name(f"b/{path}") if after else "/dev/null",
        )
        if old == new:  # only an empty file that appears or goes, or another mode
            yield from (f"--- {names[0]}\n", f"+++ {names[1]}\n")
        for line in difflib.unified_diff(old, new, *names):
            yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def _lines(file: File | None) -> list[str] | None:
    if file is None:
        return []
    try:
        return split_lines(file.data.decode())
    except UnicodeDecodeError:
        return None


def split_lines(text: str) -> list[str]:
    """Split text at line feeds alone, as diffs do; each line keeps its end."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _name(path: str) -> str:
    # Quoted as git does where a line can not hold it, so that no path forges a header.
    return path if path.isprintable() else json.dumps(path)


def _is_litter(path: str) -> bool:
    # Running a program leaves byte code behind; it says nothing about what the agent did.
    return "__pycache__" in path.split("/")


_ODD = "base64:"


def _written(path: str) -> str:
    # JSON holds no name that is not UTF-8.
    try:
        path.encode()
    except UnicodeEncodeError:
        pass
    else:
        if not path.startswith(_ODD):
            return path
    return _ODD + base64.b64encode(path.encode("utf-8", "surrogateescape")).decode()


def _read(path: str) -> str:
    if not path.startswith(_ODD):
        return path
    return base64.b64decode(path.removeprefix(_ODD)).decode("utf-8", "surrogateescape")


def _file_to_json(file: File) -> dict[str, Json]:
    try:
        content: dict[str, Json] = {"text": file.data.decode()}
    except UnicodeDecodeError:
        content = {"base64": base64.b64encode(file.data).decode()}
    return {"mode": str(file.mode), **content}


def _file_from_json(value: Mapping[str, Any]) -> File:
    data = value["text"].encode() if "text" in value else base64.b64decode(value["base64"])
    return File(data=data, mode=FileMode(value["mode"]))
