"""A set of files in one folder: replaced as a whole, also when the process dies half-way."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from evalgate.disk import write_whole


def replace_set(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files, by their path in the folder, in place of all that was there.

    The old set is put aside, and removed when the new one has its name: one of the two is whole
    at any time. An error leaves the old one. Only one process at a time may do this.
    """
    settle_set(folder)
    fresh, aside = _fresh(folder), _aside(folder)
    try:
        for name, data in files.items():
            write_whole(fresh / name, data)
        if folder.exists():
            folder.replace(aside)
        fresh.replace(folder)
    except BaseException:
        settle_set(folder)
        raise
    # The new set is in its place; an old one that can not go now goes the next time.
    with suppress(OSError):
        settle_set(folder)


def settle_set(folder: Path) -> None:
    """Tidy up after a `replace_set` that was killed: a set that has lost its name gets it back."""
    fresh, aside = _fresh(folder), _aside(folder)
    shutil.rmtree(fresh, ignore_errors=True)
    if aside.exists():
        # Under this name nobody takes what is half removed for a set.
        aside.replace(fresh if folder.exists() else folder)
        shutil.rmtree(fresh, ignore_errors=True)


def _fresh(folder: Path) -> Path:
    return folder.with_name(f".{folder.name}.new")


def _aside(folder: Path) -> Path:
    return folder.with_name(f".{folder.name}.old")
