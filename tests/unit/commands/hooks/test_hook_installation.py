"""Installing the pre-push hook into real repositories, and taking it away again."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from evalgate.commands.hooks.hook_installation import install, uninstall
from evalgate.errors import UsageError
from evalgate.repo.hook_script import projects_in

NOT_YET = "no push is judged before there is a configuration (evalgate init writes one)"


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
    assert install(repo) == f"installed {hook}: {NOT_YET}"
    assert os.access(hook, os.X_OK)
    assert f"'{sys.executable}'" in hook.read_text()
    assert projects_in(hook.read_text()) == {".": "judge '.' || status=$?"}
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
    assert install(repo) == f"already installed: {hook}: {NOT_YET}"
    hook.write_text(fresh.replace("untouched", "an old word"))
    assert install(repo).startswith(f"renewed {hook}")
    assert hook.read_text() == fresh
    hook.chmod(0o644)  # git would not run it
    assert install(repo).startswith(f"renewed {hook}")
    assert os.access(hook, os.X_OK)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("", "a recorded regression is blocked, and an edit that nobody measured is let through"),
        ('[hook]\non_stale = "block"\n', "an edit that nobody measured is blocked as well"),
        ("[polcy]\n", "no push is judged before this is mended: evalgate.toml:8: "),
    ],
)
def test_what_will_happen_is_said(make_repo: Callable[[], Path], more: str, said: str) -> None:
    """By the configuration that stands there, also where it is wrong."""
    repo = make_repo()
    config = """[harness.parts]
prompt = ["p"]
[models.main]
id = "m"
upstream = "scripted:plan.toml"
[agent]
command = ["true"]
"""
    (repo / "evalgate.toml").write_text(config + more)
    assert said in install(repo)
    if "polcy" not in more:
        assert "untouched" in projects_in((repo / ".git/hooks/pre-push").read_text())["."]


@pytest.mark.parametrize("content", [b"#!/bin/sh\nexit 0\n", b"", b"#!/bin/sh\n\xff\n"])
def test_a_hook_of_somebody_else_is_left_alone(
    make_repo: Callable[[], Path], content: bytes
) -> None:
    """It is neither overwritten nor removed; the hint is the line to add, and --chain."""
    repo = make_repo()
    hook = repo / ".git" / "hooks" / "pre-push"
    hook.parent.mkdir(exist_ok=True)
    hook.write_bytes(content)
    with pytest.raises(UsageError, match="exists already and is not evalgate's") as caught:
        install(repo)
    assert 'evalgate hook run "$@"' in caught.value.hint
    assert "--chain" in caught.value.hint
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


def test_outside_a_repository_there_is_no_hook(tmp_path: Path) -> None:
    """The error is one a person can mend."""
    with pytest.raises(UsageError):
        install(tmp_path)


@pytest.mark.parametrize("kind", ["file", "link", "broken link"])
def test_a_hook_of_somebody_else_is_chained_on_request(
    make_repo: Callable[[], Path], kind: str
) -> None:
    """It is kept beside ours, and comes back when ours goes."""
    repo = make_repo()
    hook = repo / ".git/hooks/pre-push"
    hook.parent.mkdir(exist_ok=True)
    if kind == "file":
        hook.write_text("#!/bin/sh\n")
    else:
        hook.symlink_to("../../theirs")
    if kind == "link":
        (repo / "theirs").write_text("#!/bin/sh\n")
    said = "" if kind == "broken link" else "; pre-push.evalgate-previous runs first"
    assert install(repo, chain=True) == f"installed {hook}{said}: {NOT_YET}"
    assert not hook.is_symlink()
    install(repo)
    install(repo, chain=True)
    assert uninstall(repo) == f"removed {hook}; the hook that was there before is back"
    assert hook.is_symlink() is (kind != "file")
    assert not os.path.lexists(hook.with_name("pre-push.evalgate-previous"))


def test_nothing_that_was_kept_is_written_over(make_repo: Callable[[], Path]) -> None:
    """A second hook of somebody else finds the place of the first one taken."""
    repo = make_repo()
    hook = repo / ".git/hooks/pre-push"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\n# one\n")
    install(repo, chain=True)
    hook.write_text("#!/bin/sh\n# two\n")
    with pytest.raises(UsageError) as caught:
        install(repo, chain=True)
    assert "is in the way" in caught.value.hint
    assert hook.with_name("pre-push.evalgate-previous").read_text() == "#!/bin/sh\n# one\n"


def test_projects_of_one_repository_share_the_hook(make_repo: Callable[[], Path]) -> None:
    """Each is judged; uninstalling one leaves the other."""
    repo = make_repo()
    for name in ("one", "two 2"):
        (repo / name).mkdir()
        (repo / name / "evalgate.toml").write_text("")
        install(repo / name)
    hook = repo / ".git/hooks/pre-push"
    assert list(projects_in(hook.read_text())) == ["one", "two 2"]
    assert uninstall(repo) == "no evalgate hook is installed"
    assert uninstall(repo / "one") == f"removed one from {hook}"
    assert list(projects_in(hook.read_text())) == ["two 2"]
    assert uninstall(repo / "two 2") == f"removed {hook}"


@pytest.mark.parametrize(
    ("file", "said"),
    [
        (".husky", 'evalgate hook run "$@"'),
        ("lefthook.yml", "use_stdin: true"),
        (".lefthook.toml", "use_stdin: true"),
        ("prek.toml", "prek install -t pre-push"),
        (".pre-commit-config.yaml", "pre-commit install -t pre-push"),
    ],
)
def test_a_manager_of_hooks_is_respected(
    make_repo: Callable[[], Path], file: str, said: str
) -> None:
    """Nothing is written; the hint is what to add to its file, or how to write all the same."""
    repo = make_repo()
    (repo / file).mkdir() if file == ".husky" else (repo / file).write_text("")
    with pytest.raises(UsageError) as caught:
        install(repo)
    assert said in caught.value.hint
    assert not (repo / ".git/hooks/pre-push").exists()
    assert "installed" in install(repo, chain=True)


def test_hooks_of_all_repositories_and_committed_ones_are_not_written(
    make_repo: Callable[[], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """This machine's paths are no use to others; the hint is the line."""
    repo = make_repo()
    (repo / "hooks").mkdir()
    (repo / "hooks/commit-msg").write_text("")
    git(repo, "add", "-A")
    git(repo, "config", "core.hooksPath", "hooks")
    with pytest.raises(UsageError, match="is committed") as caught:
        install(repo, chain=True)
    assert 'evalgate hook run "$@"' in caught.value.hint
    git(repo, "config", "--unset", "core.hooksPath")
    (tmp_path / "config").write_text(f'[core]\nhooksPath = "{tmp_path}/all"\n')
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "config"))
    with pytest.raises(UsageError, match="for every repository") as caught:
        install(repo, chain=True)
    assert f"{tmp_path}/all/pre-push" in caught.value.hint
    assert not (tmp_path / "all").exists()
