"""Baselines: TOML text and core values."""

from __future__ import annotations

from collections.abc import Iterator

from evalgate.core.baseline import Baseline
from evalgate.core.files import Tree
from evalgate.errors import UsageError
from evalgate.store.document import dump_document, load_document, require_own_name

#: Their folder, from the project's directory.
FOLDER = "baselines"


def dump_baseline(baseline: Baseline) -> bytes:
    """Return the file's bytes."""
    return dump_document(baseline.to_json())


def load_baseline(data: bytes, *, name: str) -> Baseline:
    """Read a baseline file; UsageError names it when it is newer, cut or edited."""
    baseline = load_document(data, name=name, what="baseline", read=Baseline.from_json)
    require_own_name(name, baseline.filename, hint="`evalgate baseline accept` adds one")
    return baseline


def load_baselines(files: Tree, *, fingerprint: str | None = None) -> tuple[Baseline, ...]:
    """Read the baselines among files below ``baselines/``, those of one harness if named."""
    found = (load_baseline(data, name=name) for name, data in _named(files, fingerprint or ""))
    return tuple(one for one in found if fingerprint in (None, one.sample.fingerprint))


def sift_baselines(files: Tree) -> tuple[tuple[Baseline, ...], dict[str, UsageError]]:
    """Read all that can be read; what is wrong with each other file, by its name."""
    found: list[Baseline] = []
    wrong: dict[str, UsageError] = {}
    for name, data in _named(files):
        try:
            found.append(load_baseline(data, name=name))
        except UsageError as error:
            wrong[name] = error
    return tuple(found), wrong


def _named(files: Tree, fingerprint: str = "") -> Iterator[tuple[str, bytes]]:
    for path, file in sorted(files.items()):
        if "/" not in path and path.endswith(".toml") and path.startswith(fingerprint[:16]):
            yield f"{FOLDER}/{path}", file.data
