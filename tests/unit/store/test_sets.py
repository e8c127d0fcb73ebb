"""A set of files is replaced as a whole: wherever it stops, one whole set is there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from evalgate.store.sets import replace_set

OLD = {"a/1.json": b"old 1", "a/2.json": b"old 2"}
NEW = {"a/1.json": b"new 1", "b/1.json": b"new 2"}

#: Replaces a set, and stops at the N-th step that changes the disk: dead, or with an error.
PROGRAM = """
import os, sys
from pathlib import Path
from evalgate.store.sets import replace_set

folder, wanted, way = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
steps, stopped = 0, False

def look(event, arguments):
    global steps, stopped
    writes = event == "open" and isinstance(arguments[2], int) and arguments[2] & os.O_CREAT
    if stopped or not (writes or event in {"os.rename", "os.remove", "os.rmdir", "os.mkdir"}):
        return
    steps += 1
    if steps == wanted:
        stopped = True
        if way == "dies":
            os._exit(9)
        raise OSError(28, "No space left on device")

sys.addaudithook(look)
try:
    replace_set(folder, {"a/1.json": b"new 1", "b/1.json": b"new 2"})
except OSError:
    os._exit(8)
os._exit(7 if stopped else 0)
"""


def files(folder: Path) -> dict[str, bytes]:
    """Return what lies in a folder."""
    found = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


def put(folder: Path, content: dict[str, bytes]) -> None:
    """Write a set by hand."""
    for name, data in content.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)


def test_a_set_takes_the_place_of_another_as_a_whole(tmp_path: Path) -> None:
    """Files that only the old one had are gone, and nothing else is left."""
    put(tmp_path / "set", OLD)
    replace_set(tmp_path / "set", NEW)
    assert files(tmp_path / "set") == NEW
    assert [path.name for path in tmp_path.iterdir()] == ["set"]


@pytest.mark.parametrize("way", ["dies", "fails"])
def test_wherever_it_stops_one_whole_set_is_there(tmp_path: Path, way: str) -> None:
    """The old one or the new one, by its name or aside; the next attempt tidies up."""
    ends = []
    while not ends or ends[-1]:
        step = len(ends) + 1
        folder = tmp_path / str(step) / "set"
        put(folder, OLD)
        done = subprocess.run([sys.executable, "-c", PROGRAM, folder, str(step), way], check=False)
        ends.append(done.returncode)
        whole = [files(path) for path in (folder, folder.with_name(".set.old")) if path.exists()]
        assert OLD in whole or NEW in whole
        if way == "fails":
            assert files(folder) == (OLD if done.returncode == 8 else NEW)
        replace_set(folder, NEW)
        assert files(folder) == NEW
        assert [path.name for path in folder.parent.iterdir()] == ["set"]
    # An error while the old set is removed is none.
    assert set(ends) == ({9, 0} if way == "dies" else {8, 7, 0})


def test_a_set_that_lost_its_name_gets_it_back(tmp_path: Path) -> None:
    """A process died after the old one was put aside; an error then leaves the old one."""
    put(tmp_path / ".set.old", OLD)
    put(tmp_path / ".set.new", {"a/1.json": b"half"})
    with pytest.raises(TypeError):
        replace_set(tmp_path / "set", {"a/1.json": "no bytes"})  # type: ignore[dict-item]
    assert files(tmp_path / "set") == OLD
    assert [path.name for path in tmp_path.iterdir()] == ["set"]
