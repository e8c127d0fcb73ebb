"""Baselines and ledger entries: TOML text and core values."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import Any

import tomli_w

from evalgate.core.baseline import Baseline
from evalgate.core.files import Tree
from evalgate.core.identity import FORMAT
from evalgate.errors import UsageError


def dump_baseline(baseline: Baseline) -> bytes:
    """Return the file's bytes."""
    return _dump(baseline.to_json())


def load_baseline(data: bytes, *, name: str) -> Baseline:
    """Read a baseline file; UsageError names it when it is newer, cut or edited."""
    try:
        value: Mapping[str, Any] = tomllib.loads(data.decode())
        if int(value["format"]) > FORMAT:
            message = f"{name}: format {value['format']} is newer than this evalgate knows"
            raise UsageError(message, hint="upgrade git-evalgate")
        baseline = Baseline.from_json(value)
    except (ValueError, LookupError, TypeError, AttributeError, OverflowError) as error:
        message = f"{name}: this is no baseline: {error!r}"
        raise UsageError(message, hint="restore it from git") from error
    if name.rsplit("/", 1)[-1] != baseline.filename:
        message = f"{name}: the content belongs to {baseline.filename}: it was edited by hand"
        raise UsageError(message, hint="restore it from git; `evalgate baseline accept` adds one")
    return baseline


def load_baselines(files: Tree, *, fingerprint: str | None = None) -> tuple[Baseline, ...]:
    """Read the baselines among files below ``baselines/``, those of one harness if named."""
    start = "" if fingerprint is None else fingerprint[:16]
    found = (
        load_baseline(file.data, name=f"baselines/{path}")
        for path, file in sorted(files.items())
        if "/" not in path and path.endswith(".toml") and path.startswith(start)
    )
    return tuple(one for one in found if fingerprint in (None, one.sample.fingerprint))


def dump_ledger(entry: Mapping[str, Any]) -> bytes:
    """Return the bytes of one experiment's ledger file."""
    return _dump({"format": FORMAT, **entry})


def _dump(value: Mapping[str, Any]) -> bytes:
    text = tomli_w.dumps(value, multiline_strings=True)
    if tomllib.loads(text) != value:  # a multi-line string loses the CR of CR LF
        text = tomli_w.dumps(value)
    return text.encode()
