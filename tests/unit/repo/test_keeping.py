"""Files put aside below a ref: all of them, beside earlier ones, and nothing else is touched."""

from __future__ import annotations

import pytest

from evalgate.errors import UsageError
from evalgate.repo.git import Git
from evalgate.repo.keeping import keep_files, refs_below
from evalgate.repo.subject import Subject
from evalgate.repo.treeview import open_tree

REF = "refs/evalgate/cassettes/abc"


def test_files_are_kept_beside_those_of_before(make_work):
    """Odd names and bytes come back as they were; index, branch and files stay as they are."""
    work = make_work()
    work.write("a.txt")
    work.git("add", "-A")
    before = work.git("status", "--porcelain"), (work.path / ".git/index").read_bytes()
    git = Git.locate(work.path)
    odd = 'x/é "quoted" \\ name.json'
    first = keep_files(git, REF, {odd: b"\0\xff\n", "x/1.json": b""}, message="one")
    second = keep_files(git, REF, {"x/1.json": b"new\r\n"}, message="two")
    assert git.parents(second) == (first,)
    with open_tree(git, Subject.parse(REF)) as view:
        kept = {path: file.data for path, file in view.read_prefix("x").items()}
    assert kept == {odd.removeprefix("x/"): b"\0\xff\n", "1.json": b"new\r\n"}
    assert (work.git("status", "--porcelain"), (work.path / ".git/index").read_bytes()) == before
    assert refs_below(git, "refs/evalgate") == (REF,)
    work.git("fsck", "--strict")


@pytest.mark.parametrize("ref", ["refs/heads/main", "refs/tags/x", "x", "refs/evalgate/a..b"])
def test_no_branch_or_tag_is_written(make_work, ref):
    """What is put aside never moves what people look at."""
    work = make_work()
    with pytest.raises(UsageError):
        keep_files(Git.locate(work.path), ref, {"a": b""}, message="no")
