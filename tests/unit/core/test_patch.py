"""Patches: what `render_patch` writes is what `apply_patch` reads."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from evalgate.core.claim import Claim, claim_of, render_patch
from evalgate.core.files import File
from evalgate.core.patch import apply_patch, render_difference

LINES = st.one_of(
    st.sampled_from(["", "a", "b", "--- a/x", "+++ b/x", "-- x", "@@ -1 +1 @@", "\\ No newline"]),
    st.sampled_from(["a\r", "\r", "a\x0cb", "\u2028", "\x85", "\x1c", " ", "+", "-", "é"]),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=4),
)
TEXTS = st.lists(LINES, max_size=6).map("\n".join) | st.lists(LINES, max_size=6).map(
    lambda lines: "".join(f"{line}\n" for line in lines)
)
FILES = TEXTS.map(lambda text: File(data=text.encode()))
PATHS = st.sampled_from(
    ["x", "a/x", "b/x", "dev/null", "d e", "a\nb", '"q"', "t\tb", "é", "\udcff", "--- a/x", "x\r"]
)
PIECES = ["--- a/x\n", "+++ b/x\n", "@@ -1 +1 @@\n", "-a\n", "+b\n", " a\n"]
TREES = st.dictionaries(PATHS, FILES, max_size=4)


def tree(**files: str) -> dict[str, File]:
    """Return regular files."""
    return {path: File(data=text.encode()) for path, text in files.items()}


@settings(max_examples=100)
@given(TREES, TREES)
@example(tree(x=""), {})
@example({}, tree(x=""))
@example(tree(x="-- x\n"), tree(x="++ x\n"))
@example(tree(x="a\r\nb\r\n"), tree(x="a\nb\r\n"))
@example(tree(x="a\x0c"), tree(x="b\x0c"))
@example(tree(x="\n".join("abcdefghijklmnop")), tree(x="\n".join("abXdefghijklmnoP") + "\n"))
def test_a_patch_carries_every_text(before: dict[str, File], after: dict[str, File]) -> None:
    """Any change of text files is made again, to the byte, from its patch."""
    claim = claim_of(before, after)
    patch = render_patch(before, claim)
    assert apply_patch(before, patch) == claim.applied_to(before)


@pytest.mark.parametrize(
    "patch",
    [
        "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-other\n+b\n",
        "--- a/x\n+++ b/x\n@@ -9 +9 @@\n-a\n+b\n",
        "--- a/x\n",
        "--- a/x\nno header\n",
        '--- "a/x\n+++ b/x\n',
    ],
)
def test_a_patch_for_something_else_is_refused(patch: str) -> None:
    """A line that is not there, or a cut patch, is an error and never a wrong file."""
    with pytest.raises(ValueError):
        apply_patch(tree(x="a\n"), patch)


@settings(max_examples=100)
@given(st.lists(st.sampled_from(PIECES)))
def test_any_patch_applies_or_is_refused(lines: list[str]) -> None:
    """A hand-edited patch in a baseline can not bring the program down."""
    with contextlib.suppress(ValueError):
        assert set(apply_patch(tree(x="a\n"), "".join(lines))) <= {"x"}


def test_what_failed_is_shown_against_what_passed() -> None:
    """Two patches of one snapshot differ by what the second gets wrong."""
    snapshot = tree(x="a\n")
    good, bad = (
        render_patch(snapshot, Claim(changed=tree(x=text))) for text in ("right\n", "wrong\n")
    )
    assert render_difference(snapshot, good, bad) == (
        "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-right\n+wrong\n"
    )
    assert render_difference(snapshot, good, good) == ""


def test_a_binary_file_is_named_and_left() -> None:
    """The patch is for reading: bytes are not in it."""
    snapshot = {"x": File(data=b"\xff")}
    patch = render_patch(snapshot, Claim(changed={"x": File(data=b"\xfe")}))
    assert patch == "Binary file x differs\n"
    assert apply_patch(snapshot, patch) == snapshot
