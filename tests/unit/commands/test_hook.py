"""Installing the pre-push hook into real repositories, and taking it away again."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from evalgate.commands.hook import install, run_hook, uninstall
from evalgate.errors import ExitCode, UsageError


@pytest.fixture(autouse=True)
def _isolated(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the machine's git configuration and an outer hook's variables out."""
    for name in list(os.environ):
        if name.startswith("GIT_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


def git(repo: Path, *args: str) -> str:
    """Run git as a person would."""
    done = subprocess.run(["git", *args], cwd=repo, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture
def make_repo(tmp_path: Path) -> Callable[[str], Path]:
    """Make empty repositories."""

    def make(name: str = "work") -> Path:
        repo = tmp_path / name
        repo.mkdir()
        git(repo, "init", "-q", ".")
        return repo

    return make


@pytest.mark.parametrize("name", ["work", "a path with spaces", "quote's"])
def test_the_hook_is_installed_and_removed(make_repo: Callable[[str], Path], name: str) -> None:
    """It is a script git runs, with this very interpreter; removed, nothing is left."""
    repo = make_repo(name)
    hook = repo / ".git" / "hooks" / "pre-push"
    assert install(repo) == f"installed {hook}"
    assert os.access(hook, os.X_OK)
    assert f"'{sys.executable}'" in hook.read_text()
    assert 'exec "$python" -P -m evalgate hook run --project \'.\' "$@"' in hook.read_text()
    assert subprocess.run(["sh", "-n", hook]).returncode == 0
    assert uninstall(repo) == f"removed {hook}"
    assert not hook.exists()
    assert uninstall(repo) == "no evalgate hook is installed"


def test_installing_twice_is_installing_once(make_repo: Callable[[], Path]) -> None:
    """Our own hook is written anew, as an upgrade needs it."""
    repo = make_repo()
    install(repo)
    hook = repo / ".git" / "hooks" / "pre-push"
    fresh = hook.read_text()
    hook.write_text(fresh.replace("gone", "old"))
    install(repo)
    assert hook.read_text() == fresh


@pytest.mark.parametrize("content", [b"#!/bin/sh\nexit 0\n", b"", b"#!/bin/sh\n\xff\n"])
def test_a_hook_of_somebody_else_is_left_alone(
    make_repo: Callable[[], Path], content: bytes
) -> None:
    """It is neither overwritten nor removed; the hint is the line to add."""
    repo = make_repo()
    hook = repo / ".git" / "hooks" / "pre-push"
    hook.parent.mkdir(exist_ok=True)
    hook.write_bytes(content)
    with pytest.raises(UsageError, match="exists already and is not evalgate's") as caught:
        install(repo)
    assert '-P -m evalgate hook run "$@"' in caught.value.hint
    assert uninstall(repo) == "no evalgate hook is installed"
    assert hook.read_bytes() == content


@pytest.mark.parametrize("relative", [True, False])
def test_the_hook_goes_where_git_looks(
    make_repo: Callable[[], Path], tmp_path: Path, relative: bool
) -> None:
    """core.hooksPath is honoured, made if need be, also from a directory below."""
    repo = make_repo()
    folder = repo / "my hooks" if relative else tmp_path / "elsewhere"
    git(repo, "config", "core.hooksPath", "my hooks" if relative else str(folder))
    below = repo / "below"
    below.mkdir()
    install(below)
    assert stat.S_IMODE((folder / "pre-push").stat().st_mode) & stat.S_IXUSR
    assert not (repo / ".git" / "hooks" / "pre-push").exists()
    uninstall(below)
    assert not (folder / "pre-push").exists()


def test_a_hook_whose_interpreter_is_gone_lets_the_push_through(
    make_repo: Callable[[], Path],
) -> None:
    """A removed virtual environment is said and stops nobody."""
    repo = make_repo()
    install(repo)
    hook = repo / ".git" / "hooks" / "pre-push"
    hook.write_text(hook.read_text().replace(sys.executable, "/nosuch/python"))
    done = subprocess.run([hook], cwd=repo, capture_output=True, text=True)
    assert done.returncode == 0
    assert "/nosuch/python is gone: this push is not judged" in done.stderr


def test_outside_a_repository_there_is_no_hook(tmp_path: Path) -> None:
    """The error is one a person can mend."""
    with pytest.raises(UsageError):
        install(tmp_path)


def test_a_push_of_nothing_is_nothing(make_repo: Callable[[], Path]) -> None:
    """No ref on standard input, nothing to judge."""
    repo = make_repo()
    (repo / "evalgate.toml").write_text("")
    assert run_hook(repo, "origin", "") is ExitCode.OK
