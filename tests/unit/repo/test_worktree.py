"""Index and work tree as trees: what a commit would hold, and nothing touched on the way."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from evalgate.errors import UsageError
from evalgate.repo.subject import Subject
from evalgate.repo.treeview import open_tree


def _tree(work: Any, subject: str, *paths: str, **environ: str) -> str:
    with open_tree(
        work.locate(**environ), Subject.parse(subject), paths=paths or [":(top)"]
    ) as view:
        return view.tree


def _committed(work: Any) -> str:
    """Return the tree that committing everything really makes."""
    work.commit()
    return str(work.oid("HEAD^{tree}"))


def test_all_kinds_of_edits_give_the_tree_of_the_commit(work: Any) -> None:
    """Edited, added, deleted, renamed, made executable, file to directory and back."""
    work.commit({"gone": "g", "old": "o", "dir/x": "x", "file": "f", "s/t": "t", "ign": "i"})
    work.write(".gitignore", "*.log\n")
    work.write("skip.log")
    work.write("prompts/a.md", "be very brief\n")
    work.write("new/deep/file")
    (work.path / "gone").unlink()
    (work.path / "old").rename(work.path / "renamed")
    (work.path / "agent/main.py").chmod(0o755)
    (work.path / "dir/x").unlink()
    (work.path / "dir").rmdir()
    work.write("dir", "a file now")
    (work.path / "file").unlink()
    work.write("file/inner")
    (work.path / "s/t").unlink()
    (work.path / "s").rmdir()
    (work.path / "s").symlink_to("new/deep")
    (work.path / "dangling").symlink_to("nowhere")
    tree = _tree(work, "WORKTREE")
    assert tree == _committed(work)
    assert tree == _tree(work, "HEAD") == _tree(work, "INDEX") == _tree(work, "WORKTREE")


def test_a_directory_replaced_by_a_link_to_a_twin(work: Any) -> None:
    """Files reached through a link are not files of the project."""
    work.commit({"d/x": "x", "twin/x": "x"})
    (work.path / "d/x").unlink()
    (work.path / "d").rmdir()
    (work.path / "d").symlink_to("twin")
    assert _tree(work, "WORKTREE") == _committed(work)


def test_the_repository_is_left_alone(work: Any) -> None:
    """No object, no index write, no ref: a reader only reads."""
    work.write("prompts/a.md", "edited\n")
    work.write("new/file", "new\n")
    work.write("staged", "staged\n")
    work.git("add", "staged")
    work.git("update-index", "--assume-unchanged", "readme")
    before = work.state()
    assert _tree(work, "WORKTREE") != _tree(work, "INDEX") != _tree(work, "HEAD")
    assert work.state() == before


def test_a_split_index_and_a_file_monitor(work: Any) -> None:
    """Neither a shared index file is written nor a monitor started."""
    work.git("config", "core.splitIndex", "true")
    work.git("update-index", "--split-index")
    monitor = work.write("monitor", '#!/bin/sh\ntouch "$PWD/ran"\n')
    monitor.chmod(0o755)
    work.git("config", "core.fsmonitor", str(monitor))
    (work.path / "ran").unlink(missing_ok=True)
    before = sorted(path.name for path in (work.path / ".git").iterdir())
    for name in ("prompts/a.md", "agent/main.py", "readme"):
        work.write(name, "edited\n")
    with open_tree(work.locate(), Subject.parse("WORKTREE"), paths=[":(top)"]) as view:
        assert view.read_text("prompts/a.md") == "edited\n"
    assert not (work.path / "ran").exists()
    assert sorted(path.name for path in (work.path / ".git").iterdir()) == before


def test_only_the_named_paths_are_read_from_disk(work: Any) -> None:
    """Everything else stays as it is in the index."""
    work.write("prompts/a.md", "edited\n")
    work.write("readme", "edited\n")
    with open_tree(
        work.locate(), Subject.parse("WORKTREE"), paths=[":(top,glob)prompts/**"]
    ) as view:
        assert view.read_text("prompts/a.md") == "edited\n"
        assert view.read_text("readme") == "x\n"
    with open_tree(work.locate(), Subject.parse("WORKTREE"), paths=[]) as view:
        assert view.tree == work.oid("HEAD^{tree}")


def test_paths_that_match_nothing_are_no_error_here(work: Any) -> None:
    """Whether a glob must match is for the fingerprint to say."""
    assert _tree(work, "WORKTREE", ":(top,glob)promts/**") == work.oid("HEAD^{tree}")


def test_same_size_edit_in_the_same_instant(work: Any) -> None:
    """A copy of the index must keep its age, or git believes a stale entry."""
    work.git("config", "core.trustctime", "false")
    path = work.write("racy", "aaaa")
    stamp = (work.path / ".git/index").stat().st_mtime - 100
    os.utime(path, (stamp, stamp))
    work.git("add", "racy")
    os.utime(work.path / ".git/index", (stamp, stamp))
    path.write_text("bbbb")
    os.utime(path, (stamp, stamp))
    with open_tree(work.locate(), Subject.parse("WORKTREE"), paths=[":(top)"]) as view:
        assert view.read_text("racy") == "bbbb"


def test_a_file_where_an_unseen_directory_was(work: Any) -> None:
    """The pathspec matches the new file but not what it replaces."""
    work.commit({"x.md/inner": "x"})
    (work.path / "x.md/inner").unlink()
    (work.path / "x.md").rmdir()
    work.write("x.md", "a file now\n")
    entries = work.entries("WORKTREE", ["*.md"])
    assert [entry.path for entry in entries] == ["x.md"]


def test_autocrlf(work: Any) -> None:
    """Line ends are those git stores, not those on disk."""
    work.git("config", "core.autocrlf", "true")
    work.git("config", "core.safecrlf", "true")
    work.write("prompts/a.md", "be brief\r\n")
    work.write("prompts/new.md", "new\r\n")
    work.write("prompts/unix.md", "new\n")
    with open_tree(work.locate(), Subject.parse("WORKTREE"), paths=[":(top)"]) as view:
        assert view.read_text("prompts/a.md") == "be brief\n"
        assert view.read_text("prompts/new.md") == "new\n"


def test_ident_filters_and_encodings(work: Any) -> None:
    """What a clean filter makes of a file is its content."""
    work.git("config", "filter.upper.clean", "tr a-z A-Z")
    attributes = "*.id ident\n*.up filter=upper\n*.utf working-tree-encoding=UTF-16LE\n"
    work.write(".gitattributes", attributes)
    work.write("a.id", "$Id: 1234 $\n")
    work.write("a.up", "quiet\n")
    work.write("a.utf", "wide\n".encode("utf-16-le"))
    with open_tree(work.locate(), Subject.parse("WORKTREE"), paths=[":(top)"]) as view:
        assert view.read_text("a.id") == "$Id$\n"
        assert view.read_text("a.up") == "QUIET\n"
        assert view.read_text("a.utf") == "wide\n"
    assert _tree(work, "WORKTREE") == _committed(work)


def test_file_mode_false(work: Any) -> None:
    """Where the disk can not be trusted with modes the index is."""
    work.git("config", "core.fileMode", "false")
    (work.path / "agent/main.py").chmod(0o755)
    work.write("prompts/a.md", "edited\n").chmod(0o755)
    modes = {entry.path: entry.mode for entry in work.entries("WORKTREE")}
    assert set(modes.values()) == {"100644"}


def test_symlinks_false(work: Any) -> None:
    """A checkout that writes links as text files keeps their mode."""
    (work.path / "link").symlink_to("readme")
    work.commit()
    work.git("config", "core.symlinks", "false")
    (work.path / "link").unlink()
    work.write("link", "prompts")
    (entry,) = work.entries("WORKTREE", ["link"])
    assert entry.mode == "120000"


def test_links_are_never_followed(work: Any, tmp_path: Path) -> None:
    """Neither a file nor a directory outside gets in."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_text("secret")
    (work.path / "prompts/dir").symlink_to(outside)
    (work.path / "prompts/file").symlink_to("/etc/passwd")
    entries = work.entries("WORKTREE", ["prompts/**"])
    assert {entry.path: entry.mode for entry in entries} == {
        "prompts/a.md": "100644",
        "prompts/dir": "120000",
        "prompts/file": "120000",
    }


def test_assume_unchanged_hides_nothing(work: Any) -> None:
    """The mark is a promise to git, not a fact about the disk."""
    work.git("update-index", "--assume-unchanged", "prompts/a.md")
    work.write("prompts/a.md", "hidden edit\n")
    with open_tree(work.locate(), Subject.parse("WORKTREE"), paths=[":(top)"]) as view:
        assert view.read_text("prompts/a.md") == "hidden edit\n"


def test_skip_worktree(work: Any) -> None:
    """Not on disk is not a deletion; an edit on disk is an edit."""
    work.git("update-index", "--skip-worktree", "prompts/a.md", "readme")
    (work.path / "prompts/a.md").unlink()
    work.write("readme", "hidden edit\n")
    with open_tree(work.locate(), Subject.parse("WORKTREE"), paths=[":(top)"]) as view:
        assert view.read_text("prompts/a.md") == "be brief\n"
        assert view.read_text("readme") == "hidden edit\n"


@pytest.mark.parametrize("sparse_index", ["--sparse-index", "--no-sparse-index"])
def test_a_sparse_checkout(work: Any, sparse_index: str) -> None:
    """Directories that are not checked out are there all the same."""
    work.commit({"b/c/x": "x", "b/y": "y"})
    head = work.oid("HEAD^{tree}")
    work.git("sparse-checkout", "set", "--cone", sparse_index, "prompts")
    assert not (work.path / "b").exists()
    assert _tree(work, "INDEX") == _tree(work, "WORKTREE") == head
    assert _tree(work, "WORKTREE", ":(top,glob)b/**") == head
    work.write("prompts/a.md", "edited\n")
    work.write("b/y", "came back\n")
    before = work.state()
    with open_tree(work.locate(), Subject.parse("WORKTREE"), paths=[":(top)"]) as view:
        assert view.read_text("prompts/a.md") == "edited\n"
        assert view.read_text("b/y") == "came back\n"
        assert view.read_text("b/c/x") == "x"
    assert work.state() == before


def test_intent_to_add(work: Any) -> None:
    """``git add -N`` stages nothing; the work tree has the file."""
    work.write("later", "content\n")
    work.git("add", "-N", "later")
    assert work.entries("INDEX", ["later"]) == ()
    with open_tree(work.locate(), Subject.parse("WORKTREE"), paths=[":(top)"]) as view:
        assert view.read_text("later") == "content\n"


def test_an_unfinished_merge_names_its_files(work: Any) -> None:
    """Neither half of a conflict can be judged."""
    work.git("checkout", "-q", "-b", "side")
    work.commit({"prompts/a.md": "theirs\n"})
    work.git("checkout", "-q", "main")
    work.commit({"prompts/a.md": "ours\n"})
    work.git("merge", "-q", "side", ok=(1,))
    for subject in ("INDEX", "WORKTREE"):
        with pytest.raises(UsageError, match=r"not finished: prompts/a\.md"):
            _tree(work, subject)


@pytest.mark.parametrize("subject", ["INDEX", "WORKTREE"])
def test_before_the_first_commit(make_work: Any, subject: str) -> None:
    """A new repository has an index or none, and a work tree."""
    work = make_work()
    assert _tree(work, subject) == work.locate().empty_tree()
    work.write("a", "a")
    if subject == "INDEX":
        work.git("add", "a")
    with open_tree(work.locate(), Subject.parse(subject), paths=[":(top)"]) as view:
        assert view.read_text("a") == "a"


def test_a_nested_repository_is_not_ours(work: Any, make_work: Any) -> None:
    """Its files do not match; it is no error."""
    make_work("work/nested").commit({"prompts/x.md": "x"})
    assert work.entries("WORKTREE", ["nested/**"]) == ()


HOOK = """#!{python}
import os, sys
from pathlib import Path
from evalgate.repo.git import Git
from evalgate.repo.subject import Subject
from evalgate.repo.treeview import open_tree
git = Git.locate(Path.cwd())
with open_tree(git, Subject.parse("INDEX")) as view:
    Path({out!r}).write_text(view.read_text("prompts/a.md") + view.read_text("readme"))
"""


@pytest.mark.parametrize(
    ("options", "seen"),
    [
        (["-a"], "edited\nedited\n"),
        (["--", "readme"], "be brief\nedited\n"),
        (["--allow-empty"], "be brief\nx\n"),
    ],
)
def test_the_index_of_a_hook(work: Any, tmp_path: Path, options: list[str], seen: str) -> None:
    """``commit -a`` and ``commit FILE`` run hooks with an index of their own."""
    out = tmp_path / "out"
    hook = work.write(".git/hooks/pre-commit", HOOK.format(python=sys.executable, out=str(out)))
    hook.chmod(0o755)
    work.write("prompts/a.md", "edited\n")
    work.write("readme", "edited\n")
    subprocess.run(["git", "commit", "-q", "-m", "m", *options], cwd=work.path, check=True)
    assert out.read_text() == seen


def test_the_hooks_index_is_not_the_work_trees(work: Any, tmp_path: Path) -> None:
    """WORKTREE builds on the repository's own index."""
    empty = tmp_path / "index"
    assert _tree(work, "INDEX", GIT_INDEX_FILE=str(empty)) == work.locate().empty_tree()
    assert _tree(work, "WORKTREE", GIT_INDEX_FILE=str(empty)) == work.oid("HEAD^{tree}")
