"""New folders of tasks on disk, also where several commands write the same one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
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


#: Writes two tasks as one, and is ended where it touches the disk for the n-th time.
ENDED = """
import os, signal, sys
from pathlib import Path
from evalgate.commands.tasks.writing import write_folders
from evalgate.core.files import File

count, how = int(sys.argv[1]), sys.argv[2]
def hook(event, args):
    global count
    if event in {"open", "os.rename", "os.mkdir", "os.chmod", "os.rmdir", "os.remove"}:
        if sys.argv[3] in str(args[0]) or event == "os.rmdir":
            count -= 1
            if not count and how == "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            if not count:
                raise KeyboardInterrupt
sys.addaudithook(hook)
files = {"task.toml": File(data=b"x"), "tests/a": File(data=b"y")}
write_folders({Path(sys.argv[3], name): files for name in ("one", "two")})
print("done")
"""


@pytest.mark.parametrize("how", ["kill", "interrupt"])
def test_an_end_at_any_moment_leaves_whole_folders(tmp_path: Path, how: str) -> None:
    """Whole folders, or what git passes over; the next command takes that away and goes on."""
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": "/nowhere", "GIT_CONFIG_NOSYSTEM": "1"}
    wanted = {"task.toml", "tests/a"}
    for count in range(1, 60):
        root = tmp_path / str(count) / "repository"
        subprocess.run(["git", "init", "-q", root], check=True, env=environment)
        command = [sys.executable, "-c", ENDED, str(count), how, str(root / "tasks")]
        done = subprocess.run(command, capture_output=True, text=True)
        listed = subprocess.run(
            ["git", "-C", root, "ls-files", "--others", "--exclude-standard"],
            check=True,
            capture_output=True,
            text=True,
            env=environment,
        ).stdout.splitlines()
        there = {path.removeprefix("tasks/").partition("/")[0] for path in listed}
        assert set(listed) == {f"tasks/{name}/{path}" for name in there for path in wanted}
        if done.stdout:
            break
        assert how == "interrupt" or done.returncode == -signal.SIGKILL, done.stderr
        assert how == "kill" or there in ({"one", "two"}, set()), done.stderr
        write_folder(root / "tasks" / "three", {"task.toml": File(data=b"x")})
        assert {path.name for path in (root / "tasks").iterdir()} == {*there, "three"}
    assert done.stdout, "it never came to its end"
    assert there == {"one", "two"}
