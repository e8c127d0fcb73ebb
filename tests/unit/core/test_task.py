"""Tasks: what a measurement depends on, and how a check is called."""

from __future__ import annotations

import pytest

from evalgate.core.files import File
from evalgate.core.task import CheckSpec, Task, suite_digest, task_digest

FOLDER = {
    path: File(data=path.encode())
    for path in ("task.toml", "instruction.md", "tests/test.sh", "solution/a.py")
}


@pytest.mark.parametrize("path", [path for path in FOLDER if not path.startswith("solution/")])
def test_whatever_is_measured_is_in_the_digest(path: str) -> None:
    """Editing limits, instruction or tests makes another task."""
    assert task_digest({**FOLDER, path: File(data=b"other")}) != task_digest(FOLDER)


def test_the_solution_is_not() -> None:
    """A better solution leaves every measurement as it was."""
    assert task_digest({**FOLDER, "solution/a.py": File(data=b"")}) == task_digest(FOLDER)


def test_a_suite_is_its_tasks_in_any_order() -> None:
    """The digest of a suite knows ids and digests, not positions."""
    one, two = (
        Task(id=name, instruction="", workspace={}, tests={}, digest=name * 64) for name in "ab"
    )
    assert suite_digest([one, two]) == suite_digest([two, one]) != suite_digest([one])


def test_a_check_is_called_by_its_type_and_path() -> None:
    """Two checks of one type are told apart by the file they look at."""
    assert CheckSpec(type="file_exists", params={"path": "a.py"}).name == "file_exists: a.py"
    assert CheckSpec(type="only_expected_files").name == "only_expected_files"
