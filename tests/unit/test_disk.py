"""Writing a file: whole or not at all."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from evalgate.disk import write_whole


def test_a_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    """Directories are made, the old content goes, nothing else stays beside it."""
    path = tmp_path / "a" / "b.json"
    write_whole(path, b"old and long")
    write_whole(path, b"new")
    assert path.read_bytes() == b"new"
    assert list(path.parent.iterdir()) == [path]
    assert stat.S_IMODE(path.stat().st_mode) == 0o644


def test_a_write_that_fails_leaves_nothing(tmp_path: Path) -> None:
    """Where the name can not be taken, no temporary file stays."""
    (tmp_path / "name").mkdir()
    with pytest.raises(OSError, match="directory"):
        write_whole(tmp_path / "name", b"x")
    assert list(tmp_path.iterdir()) == [tmp_path / "name"]
