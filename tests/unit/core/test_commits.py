"""Which commits a task may lie in."""

from __future__ import annotations

import pytest

from evalgate.core.commits import Commit, Kind, kind_of, unfit

GOOD = ("pkg/a.py", "tests/test_a.py")


def commit(message: str = "Fix a", changed: tuple[str, ...] = GOOD, **more: object) -> Commit:
    return Commit(**{"id": "c", "parent": "p", "message": message, "changed": changed, **more})


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("pkg/a.py", Kind.SOURCE),
        ("pkg/a.c", Kind.SOURCE),
        ("pkg/latest.py", Kind.SOURCE),
        ("pkg/testing.py", Kind.SOURCE),
        ("tests/data/rows.json", Kind.TEST),
        ("pkg/tests/__init__.py", Kind.TEST),
        ("test_a.py", Kind.TEST),
        ("a_test.py", Kind.TEST),
        ("conftest.py", Kind.TEST),
        ("README.md", Kind.ASIDE),
        ("docs/conf.py", Kind.ASIDE),
        ("CHANGELOG", Kind.ASIDE),
        ("setup.cfg", Kind.ASIDE),
        (".github/workflows/ci.yml", Kind.ASIDE),
        ("pkg/_version.py", Kind.ASIDE),
        (".gitignore", Kind.ASIDE),
    ],
)
def test_what_a_file_is_for(path: str, kind: Kind) -> None:
    """By its name and its folders."""
    assert kind_of(path) is kind


@pytest.mark.parametrize(
    ("one", "why"),
    [
        (commit(), None),
        (commit("Rounds down, closes #3"), None),
        (commit("Rounds down (see #3)"), None),
        (commit(changed=(*GOOD, "README.md", "CHANGES")), None),
        (commit(changed=("tests/test_a.py",), deleted=("pkg/a.py",)), None),
        (commit(parent=""), "it has no parent"),
        (commit("Merge", changed=()), "it changes nothing"),
        (commit("Prefix (#12)"), "its message neither says fix nor names an issue"),
        (commit("Add a"), "its message neither says fix nor names an issue"),
        (commit(changed=("pkg/a.py",)), "it touches no file of tests"),
        (commit(changed=("pkg/a.py", "tests/x.json")), "it touches no file of tests"),
        (
            commit(changed=("pkg/a.py",), deleted=("tests/test_a.py",)),
            "it touches no file of tests",
        ),
        (commit(changed=("README.md", "test_a.py")), "it touches no source file"),
        (
            commit(changed=("test_a.py", *(f"{n}.py" for n in "abcd"))),
            "it touches more than 3 source files",
        ),
    ],
)
def test_candidates(one: Commit, why: str | None) -> None:
    """One to three source files, tests, and a message that says fix or names an issue."""
    assert unfit(one) == why


def test_issues_of_a_message() -> None:
    """Each number once; the pull request of a squash is none."""
    one = commit("Fix rounding (#9)\n\nCloses #12, gh-13 and https://x.y/o/r/issues/12.")
    assert one.issues == ("12", "13")
    assert one.subject == "Fix rounding (#9)"
