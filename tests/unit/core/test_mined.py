"""The folder of a mined task."""

from __future__ import annotations

import os
import subprocess
import tomllib
import unicodedata
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from evalgate.core.files import File, Tree
from evalgate.core.mined import Fix, detected_command, name_of_fix, task_folder
from evalgate.tasks.harbor import load_harbor_task

BAD, GOOD = b"def f(n):\n    return n\n", b"def f(n):\n    return n + 1\n"
TEST = b"from pkg.a import f\n\n\ndef test_f():\n    assert f(1) == 2\n"


def fix(**more: object) -> Fix:
    plain = {
        "instruction": "# Mend f\n",
        "before": {"pkg/a b.py": File(data=BAD), "old.py": File(data=b"x = 1\n")},
        "sources": {"pkg/a b.py": File(data=GOOD)},
        "deleted": ("old.py",),
        "tests": {"tests/test_a.py": File(data=TEST)},
        "test_files": ("tests/test_a.py",),
        "origin": {"commit": "c0ffee", "subject": 'A "quoted" \x7f one'},
    }
    return Fix(**{**plain, **more})


def test_what_is_written_is_read() -> None:
    """It loads, its limits are said, and where it comes from is kept as it is."""
    files = task_folder(fix(expected_tests=("tests/test_a.py::test_f[é]",), set_up=("make 'x'",)))
    task = load_harbor_task("tasks/mend", files)
    assert (task.limits.agent_seconds, task.limits.max_turns) == (120, 15)
    assert task.expected_tests == ("tests/test_a.py::test_f[é]",)
    assert task.expected_files == ("old.py", "pkg/a b.py")
    assert task.environment.set_up.commands == ("make 'x'",)
    assert set(task.workspace) == {"pkg/a b.py", "old.py"}
    ours = tomllib.loads(files["task.toml"].data.decode())["metadata"]["evalgate"]
    assert ours["origin"] == {"commit": "c0ffee", "subject": 'A "quoted" \x7f one'}
    assert "+    return n + 1" in files["solution/fix.patch"].data.decode()
    assert task_folder(fix()) == task_folder(fix())


@given(st.text(st.characters(exclude_categories=()), max_size=40))
@example('\N{BUG} fix crash \udcff \x7f \x00 \\ "')
def test_any_subject_can_be_written(subject: str) -> None:
    """A message of a commit may hold whatever somebody typed."""
    files = task_folder(fix(origin={"subject": subject}))
    ours = tomllib.loads(files["task.toml"].data.decode())["metadata"]["evalgate"]
    assert ours["origin"]["subject"] == subject.encode("utf-8", "replace").decode()
    shown = files["task.toml"].data.decode()
    assert all(one == "\n" or unicodedata.category(one)[0] != "C" for one in shown)


def laid(files: Tree, place: Path) -> Path:
    for path, file in files.items():
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        (place / path).write_bytes(file.data)
    return place


def test_solution_and_tests_run(tmp_path: Path) -> None:
    """The solution adds and deletes; what would steer the tests is swept away before they run."""
    folder = laid(task_folder(fix(test_command="ls conftest.py; cat")), tmp_path / "task")
    work = laid({**fix().before, "conftest.py": File(data=b"")}, tmp_path / "work")
    subprocess.run(["sh", folder / "solution" / "solve.sh"], cwd=work, check=True)
    assert (work / "pkg" / "a b.py").read_bytes() == GOOD
    assert not (work / "old.py").exists()
    done = subprocess.run(
        ["sh", folder / "tests" / "test.sh"],
        cwd=work,
        env={**os.environ, "EVALGATE_TESTS": str(folder / "tests")},
        capture_output=True,
        check=True,
    )
    assert done.stdout == TEST
    assert not (work / "conftest.py").exists()


@pytest.mark.parametrize(
    ("files", "program"),
    [
        ({"conftest.py": ""}, "pytest"),
        ({"tests/test_a.py": "import pytest\n"}, "pytest"),
        ({"tests/test_a.py": "\ndef test_a(): ...\n"}, "pytest"),
        ({"pyproject.toml": "[tool.pytest.ini_options]\n"}, "pytest"),
        ({"tests/test_a.py": "import unittest\n"}, "unittest"),
        ({}, "unittest"),
    ],
)
def test_how_tests_are_run(files: dict[str, str], program: str) -> None:
    """By pytest where anything knows it."""
    tree = {path: File(data=text.encode()) for path, text in files.items()}
    assert f"-m {program} " in detected_command(tree)


def test_a_command_of_ones_own() -> None:
    """The files of tests stand where it says, else at its end; a src folder is found."""
    own = fix(test_command="tox -- {tests} -x", before={"src/a.py": File(data=BAD)})
    script = task_folder(own)["tests/test.sh"].data.decode()
    assert "\ntox -- tests/test_a.py -x\n" in script
    assert 'PYTHONPATH="$PWD/src' in script


@pytest.mark.parametrize(
    ("subject", "name"),
    [
        ("Fix: the Füße / of a thing!", "fix-the-f-e-of-a-thing-0123abcd"),
        ("Round down (fixes #12) (#13)", "round-down-0123abcd"),
        ("", "fix-0123abcd"),
        ("../../x", "x-0123abcd"),
        ("a" * 200, f"{'a' * 48}-0123abcd"),
    ],
)
def test_names_of_folders(subject: str, name: str) -> None:
    """Words and dashes alone."""
    assert name_of_fix(subject, "0123abcdef") == name
