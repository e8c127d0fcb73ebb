"""Waivers below ``baselines/waivers/``: TOML text and core values."""

from __future__ import annotations

import tomllib

import tomli_w

from evalgate.core.files import Tree
from evalgate.core.identity import FORMAT
from evalgate.core.waiver import Waiver
from evalgate.errors import UsageError

#: Their folder, from the project's directory.
FOLDER = "baselines/waivers"

_HINT = "restore it from git; `evalgate waive` writes one"


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
    try:
        value = tomllib.loads(data.decode())
        if int(value["format"]) > FORMAT:
            message = f"{name}: format {value['format']} is newer than this evalgate knows"
            raise UsageError(message, hint="upgrade git-evalgate")
        waiver = Waiver.from_json(value)
    except (ValueError, LookupError, TypeError, OverflowError) as error:
        message = f"{name}: this is no waiver: {error!r}"
        raise UsageError(
            message, hint="restore it from git; `evalgate waive` writes one"
        ) from error
    if name.rsplit("/", 1)[-1] != waiver.filename:
        message = f"{name}: the content belongs to {waiver.filename}: it was edited by hand"
        raise UsageError(message, hint=_HINT)
    return waiver
