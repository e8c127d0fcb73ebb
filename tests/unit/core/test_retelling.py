"""A message told again without its solution."""

from __future__ import annotations

import pytest

from evalgate.core.files import File
from evalgate.core.new_names import names_in_new_lines, new_names
from evalgate.core.retelling import retold


def told(message: str) -> str:
    return retold(
        message,
        new_names=["clamp"],
        solution=["return min(max(value, low), high)", "x = 1"],
        tests=["test_clamped", "test_bounds.py"],
    )


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ("Fix splitting of BEGIN blocks", "# Fix splitting of BEGIN blocks\n"),
        ("Fix splitting of BEGIN blocks (fixes #12).", "# Fix splitting of BEGIN blocks.\n"),
        ("Fixes #12: windows are off by one", "# Windows are off by one\n"),
        ("Windows are off by one.\n\nCloses o/r#4\n", "# Windows are off by one.\n"),
        (
            "Values pass the bound.\n\nUse clamp() for it.\nSee f(3).\n",
            "# Values pass the bound.\n\nSee f(3).\n",
        ),
        (
            "Values pass the bound.\n\n    return min(max(value, low),  high)\n",
            "# Values pass the bound.\n",
        ),
        ("Values pass the bound.\n\ntest_clamped is new.\n", "# Values pass the bound.\n"),
        ("Values pass the bound.\nAdded test_bounds.py.\n", "# Values pass the bound.\n"),
        ("Values pass the bound.\n\nIntroduced in 1a2b3c4d.\n", "# Values pass the bound.\n"),
        (
            "Values pass the bound.\n\nSigned-off-by: A <a@b.c>\nCo-authored-by: B <b@c.d>\n",
            "# Values pass the bound.\n",
        ),
        (
            "Values pass the bound.\n\ndiff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n",
            "# Values pass the bound.\n",
        ),
        ("Values pass the bound.\n\n- one\n- two\n", "# Values pass the bound.\n\n- one\n- two\n"),
        ("Values pass the bound.\r\n\r\nAlways.\r\n", "# Values pass the bound.\n\nAlways.\n"),
        (
            "Values pass the bound.\n\nThey are not held. Use `min` there. So f(9) is 9.\n",
            "# Values pass the bound.\n\nThey are not held. So f(9) is 9.\n",
        ),
        ("Values pass the bound.\n\nAlso add a test.\n", "# Values pass the bound.\n"),
        (
            "Values pass the bound.\n\nUse of f is common.\n",
            "# Values pass the bound.\n\nUse of f is common.\n",
        ),
        ("Values pass the bound.\n\n    add(3)\n", "# Values pass the bound.\n\n    add(3)\n"),
        ("Add clamp", ""),
        ("Fix #12", ""),
        ("Fix bug", ""),
        ("", ""),
    ],
)
def test_told_again(message: str, text: str) -> None:
    """What is wrong stays; lines, names, tests, diffs and commits of the solution go."""
    assert told(message) == text


BEFORE = {"a.py": File(data=b"def f(old):\n    kept = old\n")}
AFTER = {
    "a.py": File(
        data=b"LIMIT = 3\nclass Box:\n    size = 1\n    def grow(self, amount, old):\n"
        b"        local = amount\n        self.width = local\ndef f(old): kept\n"
    ),
    "b.py": File(data=b"def broken(:\n"),
}


def test_names_that_only_the_solution_has() -> None:
    """What it defines and no file said before; variables of functions are nobody's business."""
    assert new_names(BEFORE, AFTER) == {"LIMIT", "Box", "size", "grow", "amount", "width", "self"}


def test_names_that_tests_need() -> None:
    """Only those in lines that are new."""
    tests = {"test_a.py": File(data=b"f(1)\nBox().grow(2)\n")}
    assert names_in_new_lines(new_names(BEFORE, AFTER), BEFORE, tests) == {"Box", "grow"}
    assert names_in_new_lines(frozenset({"Box"}), tests, tests) == frozenset()
