"""Reading JUnit files that strangers wrote."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalgate.core.junit import junit_results, plain_id


def test_each_test_is_reported_at_its_worst():
    """Also one that is reported twice, whatever comes last."""
    cases = (
        '<testcase classname="a.T" name="b"/><testcase classname="a.T" name="c"><failure/>'
        '</testcase><testcase classname="a.T" name="c"/><testcase name="d"><skipped/></testcase>'
        '<testcase name="e"><error/></testcase><testcase name="f"><system-out/></testcase>'
    )
    assert junit_results(f"<testsuite>{cases}</testsuite>".encode()) == {
        "a.T.b": "passed",
        "a.T.c": "failure",
        "d": "skipped",
        "e": "error",
        "f": "passed",
    }


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("tests/test_a.py::test_b", "tests.test_a.test_b"),
        ("test_a.py::T::test_b[x::y/z.py]", "test_a.T.test_b[x::y/z.py]"),
        ("a.T.b", "a.T.b"),
    ],
)
def test_an_id_of_pytest_is_that_of_its_report(name, plain):
    """The values of a parametrised test stay as they are."""
    assert plain_id(name) == plain


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "no XML"),
        (b"<a/>", "no JUnit file"),
        (b"<testsuite>", "no XML"),
        (b'<!DOCTYPE a [<!ENTITY b "c">]><testsuite>&b;</testsuite>', "document type"),
        (b" " * (16 * 1024 * 1024 + 1), "too large"),
    ],
)
def test_what_is_none_is_said(data, words):
    """A ValueError, whatever the bytes are."""
    with pytest.raises(ValueError, match=words):
        junit_results(data)


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(data):
    """Nothing else is raised."""
    with suppress(ValueError):
        assert isinstance(junit_results(data), dict)
