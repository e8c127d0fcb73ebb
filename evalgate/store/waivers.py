"""Waivers below ``baselines/waivers/``: TOML text and core values."""

from __future__ import annotations

import tomli_w

from evalgate.core.files import Tree
from evalgate.core.waiver import Waiver
from evalgate.store.baselines import FOLDER as BASELINES
from evalgate.store.document import load_document, require_own_name

#: Their folder, from the project's directory.
FOLDER = f"{BASELINES}/waivers"


def dump_waiver(waiver: Waiver) -> bytes:
    """Return the file's bytes."""
    return tomli_w.dumps(waiver.to_json()).encode()


def load_waivers(files: Tree) -> tuple[Waiver, ...]:
    """Read the waivers among files below their folder.

    Raises:
        UsageError: one is newer than this evalgate, is none, or was edited by hand.
    """
    return tuple(
        _load(file.data, f"{FOLDER}/{path}")
        for path, file in sorted(files.items())
        if path.endswith(".toml")
    )


def _load(data: bytes, name: str) -> Waiver:
    waiver = load_document(data, name=name, what="waiver", read=Waiver.from_json)
    require_own_name(name, waiver.filename, hint="`evalgate waive` writes one")
    return waiver
