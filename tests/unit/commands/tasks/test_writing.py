"""New folders of tasks on disk, also where several commands write the same one."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from evalgate.commands.tasks.writing import write_folder, written
from evalgate.core.files import File
from evalgate.errors import UsageError


def test_one_of_many_writes_it(tmp_path: Path) -> None:
    """Eight at once: one folder, whole, by one of them, and nothing is left beside it."""
    for turn in range(20):
        place = tmp_path / str(turn) / "task"
        start = threading.Barrier(8)

        def write(one: int, place: Path = place, start: threading.Barrier = start) -> bool:
            start.wait()
            return written(place, {f"d{n}/f": File(data=b"%d" % one) for n in range(9)})

        with ThreadPoolExecutor(max_workers=8) as pool:
            assert sorted(pool.map(write, range(8))) == [False] * 7 + [True]
        assert [path.name for path in place.parent.iterdir()] == ["task"]
        assert len({path.read_bytes() for path in place.rglob("f")}) == 1
        assert len(list(place.rglob("f"))) == 9


def test_what_is_there_is_left(tmp_path: Path) -> None:
    """A file, a folder or a link that leads nowhere."""
    (tmp_path / "file").write_text("kept")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("nowhere")
    for name in ("file", "folder", "link"):
        assert not written(tmp_path / name, {"a": File(data=b"")})
        with pytest.raises(UsageError, match="is there already"):
            write_folder(tmp_path / name, {"a": File(data=b"")})
    assert (tmp_path / "file").read_text() == "kept"
    assert len(list(tmp_path.iterdir())) == 3


def test_files_stay_inside(tmp_path: Path) -> None:
    """And no folder is begun otherwise."""
    with pytest.raises(UsageError, match="leaves the folder"):
        written(tmp_path / "task", {"../a": File(data=b"")})
    assert list(tmp_path.iterdir()) == []
