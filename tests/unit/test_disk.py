"""Writing a file, whole or not at all; folders for one command."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import tempfile
from pathlib import Path
from subprocess import PIPE

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


#: Makes a folder, tells its name and is killed by whoever reads it.
KILLED = """
import time
from evalgate.disk import open_passing_folder
with open_passing_folder("tree") as folder:
    print(folder, flush=True)
    time.sleep(600)
"""


def left_folder(parent: Path) -> Path:
    """Let a process make a folder and be killed; return the folder."""
    environ = {**os.environ, "TMPDIR": str(parent)}
    with subprocess.Popen([sys.executable, "-c", KILLED], env=environ, stdout=PIPE) as process:
        try:
            assert process.stdout is not None
            folder = Path(process.stdout.readline().decode().strip())
            assert folder not in passing_folders(parent)
        finally:
            process.kill()
    return folder


def test_a_passing_folder_is_there_for_one_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody finds it while its process lives, however old it is."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with open_passing_folder("tree") as folder:
        assert folder.parent == tmp_path
        os.utime(folder, (0, 0))
        assert list(passing_folders()) == []
    assert not folder.exists()


def test_a_folder_of_a_killed_command_is_found_at_once(tmp_path: Path) -> None:
    """As soon as its process is gone."""
    folder = left_folder(tmp_path)
    assert folder.is_dir()
    assert list(passing_folders(tmp_path)) == [folder]


def test_a_folder_of_another_machine_is_found_a_day_later(tmp_path: Path) -> None:
    """Its process can not be looked for here; nor can that of a name that tells none."""
    for name in ("evalgate-passing-tree-1-2-abc-x", "evalgate-passing-tree-x"):
        folder = tmp_path / name
        folder.mkdir()
        assert list(passing_folders(tmp_path)) == []
        os.utime(folder, (0, 0))
        assert list(passing_folders(tmp_path)) == [folder]
        folder.rmdir()


def test_a_passing_folder_that_goes_meanwhile_is_none(tmp_path: Path) -> None:
    """A command that lives removes its folder while the others are looked at."""
    folders = sorted(left_folder(tmp_path) for _ in range(3))
    found = passing_folders(tmp_path)
    assert next(found) == folders[0]
    folders[1].rmdir()
    assert list(found) == [folders[2]]
