"""A repository of one commit that knows nothing of where its files came from."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from evalgate.core.files import File, FileMode
from evalgate.errors import UsageError
from evalgate.repo.snapshot import single_commit_repository
from evalgate.repo.subject import Subject
from evalgate.repo.treeview import open_tree

TREE = {
    "readme": File(data=b"hello\n"),
    "bin/run": File(data=b"#!/bin/sh\n", mode=FileMode.EXECUTABLE),
    "link": File(data=b"bin/run", mode=FileMode.SYMLINK),
    "empty": File(data=b""),
    ".gitattributes": File(
        data=b"* text=auto eol=crlf ident filter=lfs\n*.utf working-tree-encoding=UTF-16\n"
    ),
    "dos.txt": File(data=b"a\r\nb\r\n"),
    "mixed.utf": File(data=b"$Id: kept $\n"),
    ".gitignore": File(data=b"ignored\n"),
    "ignored": File(data=b"tracked all the same\n"),
    'odd/new\nline "q" \\ \udcff': File(data=b"\0\xff"),
}


def _lay_out(top: Path, files: dict[str, File]) -> None:
    for name, file in files.items():
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if file.mode is FileMode.SYMLINK:
            path.symlink_to(os.fsdecode(file.data))
        else:
            path.write_bytes(file.data)
            path.chmod(0o755 if file.mode is FileMode.EXECUTABLE else 0o644)


def _git(top: Path, *args: str) -> str:
    done = subprocess.run(["git", *args], cwd=top, capture_output=True, check=True, text=True)
    return done.stdout


def test_one_commit_and_a_clean_status(tmp_path: Path) -> None:
    """Laid out beside its files it is a repository like any other."""
    _lay_out(tmp_path, {**TREE, **single_commit_repository(TREE)})
    assert _git(tmp_path, "status", "--porcelain", "--ignored") == ""
    log = _git(tmp_path, "log", "--all", "--format=%an <%ae> %ct %D: %B")
    assert log.strip() == "Snapshot <snapshot@example.invalid> 946684800 HEAD -> main: Snapshot"
    _git(tmp_path, "fsck", "--strict")
    assert len([name for name in single_commit_repository(TREE) if "objects" in name]) == 2
    assert _git(tmp_path, "remote") == _git(tmp_path, "reflog") == ""


def test_work_goes_on_in_it(tmp_path: Path) -> None:
    """Diff, commit and checkout behave; only what changed is seen."""
    _lay_out(tmp_path, {**TREE, **single_commit_repository(TREE)})
    (tmp_path / "readme").write_text("changed\n")
    assert _git(tmp_path, "diff", "--name-only") == "readme\n"
    _git(tmp_path, "-c", "user.name=A", "-c", "user.email=a@b.invalid", "commit", "-qam", "mine")
    assert _git(tmp_path, "diff", "--name-only", "HEAD~1").split() == ["readme"]
    (tmp_path / "dos.txt").unlink()
    _git(tmp_path, "checkout", "-f", "HEAD", "--", "dos.txt")
    assert (tmp_path / "dos.txt").read_bytes() == TREE["dos.txt"].data


def test_the_same_bytes_every_time(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Neither the order of files, nor who runs it, nor an outer hook leaves a trace."""
    first = single_commit_repository(TREE)
    config = tmp_path / "config"
    config.write_text(
        "[user]\nname = Sneaky\nemail = sneaky@example.invalid\n[core]\nautocrlf = true\n"
        "hooksPath = /nonexistent\n[init]\ntemplateDir = /nonexistent\ndefaultBranch = trunk\n"
        "[index]\nversion = 4\n[pack]\ncompression = 9\n"
    )
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GIT_DIR", "/nonexistent")
    monkeypatch.setenv("GIT_INDEX_FILE", "/nonexistent")
    monkeypatch.setenv("GIT_OBJECT_DIRECTORY", "/nonexistent")
    monkeypatch.setenv("GIT_COMMITTER_DATE", "1 +0000")
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "index.version")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "4")
    second = single_commit_repository(dict(reversed(TREE.items())))
    assert first == second
    assert not any(b"neaky" in file.data for file in second.values())
    assert not any("sample" in name or "logs" in name for name in second)


def test_the_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    """An equal tree is not built again; another one is."""
    cache: dict[str, dict[str, File]] = {}
    first = single_commit_repository(TREE, cache=cache)
    monkeypatch.setenv("PATH", "/nonexistent")
    assert single_commit_repository(dict(TREE), cache=cache) is first
    monkeypatch.undo()
    assert single_commit_repository({"a": File(data=b"")}, cache=cache) != first
    assert len(cache) == 2


def test_an_empty_tree(tmp_path: Path) -> None:
    """A task may start from nothing."""
    _lay_out(tmp_path, single_commit_repository({}))
    assert _git(tmp_path, "status", "--porcelain") == ""
    assert _git(tmp_path, "log", "--oneline").endswith("Snapshot\n")


def test_many_files(tmp_path: Path) -> None:
    """One pack, whatever the number."""
    tree = {f"d{n % 7}/f{n}": File(data=str(n).encode()) for n in range(300)}
    made = single_commit_repository(tree)
    assert sum(name.endswith(".pack") for name in made) == 1
    _lay_out(tmp_path, {**tree, **made})
    assert _git(tmp_path, "status", "--porcelain") == ""


@pytest.mark.parametrize("path", [".git/config", "../x", "a/.GIT/hooks/x", "/x", ""])
def test_hostile_paths(path: str) -> None:
    """A tree can not write into its own repository."""
    with pytest.raises(UsageError, match="not a path"):
        single_commit_repository({path: File(data=b"x")})


def test_snapshots_are_exact(work: Any) -> None:
    """No filter, no attribute, no export rule: the blobs as they are."""
    work.commit(
        {
            ".gitattributes": "keep export-ignore\nid ident export-subst\n* eol=crlf\n",
            "keep": "k\n",
            "id": "$Id$ $Format:%H$\n",
            "sub/x": "x\n",
        }
    )
    with open_tree(work.locate(), Subject.parse("HEAD")) as view:
        files = view.read_prefix("")
        assert files["keep"] == File(data=b"k\n")
        assert files["id"] == File(data=b"$Id$ $Format:%H$\n")
        assert view.read_prefix("sub") == {"x": File(data=b"x\n")}
        assert view.read_prefix("none") == {}
