"""Commits as mining reads them, of real histories."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from evalgate.errors import UsageError
from evalgate.repo.commits import one_commit, read_commits
from evalgate.repo.git import Git


@pytest.fixture
def git(tmp_path: Path, git_environment: dict[str, str]) -> Git:
    """A history with a merge that says something, and one that says nothing."""

    def run(*words: str) -> None:
        subprocess.run(["git", *words], cwd=tmp_path, env=git_environment, check=True)

    def commit(message: str, name: str) -> None:
        (tmp_path / name).write_text(message)
        run("add", "-A")
        run("commit", "-qm", message)

    run("init", "-q", "-b", "main")
    commit("First", "a b.py")
    for branch, said in (("one", "Merge pull request #7 from x/one\n\nTitle of it"), ("two", "")):
        run("switch", "-qc", branch)
        commit("Words alone", f"{branch}.md")
        commit(f"Fix {branch}\n\nWith a body.", f"{branch}.py")
        run("switch", "-q", "main")
        message = ("-m", said) if said else ("--no-edit",)
        run("merge", "-q", "--no-ff", *message, branch)
    (tmp_path / "a b.py").unlink()
    commit("Tail\x01\x02 é", "é.py")
    return Git.locate(tmp_path)


def test_along_first_parents(git: Git) -> None:
    """A merge is one commit: its own words, and those of its fixes if they name none."""
    tail, two, one, first = read_commits(git, "HEAD", most=9)
    assert (tail.changed, tail.deleted) == (("é.py",), ("a b.py",))
    assert two.message == "Fix two\n\nWith a body."
    assert one.message == "Title of it\n\nFix one\n\nWith a body."
    assert tail.message == "Tail é"
    assert (two.changed, one.changed) == (("two.md", "two.py"), ("one.md", "one.py"))
    assert (first.parent, first.changed) == ("", ("a b.py",))
    assert one.parent == first.id


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ("Merge branch 'x' into main", "Fix one\n\nWith a body."),
        ("Merge branch 'x'\n\nConflicts:\n\tfix.py\n\n# Conflicts:\n#\tfix.py\n",
         "Fix one\n\nWith a body."),
        ("Merge pull request #7 from x/fix-it\n\nSigned-off-by: A <a@b.c>",
         "Fix one\n\nWith a body."),
        ("Merge pull request #7 from x/y\n\nResolve rounding", "Resolve rounding"),
        ("Merge remote-tracking branch 'o/x'\n\nOf closes #9", "Of closes #9"),
        ("Fixes of May: closes #9\n\nReviewed-by: A <a@b.c>", "Fixes of May: closes #9"),
        ("Merge fixes, closes #9", "Merge fixes, closes #9"),
        ("Release 1.2", "Release 1.2\n\nFix one\n\nWith a body."),
    ],
)  # fmt: skip
def test_words_of_a_merge(git: Git, message: str, told: str) -> None:
    """What a person wrote of it is read; what git writes and lists is not."""
    parents = ("-p", git.resolve("HEAD~3"), "-p", git.resolve("HEAD~2^2"))
    person = ("-c", "user.name=A", "-c", "user.email=a@b.c")
    made = git.run(*person, "commit-tree", "HEAD~2^{tree}", *parents, "-m", message)
    assert one_commit(git, made.decode().strip()).message == told


def test_ranges(git: Git) -> None:
    """So many at most, of a range or one."""
    assert [one.subject for one in read_commits(git, "HEAD~2..HEAD", most=9)][-1] == "Fix two"
    assert len(list(read_commits(git, "HEAD", most=2))) == 2
    assert one_commit(git, "HEAD~2").subject == "Title of it"


@pytest.mark.parametrize("span", ["", "..", "nosuch", "HEAD..nosuch", "--all", "-1"])
def test_what_is_no_range(git: Git, span: str) -> None:
    """It is refused, and never an option of git's."""
    with pytest.raises(UsageError):
        list(read_commits(git, span, most=1))
