"""Finding a repository under every environment a hook can make, and naming commits."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from evalgate.errors import NotAvailableError, UsageError
from evalgate.repo.git import Git
from evalgate.repo.subject import Subject
from evalgate.repo.treeview import open_tree


def test_a_subdirectory_finds_the_top(work: Any) -> None:
    """The current directory does not change what is seen."""
    git = Git.locate(work.path / "prompts")
    assert git.top == work.path
    assert git.resolve("HEAD") == work.oid("HEAD")


def test_git_dir_of_a_hook_and_a_subdirectory(work: Any) -> None:
    """GIT_DIR alone makes git take the current directory for the top; we do not."""
    git = Git.locate(work.path / "prompts", environ={**os.environ, "GIT_DIR": f"{work.path}/.git"})
    assert git.top == work.path


def test_relative_git_dir_is_read_from_the_current_directory(
    work: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Hooks set GIT_DIR=.git."""
    monkeypatch.chdir(work.path)
    git = Git.locate(work.path / "prompts", environ={**os.environ, "GIT_DIR": ".git"})
    assert (git.top, git.git_dir) == (work.path, work.path / ".git")


def test_git_dir_and_work_tree_far_from_each_other(work: Any, tmp_path: Path) -> None:
    """``git --git-dir X --work-tree Y push`` sets both, and the cwd is neither."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    git = Git.locate(
        elsewhere,
        environ={**os.environ, "GIT_DIR": f"{work.path}/.git", "GIT_WORK_TREE": str(work.path)},
    )
    assert git.top == work.path
    assert git.resolve("HEAD") == work.oid("HEAD")


def test_later_calls_ignore_the_environment(
    work: Any, make_work: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Variables that aim git elsewhere are heard once, at the start."""
    git = work.locate()
    other = make_work("other")
    other.commit({"b": "b"})
    monkeypatch.setenv("GIT_DIR", f"{other.path}/.git")
    monkeypatch.setenv("GIT_LITERAL_PATHSPECS", "1")
    assert git.resolve("HEAD") == Git.locate(
        work.path, environ={"PATH": os.environ["PATH"]}
    ).resolve("HEAD")
    with open_tree(git, Subject.parse("HEAD")) as view:
        assert [e.path for e in view.entries(["prompts/**"])] == ["prompts/a.md"]


def test_the_stray_variables_are_dropped(work: Any) -> None:
    """A scrubbed environment holds no index, prefix or pathspec setting."""
    git = work.locate(GIT_INDEX_FILE="x", GIT_PREFIX="p/", GIT_GLOB_PATHSPECS="1", GIT_TRACE="1")
    left = {name for name in git.environment if name.startswith("GIT_")}
    assert left == {
        "GIT_CONFIG_GLOBAL",
        "GIT_CONFIG_NOSYSTEM",
        "GIT_OPTIONAL_LOCKS",
        "GIT_TERMINAL_PROMPT",
    }


def test_a_linked_worktree(work: Any, tmp_path: Path) -> None:
    """Its index is its own, its objects are shared."""
    work.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "linked"))
    git = Git.locate(tmp_path / "linked")
    assert git.top == tmp_path / "linked"
    assert git.common_dir == work.path / ".git"
    assert git.index_file == work.path / ".git/worktrees/linked/index"
    (tmp_path / "linked/prompts/a.md").write_text("changed\n")
    with open_tree(git, Subject.parse("WORKTREE"), paths=[":(top)"]) as view:
        assert view.read_text("prompts/a.md") == "changed\n"


def test_a_path_with_a_newline(make_work: Any) -> None:
    """The answers of rev-parse are lines, and a directory may hold one."""
    work = make_work("new\nline")
    oid = work.commit({"a": "a"})
    git = work.locate()
    assert git.top == work.path
    assert git.resolve("HEAD") == oid


def test_outside_a_repository(tmp_path: Path) -> None:
    """The message says so and what to do."""
    with pytest.raises(UsageError, match="not a git repository") as caught:
        Git.locate(tmp_path)
    assert "git init" in caught.value.hint


def test_a_directory_that_is_not_there(tmp_path: Path) -> None:
    """A wrong -C is not a missing git."""
    with pytest.raises(UsageError, match="no such directory"):
        Git.locate(tmp_path / "none")


def test_git_is_not_installed(work: Any, tmp_path: Path) -> None:
    """Without the program nothing can be said: exit code 9."""
    with pytest.raises(NotAvailableError, match="git was not found"):
        Git.locate(work.path, environ={"PATH": str(tmp_path)})


def test_a_bare_repository_is_refused(make_work: Any) -> None:
    """There is nothing to judge without files."""
    with pytest.raises(UsageError, match="no work tree"):
        make_work("bare", "--bare").locate()


def test_dubious_ownership_names_the_remedy(work: Any) -> None:
    """The exact command is printed and never run."""
    with pytest.raises(UsageError, match="does not trust") as caught:
        work.locate(GIT_TEST_ASSUME_DIFFERENT_OWNER="1")
    assert f"git config --global --add safe.directory {work.path}" in caught.value.hint


def test_no_commit_yet(make_work: Any) -> None:
    """An unborn HEAD is said to be one."""
    with pytest.raises(UsageError, match="no commit yet"):
        make_work().locate().resolve("HEAD")


def test_a_detached_head(work: Any) -> None:
    """A branch is not needed."""
    work.git("checkout", "-q", "--detach")
    assert work.locate().resolve("HEAD") == work.oid("main")


@pytest.mark.parametrize("rev", ["--all", "-h", "nosuch", "HEAD~9", "a\nb", "HEAD:readme"])
def test_a_revision_is_never_an_option(work: Any, rev: str) -> None:
    """What begins with a dash is just an unknown name."""
    with pytest.raises(UsageError):
        work.locate().resolve(rev)


def test_names_resolve_to_commits(work: Any) -> None:
    """Annotated tags are peeled, short ids are completed."""
    work.git("tag", "-a", "-m", "t", "v1")
    head = work.oid("HEAD")
    git = work.locate()
    assert {git.resolve(name) for name in ("v1", head[:8], "main", "@")} == {head}


def test_replace_refs_are_not_followed(work: Any) -> None:
    """A replaced commit would give this clone another answer than every other one."""
    first = work.oid("HEAD")
    second = work.commit({"prompts/a.md": "other\n"})
    work.git("replace", second, first)
    with open_tree(work.locate(), Subject.parse(second)) as view:
        assert view.read_text("prompts/a.md") == "other\n"


def test_parents_of_a_shallow_merge(work: Any, clone: Any) -> None:
    """The raw commit still lists what the shallow clone hides."""
    first = work.oid("HEAD")
    work.git("checkout", "-q", "-b", "side")
    side = work.commit({"b": "b"})
    work.git("checkout", "-q", "main")
    work.git("merge", "-q", "--no-ff", "-m", "m", "side")
    git = clone(work, "--depth=1").locate()
    assert git.is_shallow()
    assert git.parents("HEAD") == (first, side)
    assert not git.has(first)
    assert git.has(git.resolve("HEAD"))


def test_merge_base(work: Any) -> None:
    """None where histories have nothing in common."""
    first = work.oid("HEAD")
    work.git("checkout", "-q", "-b", "side")
    work.commit({"b": "b"})
    work.git("checkout", "-q", "--orphan", "alone")
    work.commit({"c": "c"})
    git = work.locate()
    assert git.merge_bases("main", "side") == (first,)
    assert git.merge_bases("main", "alone") == ()


def test_the_empty_tree(work: Any) -> None:
    """The constant is what git computes."""
    assert work.locate().empty_tree() == work.git("hash-object", "-t", "tree", "--stdin")


def test_the_hot_path_imports_nothing_heavy() -> None:
    """A hook that has nothing to do must cost no more than git and Python."""
    code = (
        "import sys, evalgate.repo.pushed, evalgate.repo.fingerprint\n"
        "heavy = {'git', 'click', 'aiohttp', 'docker', 'vcr', 'jinja2', 'json', 'asyncio'}\n"
        "sys.exit(', '.join(heavy & set(sys.modules)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
