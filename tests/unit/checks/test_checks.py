"""Every kind of check: what passes, what fails, and what can not be told."""

from __future__ import annotations

import pytest

from evalgate.checks.files import FileContains
from evalgate.checks.table import CHECKS, build_check, build_checks
from evalgate.core.claim import Claim
from evalgate.core.files import File
from evalgate.core.observation import CommandReport, Observation
from evalgate.core.task import CheckSpec, Task
from evalgate.core.trial import Outcome
from evalgate.errors import UsageError
from evalgate.protocols import Finding

WORKSPACE = {"a.py": File(data=b"one\ntwo\n"), "b.py": File(data=b"x\n"), "bin": File(data=b"\xff")}
TASK = Task(
    id="greet",
    instruction="",
    workspace=WORKSPACE,
    tests={},
    digest="",
    expected_files=("a.py", "new.py"),
)
COMMAND = "python3 -I -m py_compile a.py"


def examine(
    kind: str, claim: Claim | None = None, report: CommandReport | None = None, **params: str
) -> Finding:
    """Build a check and look at a trial with it."""
    claim = claim or Claim()
    check = build_check(CheckSpec(type=kind, params=params), task="greet")
    commands = {} if report is None else {COMMAND: report}
    workspace = claim.applied_to(WORKSPACE)
    seen = Observation(task=TASK, workspace=workspace, claim=claim, commands=commands)
    return check.examine(seen)


def changed(*paths: str) -> Claim:
    """Return a claim that writes some files."""
    return Claim(changed={path: File(data=b"new\n") for path in paths})


def test_file_exists() -> None:
    """The file is there after the agent, wherever it came from."""
    assert examine("file_exists", path="a.py") == Finding(outcome=Outcome.PASSED)
    assert examine("file_exists", changed("c.py"), path="c.py").outcome is Outcome.PASSED
    assert examine("file_exists", path="c.py") == Finding(
        outcome=Outcome.FAILED, detail="c.py does not exist"
    )
    gone = examine("file_exists", Claim(deleted=("a.py",)), path="a.py")
    assert gone.outcome is Outcome.FAILED


def test_file_contains() -> None:
    """A regular expression, line by line; bytes that are no text are searched too."""
    assert examine("file_contains", path="a.py", pattern="^two$").outcome is Outcome.PASSED
    assert examine("file_contains", path="bin", pattern="\ufffd").outcome is Outcome.PASSED
    assert examine("file_contains", path="a.py", pattern="three") == Finding(
        outcome=Outcome.FAILED, detail="a.py does not match 'three'"
    )
    assert examine("file_contains", path="c.py", pattern="x").detail == "c.py does not exist"


def test_a_pattern_that_does_not_end_is_errored() -> None:
    """What the agent wrote makes the search of the task's author run for ever."""
    seen = Observation(task=TASK, workspace={"a": File(data=b"a" * 40 + b"!")}, claim=Claim())
    assert FileContains("a", "^(a+)+$", seconds=0.5).examine(seen) == Finding(
        outcome=Outcome.ERRORED, detail="a: the search did not end within 0.5 s"
    )


def test_file_unchanged() -> None:
    """Changed or deleted is failed; a file that never was is the task's fault."""
    assert examine("file_unchanged", changed("b.py"), path="a.py").outcome is Outcome.PASSED
    assert examine("file_unchanged", changed("a.py"), path="a.py") == Finding(
        outcome=Outcome.FAILED, detail="a.py was changed"
    )
    assert examine("file_unchanged", Claim(deleted=("a.py",)), path="a.py").detail == (
        "a.py was deleted"
    )
    assert examine("file_unchanged", path="c.py") == Finding(
        outcome=Outcome.ERRORED, detail="c.py is not in the task's workspace"
    )


def test_only_expected_files() -> None:
    """Every file outside the list is named, deleted ones too."""
    assert examine("only_expected_files").outcome is Outcome.PASSED
    assert examine("only_expected_files", changed("a.py", "new.py")).outcome is Outcome.PASSED
    claim = Claim(changed=changed("a.py", "c.py").changed, deleted=("b.py",))
    assert examine("only_expected_files", claim) == Finding(
        outcome=Outcome.FAILED, detail="touched outside the expected files: b.py, c.py"
    )


@pytest.mark.parametrize(
    ("report", "outcome", "detail"),
    [
        (CommandReport(exit_code=0, output="x"), Outcome.PASSED, ""),
        (
            CommandReport(exit_code=1, output="a\nSyntaxError\n"),
            Outcome.FAILED,
            f"{COMMAND}: exit code 1: SyntaxError",
        ),
        (CommandReport(exit_code=2, output=""), Outcome.FAILED, f"{COMMAND}: exit code 2: "),
        (
            CommandReport(exit_code=127, output="sh: python3: not found\n"),
            Outcome.ERRORED,
            f"{COMMAND}: sh: python3: not found",
        ),
        (CommandReport(exit_code=126, output=""), Outcome.ERRORED, f"{COMMAND}: "),
        (CommandReport(exit_code=None, output=""), Outcome.ERRORED, f"{COMMAND}: "),
        (None, Outcome.ERRORED, f"{COMMAND}: did not run"),
    ],
)
def test_command_succeeds(report: CommandReport | None, outcome: Outcome, detail: str) -> None:
    """Zero passes, another code fails, and a command that did not run is not measured."""
    found = examine("command_succeeds", report=report, command=COMMAND)
    assert found == Finding(outcome=outcome, detail=detail)


def test_only_a_command_asks_for_a_command() -> None:
    """The grade stage runs what a check names, and nothing for the others."""
    spec = CheckSpec(type="command_succeeds", params={"command": COMMAND})
    assert build_check(spec, task="t").command == COMMAND
    spec = CheckSpec(type="only_expected_files")
    assert build_check(spec, task="t").command is None


@pytest.mark.parametrize(
    ("kind", "params", "words"),
    [
        ("file_exists", {}, "task greet: checks.file_exists: 'path' is missing"),
        ("file_exists", {"path": 3}, "task greet: checks.file_exists.path: must be a string"),
        (
            "file_exists",
            {"path": "a", "pth": "a"},
            "task greet: checks.file_exists.pth: unknown key",
        ),
        (
            "file_contains",
            {"path": "a", "pattern": "("},
            "task greet: checks.file_contains.pattern: is no regular expression",
        ),
        ("file_contains", {"path": "a"}, "task greet: checks.file_contains: 'pattern' is missing"),
        ("command_succeeds", {}, "task greet: checks.command_succeeds: 'command' is missing"),
        (
            "only_expected_files",
            {"path": "a"},
            "task greet: checks.only_expected_files.path: unknown key",
        ),
    ],
)
def test_wrong_parameters_are_named(kind: str, params: dict[str, object], words: str) -> None:
    """Task, check and key stand in the error."""
    with pytest.raises(UsageError) as caught:
        build_check(CheckSpec(type=kind, params=params), task="greet")
    assert caught.value.message.startswith(words)


def test_an_unknown_type_names_the_known_ones() -> None:
    """A slip in the type is no check that silently passes."""
    with pytest.raises(UsageError, match="task greet: unknown check type 'file_exist'") as caught:
        build_check(CheckSpec(type="file_exist"), task="greet")
    known = ", ".join(sorted(CHECKS))
    assert caught.value.hint == (
        f"did you mean 'file_exists'? known types: {known}, or package.module:function of your own"
    )


def test_the_checks_of_a_task_keep_their_order() -> None:
    """What fails first is told first."""
    specs = tuple(
        CheckSpec(type="file_exists", params={"path": path}, advisory=path == "b") for path in "ba"
    )
    task = Task(id="t", instruction="", workspace={}, tests={}, digest="", checks=specs)
    assert [spec for spec, _ in build_checks(task)] == list(specs)
