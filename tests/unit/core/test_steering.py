"""What a claim may not lay beside the hidden tests."""

from __future__ import annotations

import pytest

from evalgate.core.claim import Claim, claim_of
from evalgate.core.files import File
from evalgate.core.steering import laid_aside

OLD, NEW = File(data=b"old"), File(data=b"new")


@pytest.mark.parametrize(
    "path",
    [
        *("pytest.py", "src/pytest.py", "_pytest/__init__.py", "pluggy/_x.py", "iniconfig.py"),
        *("unittest.py", "unittest/__main__.py", "sitecustomize.py", "usercustomize.pyc"),
        *("pytest.cpython-312-x86_64-linux-gnu.so", "a/b/unittest.so", "line\nbreak/pytest.py"),
        *("x.dist-info/entry_points.txt", "src/x.EGG-info/entry_points.txt", "x.pth", "x.egg-link"),
    ],
)
def test_what_runs_the_tests_is_laid_aside(path: str) -> None:
    """An added one is gone; one that a task asks for stays."""
    snapshot = {"a.py": OLD}
    claim = Claim(changed={"a.py": NEW, path: NEW})
    assert laid_aside(snapshot, claim, ()) == (path,)
    assert claim.without((path,)).applied_to(snapshot) == {"a.py": NEW}
    assert laid_aside(snapshot, claim, (path,)) == ()


@pytest.mark.parametrize(
    "path",
    [
        *("pytest.ini", "tests/test_pytest.py", "my_pytest.py", "pytest_plugin.py", "unittest.md"),
        *(
            "unittests/a.py",
            "docs/pytest.rst",
            "conftest.py",
            "sitecustomize.py.txt",
            "x.egg-info/SOURCES.txt",
        ),
    ],
)
def test_what_only_looks_like_it_stays(path: str) -> None:
    """Nothing that a test may rightly need is taken from it."""
    assert laid_aside({}, Claim(changed={path: NEW}), ()) == ()


def test_a_project_that_is_a_test_runner_is_graded_as_it_was_left() -> None:
    """Its own modules are its work; of an installed package, what it says of itself is put back."""
    snapshot = {
        "src/_pytest/main.py": OLD,
        "pytest.py": OLD,
        "x.egg-info/entry_points.txt": OLD,
        "x.egg-info/PKG-INFO": OLD,
    }
    left = {**snapshot, "src/_pytest/main.py": NEW, "src/_pytest/new.py": NEW, "pytest.py": NEW}
    assert laid_aside(snapshot, claim_of(snapshot, left), ()) == ()
    steered = {**left, "x.egg-info/entry_points.txt": NEW, "x.egg-info/PKG-INFO": NEW}
    claim = claim_of(snapshot, steered)
    aside = laid_aside(snapshot, claim, ())
    assert aside == ("x.egg-info/entry_points.txt",)
    assert claim.without(aside).applied_to(snapshot) == {**left, "x.egg-info/PKG-INFO": NEW}
