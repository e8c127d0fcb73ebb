"""Trees: a digest of what is in them, and paths that stay inside."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalgate.core.files import File, FileMode, is_safe_path, subtree, tree_digest


@given(st.permutations(["a", "b/c", "b.d", "é", "Z"]))
def test_the_order_of_files_does_not_matter(paths: list[str]) -> None:
    """A tree is a set of files, however it was gathered."""
    tree = {path: File(data=path.encode()) for path in paths}
    assert tree_digest(tree, domain="x") == tree_digest(dict(sorted(tree.items())), domain="x")


@pytest.mark.parametrize(
    "other",
    [
        {"a": File(data=b"2")},
        {"b": File(data=b"1")},
        {"a": File(data=b"1", mode=FileMode.EXECUTABLE)},
        {"a": File(data=b"1", mode=FileMode.SYMLINK)},
        {"a": File(data=b"1"), "b": File(data=b"")},
        {},
    ],
)
def test_content_path_and_mode_matter(other: dict[str, File]) -> None:
    """Whatever git tells apart, the digest does."""
    assert tree_digest({"a": File(data=b"1")}, domain="x") != tree_digest(other, domain="x")


def test_equal_bytes_of_two_kinds_never_meet() -> None:
    """The domain is part of what is hashed."""
    assert tree_digest({}, domain="task") != tree_digest({}, domain="suite")


def test_a_path_that_is_no_utf8_is_hashed_as_its_bytes() -> None:
    """Git knows paths of any bytes."""
    one, two = ({path: File(data=b"")} for path in ("\udcff", "\udcfe"))
    assert tree_digest(one, domain="x") != tree_digest(two, domain="x")


def test_a_subtree_is_what_lies_below() -> None:
    """A name that only begins alike is not below."""
    tree = {name: File(data=b"") for name in ("tests/a", "tests/b/c", "tests2/d", "tests")}
    assert set(subtree(tree, "tests")) == set(subtree(tree, "tests/")) == {"a", "b/c"}


@pytest.mark.parametrize(
    "path",
    [
        *("", "/etc/passwd", "../x", "a/../b", "a/..", "./a", "a//b", "a/", "/", ".", ".."),
        *(".git", "a/.git/config", ".GIT/hooks/pre-push", "a\0b"),
    ],
)
def test_a_hostile_path_is_not_safe(path: str) -> None:
    """Nothing absolute, nothing that climbs, nothing in git's own directory."""
    assert not is_safe_path(path)


@pytest.mark.parametrize(
    "path", ["a", "a/b.py", ".gitignore", "..a", "a..b/...", "é", "a b", ".github/x"]
)
def test_an_ordinary_path_is(path: str) -> None:
    """Dots in a name are no steps."""
    assert is_safe_path(path)
