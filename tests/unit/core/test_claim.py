"""A claim: what an agent hands back, and how it is kept and shown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalgate.core.claim import Claim, claim_of, diff_lines, render_patch
from evalgate.core.files import File, FileMode

PATHS = st.sampled_from(["a.py", "b/c.txt", "d e", "é", "\udcff"])
FILES = st.builds(File, data=st.binary(max_size=12), mode=st.sampled_from(FileMode))
TREES = st.dictionaries(PATHS, FILES, max_size=4)


def text(content: str) -> File:
    """Return a regular file."""
    return File(data=content.encode())


@given(TREES, TREES)
def test_a_claim_is_the_whole_difference(before: dict[str, File], after: dict[str, File]) -> None:
    """Applied to the snapshot, a claim gives what the agent left."""
    claim = claim_of(before, after)
    assert claim.applied_to(before) == after
    assert claim_of(before, before) == Claim()
    assert set(claim.touched) == {p for p in before | after if before.get(p) != after.get(p)}


@given(TREES, TREES)
def test_a_claim_comes_back_from_json(before: dict[str, File], after: dict[str, File]) -> None:
    """Text, bytes, modes and deletions survive the recording."""
    claim = claim_of(before, after)
    assert Claim.from_json(claim.to_json()) == claim


def test_text_is_kept_readable_and_bytes_in_base64() -> None:
    """A recording shows what it can."""
    claim = Claim(changed={"a": text("é\n"), "b": File(data=b"\xff\0", mode=FileMode.EXECUTABLE)})
    assert claim.to_json() == {
        "changed": {
            "a": {"mode": "100644", "text": "é\n"},
            "b": {"mode": "100755", "base64": "/wA="},
        },
        "deleted": [],
    }


@pytest.mark.parametrize("path", ["../x", "/etc/passwd", "a/../../x", ".git/hooks/pre-push", "a\0"])
@pytest.mark.parametrize("deleted", [False, True])
def test_a_claim_that_leaves_the_workspace_is_refused(path: str, deleted: bool) -> None:
    """A recording from a fork can not write beside the sandbox's workspace."""
    value = {
        "changed": {} if deleted else {path: {"mode": "100644", "text": ""}},
        "deleted": [path] if deleted else [],
    }
    with pytest.raises(ValueError, match="leaves the workspace"):
        Claim.from_json(value)


@pytest.mark.parametrize(
    "value",
    [
        {"changed": {"a": {"mode": "100644"}}, "deleted": []},
        {"changed": {"a": {"mode": "777", "text": ""}}, "deleted": []},
        {"changed": {}},
    ],
)
def test_what_is_no_claim_is_refused(value: dict[str, object]) -> None:
    """A file without content or mode, or a claim cut in half."""
    with pytest.raises((ValueError, KeyError)):
        Claim.from_json(value)


def test_byte_code_is_no_work() -> None:
    """Running a program leaves files behind that say nothing about the agent."""
    after = {"a.py": text("x"), "__pycache__/a.pyc": text("1"), "b/__pycache__/c.pyc": text("2")}
    assert claim_of({"a.py": text("x")}, after) == Claim()


@pytest.mark.parametrize(
    ("before", "after", "lines"),
    [
        ("a\nb\n", "a\nc\n", 2),
        ("", "a\nb\n", 2),
        ("-- x\n", "", 1),
        ("++ x\n", "-- y\n", 2),
        ("a\n", "a", 2),
        ("a\x0cb\n", "a\x0cc\n", 2),
    ],
)
def test_lines_are_counted_once_each(before: str, after: str, lines: int) -> None:
    """A changed line that looks like the head of a diff is a line as any other."""
    claim = Claim(changed={"f": text(after)})
    assert diff_lines({"f": text(before)}, claim) == lines


def test_no_line_of_a_binary_file_is_counted() -> None:
    """Bytes have no lines; the patch says that they differ."""
    snapshot = {"f": File(data=b"\xff")}
    claim = Claim(changed={"f": text("a\n")}, deleted=())
    assert diff_lines(snapshot, claim) == 0
    assert render_patch(snapshot, claim) == "Binary file f differs\n"


def test_a_patch_reads_as_people_expect() -> None:
    """Added, deleted and changed files, and a last line without its end."""
    snapshot = {"gone": text("x\n"), "here": text("a\nb\n")}
    claim = Claim(changed={"here": text("a\nc"), "new": text("")}, deleted=("gone",))
    assert render_patch(snapshot, claim) == (
        "--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"
        "--- a/here\n+++ b/here\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n\\ No newline at end of file\n"
        "--- /dev/null\n+++ b/new\n"
    )
