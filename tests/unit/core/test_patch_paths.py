"""What a stranger's patch touches: as git writes it, and never beyond the tree."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalgate.core.files import is_safe_path
from evalgate.core.patch_paths import paths_of_patch


def test_what_git_writes_is_read(tmp_path: Path, git_environment: dict[str, str]) -> None:
    """Odd names, a rename, a mode, a deletion, lines that look like headers, no last line's end."""

    def git(*words: str) -> bytes:
        command = ["git", *words]
        return subprocess.run(
            command, cwd=tmp_path, env=git_environment, check=True, capture_output=True
        ).stdout

    git("init", "-q")
    names = ["plain", "a b", "tab\t", 'qu"ote', "é", "sub/old", "gone", "mode"]
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"{name}\n-- a/x\n" * 9)
    git("add", "-A")
    for name in names[:5]:
        (tmp_path / name).write_text("++ b/../x\nother")
    (tmp_path / "sub/old").rename(tmp_path / "sub/new")
    (tmp_path / "gone").unlink()
    (tmp_path / "mode").chmod(0o755)
    tree = git("write-tree").decode().strip()
    git("add", "-A")
    patch = git("diff", "--cached", "-M", tree)
    assert set(paths_of_patch(patch)) == {*names, "sub/new"}


@pytest.mark.parametrize(
    ("patch", "words"),
    [
        (b"", "changes no file"),
        (b"diff --git a/x b/x\n", "changes no file"),
        (b"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\0\n", "line 5: holds NUL"),
        (b"--- a/x\n+++ b/x\n@@ -1,2 +1 @@\n-a\n+b\n", "line 3: its hunk is cut off"),
        (b"--- x\n+++ y\n@@ -1 +1 @@\n-a\n+b\n", "line 1: 'x' leaves the tree, or does not"),
        (b"--- a/../x\n", "line 1: 'a/../x' leaves the tree"),
        (b"--- a/x\n+++ b/x\nnew file mode 120000\n", "line 3: makes a link"),
    ],
)
def test_what_is_no_patch_is_said_with_its_line(patch: bytes, words: str) -> None:
    """Before git is asked."""
    with pytest.raises(ValueError, match=words):
        paths_of_patch(patch)


PIECES = [b"--- a/x\n", b"+++ b/x\n", b"@@ -1 +1 @@\n", b"-a\n", b"+b\n", b"../", b'"\\056', b'"\n']


@given(st.lists(st.sampled_from(PIECES) | st.binary(max_size=3), max_size=12).map(b"".join))
def test_no_bytes_lead_out_or_break_it(patch: bytes) -> None:
    """Paths that stay inside, or a ValueError."""
    try:
        paths = paths_of_patch(patch)
    except ValueError:
        return
    assert paths
    assert all(map(is_safe_path, paths))
