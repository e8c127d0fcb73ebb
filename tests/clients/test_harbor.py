"""Harbor's own lint finds nothing in the task folders that are written here, of whatever kind."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from evalgate.commands.tasks.importing import ImportOptions, write_tasks
from evalgate.commands.tasks.writing import TaskFolders, write_folder
from evalgate.core.files import File
from evalgate.core.mined import Fix, task_folder
from evalgate.tasks.formats import FORMATS
from tests.clients.conftest import CACHE, PINS
from tests.formats import GOOD, lay

ROOT = Path(__file__).parents[2]
PLACE = CACHE.parent / "harbor"
FIX = Fix(
    instruction="# Mend f\n",
    before={"a.py": File(data=b"def f(n):\n    return n\n")},
    sources={"a.py": File(data=b"def f(n):\n    return n + 1\n")},
    deleted=("old.py",),
    tests={"test_a.py": File(data=b"from a import f\n\ndef test_f():\n    assert f(1) == 2\n")},
    test_files=("test_a.py",),
    expected_tests=("test_a.py::test_f[é]",),
    set_up=("make",),
    origin={"commit": "c0ffee", "subject": 'A "quoted" one'},
)


def ours(_: Path) -> list[Path]:
    made = (*ROOT.glob("tasks/*/task.toml"), *ROOT.glob("examples/*/tasks/*/task.toml"))
    return [path.parent for path in made]


def imported(folder: Path) -> list[Path]:
    sources = [lay(folder / name, GOOD[name]) for name in FORMATS]
    write_tasks(ImportOptions(sources=sources), TaskFolders(folder=folder / "tasks", name="tasks"))
    return sorted((folder / "tasks").iterdir())


def mined(folder: Path) -> list[Path]:
    write_folder(folder / "tasks/mined", task_folder(FIX))
    return [folder / "tasks/mined"]


def lint(folders: Sequence[Path]) -> list[str]:
    """Return the names of the rules that `harbor lint` finds broken."""
    pins = PLACE / "pins.txt"
    if not pins.is_file() or pins.read_bytes() != (PINS / "harbor.txt").read_bytes():
        pytest.skip(
            "Harbor is not there as pinned: `bash .ci/harbor` installs it where it can be had"
        )
    done = subprocess.run(
        [PLACE / "harbor", "lint", "--json", *folders],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": os.environ["PATH"], "HOME": str(PLACE)},
    )
    found = [one["rule"] for one in json.loads(done.stdout)]
    assert (done.returncode == 0) == (not found), done.stderr
    return found


@pytest.mark.parametrize(("write", "count"), [(ours, 13), (imported, len(FORMATS) + 1), (mined, 1)])
def test_harbor_accepts_what_is_written(
    write: Callable[[Path], list[Path]], count: int, tmp_path: Path
) -> None:
    """Its rules read the files as Harbor does before a run."""
    folders = write(tmp_path)
    assert len(folders) >= count
    assert lint(folders) == []


@pytest.mark.parametrize(
    ("text", "rule"),
    [("[evalgate]\nx = 1\n", "unknown-config-field"), ("[agent]\n", "invalid-task-config")],
)
def test_harbor_finds_what_it_does_not_know(text: str, rule: str, tmp_path: Path) -> None:
    """A table of ours at the top, or a file that is no TOML."""
    (folder,) = mined(tmp_path)
    with (folder / "task.toml").open("a") as file:
        file.write(text)
    assert rule in lint([folder])
