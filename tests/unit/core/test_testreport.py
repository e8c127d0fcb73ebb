"""Reading what ``unittest -v`` reports: only what passed, under its full name."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalgate.core.testreport import passed_tests

RULE = "-" * 70
DOUBLE = "=" * 70


@pytest.mark.parametrize(
    "header", ["test_a (t.T)", "test_a (t.T.test_a)"], ids=["Python 3.10", "Python 3.11"]
)
@pytest.mark.parametrize(
    ("status", "passed"),
    [
        ("ok", True),
        ("FAIL", False),
        ("ERROR", False),
        ("skipped 'no network'", False),
        ("expected failure", False),
        ("unexpected success", False),
    ],
)
@pytest.mark.parametrize(
    "between", [" ... ", "\nWhat it does. ... ", " ... printed\n", " ... \nok\n"]
)
def test_only_ok_is_passed(header: str, status: str, passed: bool, between: str) -> None:
    """Docstrings and prints may stand between a header and its status."""
    output = f"{header}{between}{status}\n\n{RULE}\nRan 1 test in 0.001s\n"
    assert passed_tests(output) == (frozenset({"t.T.test_a"}) if passed else frozenset())


def test_no_status_is_no_pass() -> None:
    """A program that ends in the middle of a test has reported nothing about it."""
    assert passed_tests("test_a (t.T.test_a) ... ") == frozenset()
    assert passed_tests("test_a (t.T.test_a) ... \ntest_b (t.T.test_b) ... ok\n") == {"t.T.test_b"}


def test_two_words_about_one_test_are_not_believed() -> None:
    """A claim that prints a success of its own does not outvote the failure."""
    forged = "test_b (t.T.test_b) ... ok"
    honest = "test_b (t.T.test_b) ... FAIL"
    first = f"test_a (t.T.test_a) ... {forged}\n{forged}\nok\n"
    assert passed_tests(f"{first}{honest}\n") == {"t.T.test_a"}
    assert passed_tests(f"{honest}\n{forged}\n") == frozenset()


def test_nothing_below_the_rule_is_a_report() -> None:
    """Tracebacks repeat the headers of tests; they stand below a full rule."""
    output = f"test_a (t.T.test_a) ... FAIL\n\n{DOUBLE}\ntest_a (t.T.test_a)\n{RULE}\nok\n"
    assert passed_tests(output) == frozenset()


def test_a_short_rule_is_somebody_elses() -> None:
    """A table that the tested program prints hides no report."""
    output = "test_a (t.T.test_a) ... \n------\nok\ntest_b (t.T.test_b) ... ok\n"
    assert passed_tests(output) == {"t.T.test_a", "t.T.test_b"}


PROGRAM = '''
import sys, unittest
class T(unittest.TestCase):
    def test_docstring(self):
        """Says what it does."""
    def test_good(self): print("ok")
    def test_loud(self): print("======\\nFAIL", file=sys.stderr)
    def test_bad(self): self.fail()
    def test_error(self): raise OSError
    def test_sub(self):
        for i in range(2):
            with self.subTest(i=i): self.assertEqual(i, 0)
    @unittest.skip("later")
    def test_skipped(self): pass
    @unittest.expectedFailure
    def test_known(self): self.fail()
    @unittest.expectedFailure
    def test_surprise(self): pass
'''


def test_the_words_of_this_python(tmp_path: Path) -> None:
    """What the interpreter here really writes is read right."""
    (tmp_path / "test_t.py").write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, "-I", "-B", "-m", "unittest", "discover", "-v", "-s", str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, "NO_COLOR": "1"},
        text=True,
    )
    assert passed_tests(done.stdout) == {
        f"test_t.T.test_{name}" for name in ("docstring", "good", "loud")
    }


@given(
    st.text()
    | st.lists(st.sampled_from(["test_a (t.T)", " ... ", "ok", "\n", "FAIL"])).map("".join)
)
def test_any_output_can_be_read(output: str) -> None:
    """Whatever a program prints, the answer is a set of names."""
    assert all("." in name for name in passed_tests(output))


PYTEST = """\
.F
=================================== PASSES ===================================
PASSED tests/test_a.py::test_printed
=========================== short test summary info ============================
PASSED tests/test_a.py::test_x[1 - b]
PASSED tests/test_a.py::test_object[<X object at 0x7f0011223344>]
PASSED tests/test_a.py::test_twice
XFAIL tests/test_a.py::test_expected
FAILED tests/test_a.py::test_y - assert 1 == 2
ERROR tests/test_a.py::test_twice - boom
========================= 1 failed, 1 passed in 0.01s ==========================
"""


def test_the_summary_of_pytest() -> None:
    """The last summary counts, never what a test prints; an address is no name."""
    assert passed_tests(PYTEST) == {"tests/test_a.py::test_x[1 - b]"}
