"""Baselines: TOML text and core values."""

from __future__ import annotations

from evalgate.core.baseline import Baseline
from evalgate.core.files import Tree
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
    start = "" if fingerprint is None else fingerprint[:16]
    found = (
        load_baseline(file.data, name=f"{FOLDER}/{path}")
        for path, file in sorted(files.items())
        if "/" not in path and path.endswith(".toml") and path.startswith(start)
    )
    return tuple(one for one in found if fingerprint in (None, one.sample.fingerprint))
