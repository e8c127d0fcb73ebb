"""What a task tells before any agent has begun."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evalgate.core.files import File, Tree
from evalgate.core.giveaways import giveaways, new_lines, told_answers
from evalgate.core.task import Task

TEST = "def test_north():\n    assert gross(1) == 1\n"
SOLVED = "def gross(price):\n    return price + price * RATE // 100\n"


def files(texts: dict[str, str]) -> Tree:
    return {path: File(data=text.encode()) for path, text in texts.items()}


def make(instruction: str = "Mend it.", **workspace: str) -> Task:
    names = {name.replace("__", "."): text for name, text in workspace.items()}
    return Task(
        id="t",
        instruction=instruction,
        workspace=files({"cart.py": "def gross(price):\n    pass\n", **names}),
        tests=files({"test.sh": "pytest\n", "test_cart.py": TEST}),
        digest="d",
    )


@pytest.mark.parametrize(
    ("task", "rules"),
    [
        (make(), []),
        (make("test_cart.py fails."), ["tests-told"]),
        (make("See test_north of it."), ["tests-told"]),
        (make("test_northern winds."), []),
        (make(copy_test__py=TEST), ["tests-told"]),
        (make("test_north fails.", own_test__py="def test_north(): pass\n"), []),
        (make("As in 1a2b3c4d5e."), ["history"]),
        (make("Between 1234567 and defaced."), []),
        (make(fix__patch="x"), ["history"]),
    ],
)
def test_what_is_told(task: Task, rules: list[str]) -> None:
    """A hidden test's file, name or content, and where the answer lies in history."""
    assert [str(flaw.rule) for flaw in giveaways(task)] == rules


@pytest.mark.parametrize("name", ["pytest.ini", ".pytest.ini", "conftest.py", "tests/test.sh"])
def test_what_steers_tests_is_no_secret(name: str) -> None:
    """It lies in the workspace too, as it should."""
    steered = {name: "[pytest]\n"}
    one = replace(make(), workspace=files(steered), tests=files({"test.sh": "x", **steered}))
    assert list(giveaways(one)) == []


def test_a_line_of_the_solution() -> None:
    """A line that the solution adds is told word for word, however it is spaced."""
    task = make("Write `return price  +  price * RATE // 100`. def gross(price): is right.")
    (flaw,) = told_answers(task, files({"cart.py": SOLVED}))
    assert flaw.said.endswith("return price + price * RATE // 100")
    assert list(new_lines(files({"a": "x\n"}), files({"a": "x\n y\n"}))) == [("a", "y")]
