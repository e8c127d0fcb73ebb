"""Which commit is compared with which, without and with an explicit base."""

from __future__ import annotations

from typing import Any

import pytest

from evalgate.errors import UsageError
from evalgate.repo.base import Looked, Pair, is_dirty, resolve_pair
from evalgate.repo.subject import Subject, SubjectKind

HEAD = Subject.parse("HEAD")


#: What a project of these tests looks at.
LOOKED = Looked(
    judged=(":(top,glob)prompts/**", ":(top,glob)readme"), evidence=(":(top,glob)baselines/**",)
)


def _pair(work: Any, base: str | None = None, head: str | None = None) -> Pair:
    subject = None if head is None else Subject.parse(head)
    return resolve_pair(work.locate(), base=base, head=subject, environ={}, look=lambda: LOOKED)


def test_a_clean_tree(work: Any) -> None:
    """HEAD against its first parent."""
    first = work.oid("HEAD")
    work.commit({"b": "b"})
    pair = _pair(work)
    assert (pair.head, pair.base) == (HEAD, first)
    assert pair.how == "HEAD against its first parent"


@pytest.mark.parametrize("what", ["edit", "new", "staged", "deleted", "hidden"])
def test_an_edit_of_what_is_judged(work: Any, what: str) -> None:
    """Any of it, untracked files too: the work tree against HEAD."""
    work.commit({"b": "b"})
    if what == "hidden":
        work.git("update-index", "--assume-unchanged", "readme")
    if what == "deleted":
        (work.path / "readme").unlink()
    else:
        work.write("prompts/new" if what == "new" else "readme", "changed\n")
    if what == "staged":
        work.git("add", "-A")
    pair = _pair(work)
    assert pair.head.kind is SubjectKind.WORKTREE
    assert (pair.base, pair.how) == (work.oid("HEAD"), "work tree against HEAD")
    assert _pair(work, base="HEAD~1").head.kind is SubjectKind.WORKTREE


@pytest.mark.parametrize("what", ["edit", "new", "staged", "deleted"])
def test_an_edit_of_anything_else(work: Any, what: str) -> None:
    """It hides no committed edit: HEAD against its first parent, and that it was left out."""
    parent = work.commit({"notes": "n"})
    work.commit({"prompts/a": "b"})
    if what == "deleted":
        (work.path / "notes").unlink()
    else:
        work.write("scratch" if what == "new" else "notes", "changed\n")
    if what == "staged":
        work.git("add", "-A")
    pair = _pair(work)
    assert (pair.head, pair.base) == (HEAD, parent)
    why = "(what is not committed is none of what is judged)"
    assert pair.how == f"HEAD against its first parent {why}"
    assert _pair(work, base="HEAD~1").head == HEAD


@pytest.mark.parametrize("more", [{}, {"scratch": "s"}])
def test_evidence_that_is_not_committed(work: Any, more: Any) -> None:
    """What was recorded of a committed edit counts for it; with nothing before, for HEAD."""
    for name, text in {"baselines/a": "a", **more}.items():
        work.write(name, text)
    assert _pair(work).how == "work tree against HEAD"
    work.git("add", "readme")
    work.git("commit", "-qm", "edit", "--allow-empty")
    pair = _pair(work)
    assert pair.head.kind is SubjectKind.WORKTREE
    assert pair.base == work.oid("HEAD~1")
    words = "HEAD with what is recorded and accepted but not committed, against its first parent"
    assert pair.how == words
    work.write("prompts/a", "edited")
    assert _pair(work).how == "work tree against HEAD"


def test_own_state_and_ignored_files_are_not_dirt(work: Any) -> None:
    """Running evalgate must not change what it judges."""
    work.commit({".gitignore": "*.log\n"})
    work.write("x.log")
    work.write(".evalgate/runs/1/run.json")
    work.write("sub/.evalgate/x")
    assert not is_dirty(work.locate())


def test_a_submodule_with_edits_inside_is_not_dirt(work: Any, make_work: Any) -> None:
    """No tree of ours could show them."""
    other = make_work("other")
    other.commit({"x": "x"})
    work.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(other.path), "sub")
    work.commit()
    work.write("sub/x", "edited")
    assert not is_dirty(work.locate())


def test_index_and_work_tree_are_compared_with_head(work: Any) -> None:
    """Also when nothing is changed."""
    for name in ("INDEX", "WORKTREE"):
        assert _pair(work, head=name).base == work.oid("HEAD")


def test_a_merge_is_compared_with_its_first_parent(work: Any) -> None:
    """The first parent is where it was merged into."""
    work.git("checkout", "-q", "-b", "side")
    work.commit({"b": "b"})
    work.git("checkout", "-q", "main")
    ours = work.commit({"c": "c"})
    work.git("merge", "-q", "--no-ff", "-m", "m", "side")
    assert _pair(work).base == ours
    assert _pair(work, head="side").base == work.oid("side~1")


def test_a_squash_merge_is_an_ordinary_commit(work: Any) -> None:
    """Its first parent is the base."""
    work.git("checkout", "-q", "-b", "side")
    work.commit({"b": "b"})
    work.git("checkout", "-q", "main")
    ours = work.commit({"c": "c"})
    work.git("merge", "-q", "--squash", "side")
    work.commit_staged("squashed")
    assert _pair(work).base == ours


def test_the_first_commit(work: Any, make_work: Any) -> None:
    """There is nothing to compare with, and that is no error."""
    pair = _pair(work)
    assert (pair.head, pair.base) == (HEAD, None)
    assert pair.how == "first commit: nothing to compare with"
    unborn = _pair(make_work("new"))
    assert (unborn.head.kind, unborn.base) == (SubjectKind.WORKTREE, None)
    assert unborn.how == pair.how


def test_an_explicit_base_that_is_an_ancestor(work: Any) -> None:
    """It is the base."""
    first = work.oid("HEAD")
    work.commit({"b": "b"})
    work.commit({"c": "c"})
    pair = _pair(work, base="HEAD~2")
    assert (pair.base, pair.how) == (first, "HEAD against HEAD~2")
    work.write("readme", "dirty\n")
    assert _pair(work, base="HEAD~2").head.kind is SubjectKind.WORKTREE


def test_an_explicit_base_that_moved_on(work: Any) -> None:
    """What happened on main since is not blamed on the branch."""
    fork = work.oid("HEAD")
    work.git("checkout", "-q", "-b", "side")
    work.commit({"b": "b"})
    work.git("checkout", "-q", "main")
    work.commit({"c": "c"})
    pair = _pair(work, base="main", head="side")
    assert pair.base == fork
    assert pair.how == f"{work.oid('side')[:12]} against {fork[:12]}, where it left main"


def test_a_criss_cross_says_so(work: Any) -> None:
    """Two merge bases are equally good; the first is taken and the number told."""
    one = work.oid("HEAD")
    work.git("checkout", "-q", "-b", "side")
    two = work.commit({"b": "b"})
    work.git("checkout", "-q", "main")
    one = work.commit({"c": "c"})
    work.git("merge", "-q", "-m", "m1", "side")
    work.git("checkout", "-q", "side")
    work.git("merge", "-q", "-m", "m2", one)
    pair = _pair(work, base="main")
    assert pair.base in {one, two}
    assert pair.how.endswith("(the first of 2 merge bases)")


def test_unrelated_histories(work: Any) -> None:
    """There is no sound base."""
    work.git("checkout", "-q", "--orphan", "alone")
    work.commit({"c": "c"})
    with pytest.raises(UsageError, match="no common ancestor"):
        _pair(work, base="main")


def test_a_shallow_clone(work: Any, clone: Any) -> None:
    """The missing parent is named with the depth that brings it."""
    first = work.oid("HEAD")
    work.commit({"b": "b"})
    with pytest.raises(UsageError, match=first[:12]) as caught:
        _pair(clone(work, "--depth=1", name="one"))
    assert "fetch-depth: 2" in caught.value.hint
    assert _pair(clone(work, "--depth=2", name="two")).base == first


def test_the_environment_is_not_heard(
    work: Any, make_work: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hook's variables mislead neither us nor GitPython."""
    git = work.locate()
    first = work.oid("HEAD")
    work.commit({"b": "b"})
    other = make_work("other")
    monkeypatch.setenv("GIT_DIR", f"{other.path}/.git")
    monkeypatch.setenv("GIT_INDEX_FILE", "/nonexistent")
    monkeypatch.setenv("GIT_OBJECT_DIRECTORY", f"{other.path}/.git/objects")
    pair = resolve_pair(git, base=first, head=HEAD, environ={}, look=lambda: LOOKED)
    assert pair.base == first


def test_sha256(make_work: Any) -> None:
    """GitPython's object database can not open it; its wrapper can."""
    work = make_work("long", "--object-format=sha256")
    first = work.commit({"a": "a"})
    work.commit({"b": "b"})
    assert _pair(work).base == _pair(work, base="HEAD~1").base == first
