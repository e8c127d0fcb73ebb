"""The hook under real managers of hooks, with a real `git push` to a real bare repository."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.conftest import copied

BIN = Path(sys.executable).parent
MANIFEST = Path(__file__).parents[2] / ".pre-commit-hooks.yaml"


@pytest.fixture
def pushed(regressing, tmp_path):
    """A recorded repository, its commands on PATH, and a bare remote that has its main."""
    recorded = copied(regressing, tmp_path)
    recorded.environment |= {
        "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
        "PRE_COMMIT_HOME": str(tmp_path / "pre-commit"),
        "PREK_HOME": str(tmp_path / "prek"),
        "HOME": str(tmp_path),
    }
    remote = tmp_path / "remote.git"
    recorded.git("init", "-q", "--bare", str(remote))
    recorded.git("remote", "add", "origin", str(remote))
    recorded.git("push", "-q", "origin", "main")
    return recorded


def call(repo, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        words,
        cwd=repo.path,
        env=repo.environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )


def manifest(repo, tmp_path: Path, _) -> str:
    """Use the manifest of this project, whose program is the one that is installed."""
    ours = tmp_path / "ours"
    ours.mkdir()
    shutil.copy(MANIFEST, ours)
    repo.git("init", "-q", cwd=ours)
    repo.git("add", "-A", cwd=ours)
    repo.git("commit", "-qm", "manifest", cwd=ours)
    rev = repo.git("rev-parse", "HEAD", cwd=ours)
    hook = "      - id: evalgate\n        language: system\n"
    text = f"repos:\n  - repo: {ours}\n    rev: {rev}\n    hooks:\n{hook}"
    repo.write(".pre-commit-config.yaml", text)
    return "pre-commit install -t pre-push"


def without_lines(repo, *_: object) -> str:
    """Configure lefthook so that it hands nothing on."""
    repo.write("lefthook.yml", "pre-push:\n  commands:\n    e:\n      run: evalgate hook run\n")
    return "lefthook install"


def printed(file: str, above: str = "") -> Callable[..., str]:
    """Add to a manager's file what ``hook install`` prints, word for word."""

    def add(repo, _: Path, evalgate) -> str:
        repo.write(file, "")
        said = evalgate("hook", "install", cwd=repo.path).stderr
        lines = said.partition("add to it:\n")[2].partition("\nor: evalgate")[0].splitlines()
        repo.write(file, above + "\n".join(lines[:-1]) + "\n")
        return lines[-1].removeprefix("# and once: ")

    return add


MANAGERS = {
    "pre-commit, our manifest": manifest,
    "pre-commit": printed(".pre-commit-config.yaml", "repos:\n"),
    "prek": printed("prek.toml"),
    "lefthook": printed("lefthook.yml"),
    "lefthook, no lines": without_lines,
}


@pytest.mark.parametrize("name", MANAGERS)
def test_a_push_is_judged(pushed, evalgate, tmp_path, name):
    """Words go through, a recorded regression is blocked, on a known branch and on a new one."""
    install = MANAGERS[name](pushed, tmp_path, evalgate)
    pushed.commit("managed")
    done = call(pushed, *install.split())
    assert done.returncode == 0, done.stdout + done.stderr
    done = call(pushed, "git", "push", "origin", "main")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "regression" not in done.stdout + done.stderr
    pushed.git("branch", "--set-upstream-to=origin/main")
    pushed.git("cherry-pick", "wrong")
    for ref in ("main", "main:refs/heads/new"):
        done = call(pushed, "git", "push", "origin", ref)
        assert done.returncode != 0, done.stdout + done.stderr
        assert "evalgate: regression: Merging this" in done.stdout + done.stderr


def test_nobody_tells_anything(pushed):
    """By hand, HEAD is held against its upstream; without one, against what remotes have."""
    pushed.git("cherry-pick", "wrong")
    assert call(pushed, "evalgate", "hook", "run").returncode == 1
    pushed.git("branch", "--set-upstream-to=origin/main")
    assert call(pushed, "evalgate", "-q", "hook", "run").returncode == 1
    pushed.git("reset", "-q", "--hard", "origin/main")
    assert call(pushed, "evalgate", "hook", "run").returncode == 0


def test_the_manifest_is_one(tmp_path):
    """pre-commit itself says so."""
    words = [str(BIN / "pre-commit"), "validate-manifest", str(MANIFEST)]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
