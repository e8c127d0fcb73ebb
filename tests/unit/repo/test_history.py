"""History through GitPython, and commits that depend on nothing of the machine."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from evalgate.errors import NotAvailableError, UsageError
from evalgate.repo.git import Git
from evalgate.repo.history import (
    changes_between,
    commit_all,
    first_parent_changes,
    first_parents,
    subject_line,
    tags_within,
)
from evalgate.repo.pathspecs import to_pathspecs

PROMPTS = to_pathspecs(["prompts/**"])
DATE = "2024-01-02T03:04:05+00:00"


def test_tags_name_commits(work: Any) -> None:
    """The newest first, annotated ones too; what is no commit, or lies on no way here, is none."""
    first = work.oid("HEAD")
    work.git("tag", "v1.9")
    work.git("tag", "-a", "-m", "m", "v1.10")
    work.git("tag", "blob", work.oid("HEAD:readme"))
    work.git("checkout", "-q", "-b", "side")
    work.commit({"readme": "other\n"})
    work.git("tag", "aside/é")
    assert tags_within(work.locate(), "main") == {"v1.10": first, "v1.9": first}
    assert tags_within(work.locate(), "HEAD")["aside/é"] == work.oid("HEAD")


def test_changes_along_first_parents(work: Any) -> None:
    """A merge counts once; what its branch did in between does not."""
    first = work.oid("HEAD")
    work.commit({"readme": "other\n"})
    work.git("checkout", "-q", "-b", "side")
    work.commit({"prompts/a.md": "1\n"})
    work.commit({"prompts/a.md": "2\n"})
    work.git("checkout", "-q", "main")
    work.commit({"readme": "again\n"})
    work.git("merge", "-q", "--no-ff", "-m", "m", "side")
    merge = work.oid("HEAD")
    git = work.locate()
    assert first_parent_changes(git, "HEAD", PROMPTS, 50) == (merge, first)
    assert first_parent_changes(git, "HEAD", PROMPTS, 1) == (merge,)
    assert len(first_parents(git, "HEAD", 50)) == 4
    assert len(first_parents(git, "HEAD", 2)) == 2


def test_the_commits_of_a_change(work: Any) -> None:
    """Those of a merged branch too, also where the merge dropped what they did."""
    base = work.oid("HEAD")
    work.git("checkout", "-q", "-b", "side")
    one = work.commit({"prompts/a.md": "1\n"}, "Say less\n\nAnd more.")
    work.git("checkout", "-q", "main")
    work.commit({"readme": "again\n"})
    work.git("merge", "-q", "--no-ff", "-s", "ours", "-m", "m", "side")
    two = work.commit({"prompts/a.md": "2\n"})
    git = work.locate()
    assert {one, two} <= set(changes_between(git, base, "HEAD", PROMPTS))
    assert changes_between(git, two, "HEAD", PROMPTS) == ()
    assert subject_line(git, one) == "Say less"


def test_the_edge_of_a_shallow_clone_is_no_change(work: Any, clone: Any) -> None:
    """Its oldest commit looks as if it had added every file."""
    work.commit({"readme": "other\n"})
    changed = work.commit({"prompts/a.md": "1\n"})
    git = clone(work, "--depth=2").locate()
    assert first_parent_changes(git, "HEAD", PROMPTS, 50) == (changed,)


def test_errors_have_words(work: Any) -> None:
    """Git's own reason, no traceback of GitPython."""
    with pytest.raises(UsageError, match="no such commit"):
        first_parents(work.locate(), "nosuch", 1)
    with pytest.raises(UsageError, match="pathspec magic"):
        first_parent_changes(work.locate(), "HEAD", [":(nosuch)x"], 5)


def test_committing_a_demo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make_work: Any) -> None:
    """The user's configuration, hooks, signing and variables make no difference."""
    ids = []
    for name in ("one", "two"):
        path = tmp_path / name
        (path / "d").mkdir(parents=True)
        (path / "d/x").write_bytes(b"x\r\n")
        first = commit_all(path, "First", date=DATE)
        (path / "y").write_text("y")
        ids.append((first, commit_all(path, "Second", date=DATE)))
        if name == "one":
            config = tmp_path / "config"
            config.write_text(
                "[user]\nname = Sneaky\n[commit]\ngpgSign = true\n[core]\nautocrlf = true\n"
                "excludesFile = /etc/passwd\n[init]\ndefaultBranch = trunk\n"
            )
            other = make_work("other")
            monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
            monkeypatch.setenv("GIT_DIR", f"{other.path}/.git")
            monkeypatch.setenv("GIT_WORK_TREE", str(other.path))
            monkeypatch.setenv("GIT_INDEX_FILE", "/nonexistent/index")
            monkeypatch.setenv("GIT_AUTHOR_NAME", "Sneaky")
            monkeypatch.setenv("GIT_AUTHOR_DATE", "garbage")
    assert ids[0] == ids[1]
    git = Git.locate(tmp_path / "two", environ={"PATH": os.environ["PATH"]})
    log = git.run("log", "--format=%an <%ae>|%cn <%ce>|%aI|%s|%D").decode().splitlines()
    who = "evalgate demo <demo@example.invalid>"
    assert log[0] == f"{who}|{who}|2024-01-02T03:04:05+00:00|Second|HEAD -> main"
    assert git.run("cat-file", "blob", "HEAD:d/x") == b"x\r\n"
    assert not (tmp_path / "other/.git/index").exists()


def test_without_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Importing GitPython would fail; the message is ours."""
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NotAvailableError):
        commit_all(tmp_path, "m", date=DATE)
