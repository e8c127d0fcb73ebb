"""The task suite proves itself: every bug is real, and every solution cures it."""

import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

TASKS = Path(__file__).parents[3] / "tasks"
TASK_IDS = sorted(path.parent.name for path in TASKS.glob("*/task.toml"))
PASSED = re.compile(r"^test_\w+ \((\S+)\) \.\.\. ok$", re.MULTILINE)


def _fields(task: str) -> dict:
    return tomllib.loads((TASKS / task / "task.toml").read_text())["metadata"]["evalgate"]


def _files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def _verify(task: str, workspace: Path, logs: Path) -> tuple[str, list[str]]:
    """Run the hidden tests; return the reward and the ids that passed."""
    tests = TASKS / task / "tests"
    result = subprocess.run(
        [tests / "test.sh"],
        cwd=workspace,
        env={**os.environ, "EVALGATE_LOGS": str(logs), "EVALGATE_TESTS": str(tests)},
        capture_output=True,
        text=True,
        check=True,
    )
    reward = (logs / "verifier" / "reward.txt").read_text()
    return reward, sorted(PASSED.findall(result.stderr))


@pytest.fixture
def workspace(task: str, tmp_path: Path) -> Path:
    """Return a copy of the start files of the task."""
    return shutil.copytree(TASKS / task / "environment" / "workspace", tmp_path / "workspace")


def test_the_suite_has_twelve_tasks() -> None:
    """The suite is neither empty nor cut short, whatever the other tests find."""
    assert len(TASK_IDS) == 12


@pytest.mark.parametrize("task", TASK_IDS)
def test_the_bug_is_real(task: str, workspace: Path, tmp_path: Path) -> None:
    """The untouched workspace compiles and fails some of the tests, but not all."""
    for path in workspace.glob("*.py"):
        compile(path.read_text(), path.name, "exec")
    reward, passed = _verify(task, workspace, tmp_path / "logs")
    assert reward == "0\n"
    assert len(passed) < len(_fields(task)["expected_tests"])


@pytest.mark.parametrize("task", TASK_IDS)
def test_the_solution_cures_it(task: str, workspace: Path, tmp_path: Path) -> None:
    """The solution passes every expected test and touches only the expected files."""
    before = _files(workspace)
    subprocess.run([TASKS / task / "solution" / "solve.sh"], cwd=workspace, check=True)
    after = _files(workspace)
    reward, passed = _verify(task, workspace, tmp_path / "logs")
    assert reward == "1\n"
    assert passed == _fields(task)["expected_tests"]
    assert [name for name in after if after[name] != before.get(name)] == _fields(task)[
        "expected_files"
    ]
    assert after.keys() == before.keys()
    assert _files(workspace) == after, "the tests leave nothing behind"


@pytest.mark.parametrize("task", TASK_IDS)
def test_the_folder_keeps_its_secrets(task: str) -> None:
    """The instruction names the file to fix, and no test and no line of the solution."""
    fields = _fields(task)
    instruction = (TASKS / task / "instruction.md").read_text()
    assert f"`{fields['expected_files'][0]}`" in instruction
    assert not [test for test in fields["expected_tests"] if test.split(".")[-1] in instruction]
    for name in fields["expected_files"]:
        start = (TASKS / task / "environment" / "workspace" / name).read_text().splitlines()
        fixed = (TASKS / task / "solution" / name).read_text().splitlines()
        assert not [line for line in fixed if line not in start and line.strip() in instruction]


def test_every_script_of_verification_is_the_same() -> None:
    """All tasks are verified by one and the same script."""
    assert len({(TASKS / task / "tests" / "test.sh").read_bytes() for task in TASK_IDS}) == 1


def test_the_checks_of_the_suite() -> None:
    """Every task limits the files an agent may touch, and every kind of check is used."""
    kinds = {task: {check["type"] for check in _fields(task)["checks"]} for task in TASK_IDS}
    assert all("only_expected_files" in kind for kind in kinds.values())
    assert set().union(*kinds.values()) == {
        "only_expected_files",
        "file_unchanged",
        "file_exists",
        "file_contains",
        "command_succeeds",
    }
