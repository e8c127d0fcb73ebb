"""Writing a file, whole or not at all; folders for one command."""

from __future__ import annotations

import os
import stat
import tempfile
from contextlib import ExitStack
from pathlib import Path

import pytest

from evalgate.disk import open_passing_folder, passing_folders, write_whole


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


def test_a_passing_folder_is_there_for_one_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One whose command was killed is found once it is old."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with open_passing_folder("tree") as folder:
        assert folder.parent == tmp_path
        assert list(passing_folders(age=-60)) == [folder]
        assert list(passing_folders(age=60)) == []
        os.utime(folder, (0, 0))
        assert list(passing_folders(age=60)) == [folder]
    assert not folder.exists()


def test_a_passing_folder_that_goes_meanwhile_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A command that lives removes its folder while the others are looked at."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with ExitStack() as stack:
        folders = sorted(stack.enter_context(open_passing_folder("tree")) for _ in range(3))
        found = passing_folders(age=-60)
        assert next(found) == folders[0]
        folders[1].rmdir()
        assert list(found) == [folders[2]]
        folders[1].mkdir()
