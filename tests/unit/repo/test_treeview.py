"""Listing and reading trees: globs, names, links, submodules, clones that lack things."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import git as gitpython
import pytest

from evalgate.core.files import File, FileMode
from evalgate.errors import UsageError
from evalgate.repo.subject import Subject, SubjectKind
from evalgate.repo.treeview import open_tree


def _paths(work: Any, *globs: str, subject: str = "HEAD", root: str = "") -> list[str]:
    return [entry.path for entry in work.entries(subject, globs, root)]


def test_subjects_are_parsed() -> None:
    """Two words in capitals, anything else is a revision."""
    assert Subject.parse("INDEX") == Subject(kind=SubjectKind.INDEX)
    assert Subject.parse("WORKTREE") == Subject(kind=SubjectKind.WORKTREE)
    assert Subject.parse("index") == Subject(kind=SubjectKind.REVISION, rev="index")
    with pytest.raises(UsageError):
        Subject.parse("")


def test_labels(work: Any) -> None:
    """HEAD stays HEAD, other revisions are named by what they are."""
    head = work.oid("HEAD")
    for text, label in (("HEAD", "HEAD"), ("main", head[:12]), ("INDEX", "index")):
        with open_tree(work.locate(), Subject.parse(text)) as view:
            assert view.label == label
            assert view.commit == (None if text == "INDEX" else head)
            assert view.tree == work.oid("HEAD^{tree}")
    with open_tree(work.locate(), Subject.parse("WORKTREE"), paths=[":(top)"]) as view:
        assert view.label == "work tree"


def test_gitpython_walks_the_same_tree(work: Any) -> None:
    """Another reader of the same repository gives the same (mode, oid, path) list."""
    work.write("bin/run", "#!/bin/sh\n").chmod(0o755)
    (work.path / "link").symlink_to("readme")
    work.commit({"a/b": "1", "a.b": "2", "a-b": "3", "with space/x": "4", "ü/ä": "5"})
    with gitpython.Repo(work.path) as repo:
        blobs = [item for item in repo.head.commit.tree.traverse() if item.type == "blob"]
        theirs = sorted((f"{blob.mode:06o}", blob.hexsha, blob.path) for blob in blobs)
    ours = work.entries()
    assert sorted((entry.mode, entry.oid, entry.path) for entry in ours) == theirs
    assert [e.path for e in ours] == sorted((e.path for e in ours), key=os.fsencode)


def test_globs_are_gits_own(work: Any) -> None:
    """One star stays in a directory, two cross it, a directory means all of it."""
    work.commit({"prompts/deep/b.md": "b", "prompts/c.txt": "c", "x.md": "x", "[a]/b": "b"})
    assert _paths(work, "prompts/*.md") == ["prompts/a.md"]
    assert _paths(work, "**/*.md") == ["prompts/a.md", "prompts/deep/b.md", "x.md"]
    assert _paths(work, "prompts") == ["prompts/a.md", "prompts/c.txt", "prompts/deep/b.md"]
    assert _paths(work, "promts/**") == []
    assert _paths(work) == []


def test_root_is_literal_and_removed(work: Any) -> None:
    """A project in a subdirectory sees its own names, also if it looks like a glob."""
    work.commit({"[ab]/p/x.md": "1", "a/p/y.md": "2", "c\\d/p/z.md": "3"})
    assert _paths(work, "p/**", root="[ab]") == ["p/x.md"]
    assert _paths(work, "**", root="a/") == ["p/y.md"]
    assert _paths(work, "p/**", root="c\\d") == ["p/z.md"]


@pytest.mark.parametrize("glob", ["", "/etc/*", "../x", "a/../b"])
def test_globs_stay_inside(work: Any, glob: str) -> None:
    """A glob that leaves the project is an error, not a surprise."""
    with pytest.raises(UsageError, match="not a glob inside"):
        work.entries("HEAD", [glob])


@pytest.mark.parametrize("subject", ["HEAD", "INDEX", "WORKTREE"])
def test_names_are_bytes(work: Any, subject: str) -> None:
    """Spaces, newlines, quotes and bytes outside UTF-8 survive."""
    names = [
        b"odd/a b",
        b"odd/new\nline",
        b'odd/q"uote',
        b"odd/\xff\xfe",
        b"odd/:(top)x",
        b"odd/-x",
    ]
    for name in names:
        work.write(name, name)
    work.commit()
    texts = sorted((os.fsdecode(name) for name in names), key=os.fsencode)
    with open_tree(work.locate(), Subject.parse(subject), paths=[":(top)odd"]) as view:
        assert [entry.path for entry in view.entries(["odd/**"])] == texts
        assert view.read(texts) == {text: File(data=os.fsencode(text)) for text in texts}


def test_reading(work: Any) -> None:
    """Modes are kept, links are not followed, what is missing is left out."""
    work.write("bin/run", "#!/bin/sh\n").chmod(0o755)
    (work.path / "bin/link").symlink_to("/etc/passwd")
    work.commit({"empty": b"", "zero": b"\0\n\0"})
    with open_tree(work.locate(), Subject.parse("HEAD")) as view:
        assert view.read_prefix("bin") == {
            "run": File(data=b"#!/bin/sh\n", mode=FileMode.EXECUTABLE),
            "link": File(data=b"/etc/passwd", mode=FileMode.SYMLINK),
        }
        assert view.read(["empty", "zero", "none", "bin"]) == {
            "empty": File(data=b""),
            "zero": File(data=b"\0\n\0"),
        }
        assert view.read_prefix("readme") == {}
        assert set(view.read_prefix("")) >= {"readme", "prompts/a.md"}
        assert view.read_text("none") is None
        with pytest.raises(UsageError, match="symbolic link"):
            view.read_text("bin/link")


def test_text_must_be_utf8(work: Any) -> None:
    """Configuration in another encoding is a mistake that is named."""
    work.commit({"latin": b"\xe4"})
    with (
        open_tree(work.locate(), Subject.parse("HEAD")) as view,
        pytest.raises(UsageError, match="not UTF-8"),
    ):
        view.read_text("latin")


def test_a_submodule_is_one_entry(work: Any, make_work: Any) -> None:
    """Nothing inside matches, in no state."""
    other = make_work("other")
    tip = other.commit({"prompts/x.md": "x"})
    work.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(other.path), "sub")
    work.commit()
    for subject in ("HEAD", "INDEX", "WORKTREE"):
        (entry,) = work.entries(subject, ["sub"])
        assert (entry.mode, entry.oid) == ("160000", tip)
        assert _paths(work, "sub/**", "sub/prompts/x.md", subject=subject) == []
    with open_tree(work.locate(), Subject.parse("HEAD")) as view:
        assert "sub" not in view.read_prefix("")
        assert view.read(["sub"]) == {}


def test_a_submodule_that_moved(work: Any, make_work: Any) -> None:
    """The work tree has the commit that is checked out; dirt inside does not count."""
    other = make_work("other")
    other.commit({"x": "x"})
    work.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(other.path), "sub")
    work.commit()
    (work.path / "sub/x").write_text("dirty")
    assert work.entries("WORKTREE", ["sub"]) == work.entries("HEAD", ["sub"])
    moved = type(work)(path=work.path / "sub").commit()
    (entry,) = work.entries("WORKTREE", ["sub"])
    assert entry.oid == moved


def test_a_sha256_repository(make_work: Any) -> None:
    """Longer ids, the same answers."""
    work = make_work("long", "--object-format=sha256")
    work.commit({"a": "a"})
    work.write("a", "b")
    git = work.locate()
    assert git.object_format == "sha256"
    for subject, text in (("HEAD", "a"), ("INDEX", "a"), ("WORKTREE", "b")):
        with open_tree(git, Subject.parse(subject), paths=[":(top)"]) as view:
            assert view.read_text("a") == text
            assert len(view.tree) == len(git.empty_tree()) == 64


def test_a_partial_clone_lists_without_fetching(work: Any, clone: Any) -> None:
    """Ids are in the trees; contents come when they are read."""
    partial = clone(work, "--filter=blob:none", "--no-checkout")
    before = partial.git("count-objects", "-v")
    assert partial.entries() == work.entries()
    assert partial.git("count-objects", "-v") == before
    with open_tree(partial.locate(), Subject.parse("HEAD")) as view:
        assert view.read_text("readme") == "x\n"


def test_a_partial_clone_with_edits(work: Any, clone: Any) -> None:
    """Writing the work tree as a tree asks for no content it does not change."""
    partial = clone(work, "--filter=blob:none", "--no-checkout")
    partial.git("reset", "-q", "--", ".", ok=(0, 1))
    partial.write("prompts/a.md", "edited\n")
    with open_tree(partial.locate(), Subject.parse("WORKTREE"), paths=[":(top)prompts"]) as view:
        assert view.read_text("prompts/a.md") == "edited\n"
        assert {e.path for e in view.entries(["**"])} == {"agent/main.py", "prompts/a.md", "readme"}


def test_a_tree_that_is_not_here(work: Any, clone: Any) -> None:
    """A commit outside a shallow clone is an error with the reason."""
    first = work.oid("HEAD")
    work.commit({"b": "b"})
    shallow = clone(work, "--depth=1")
    with (
        pytest.raises(UsageError, match="no such commit") as caught,
        open_tree(shallow.locate(), Subject.parse(first)),
    ):
        pass
    assert "shallow" in caught.value.hint


def test_the_temporary_directory_is_gone(
    work: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Also when the place for temporary files has a colon and a quote in its name."""
    place = tmp_path / 'a:b"c'
    place.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(place))
    work.write("prompts/a.md", "edited\n")
    with open_tree(work.locate(), Subject.parse("WORKTREE"), paths=[":(top)"]) as view:
        assert view.read_text("prompts/a.md") == "edited\n"
        assert list(place.iterdir())
    assert not list(place.iterdir())
