"""The hook under real managers of hooks, with a real `git push` to a real bare repository."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

BIN = Path(sys.executable).parent
MANIFEST = Path(__file__).parents[2] / ".pre-commit-hooks.yaml"


@pytest.fixture
def pushed(recorded, tmp_path):
    """A recorded repository, its commands on PATH, and a bare remote that has its main."""
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


def pre_commit(repo, tmp_path: Path) -> None:
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


def lefthook(repo, _: Path) -> None:
    run = "      run: evalgate hook run {1} {2}\n      use_stdin: true\n"
    repo.write("lefthook.yml", f"pre-push:\n  commands:\n    evalgate:\n{run}")


def lefthook_without_lines(repo, _: Path) -> None:
    repo.write("lefthook.yml", "pre-push:\n  commands:\n    e:\n      run: evalgate hook run\n")


MANAGERS = {
    "pre-commit": (pre_commit, ("pre-commit", "install", "-t", "pre-push")),
    "prek": (pre_commit, ("prek", "install", "-t", "pre-push")),
    "lefthook": (lefthook, ("lefthook", "install")),
    "lefthook, no lines": (lefthook_without_lines, ("lefthook", "install")),
}


@pytest.mark.parametrize("name", MANAGERS)
def test_a_push_is_judged(pushed, scripted, evalgate, tmp_path, name):
    """Words go through, a recorded regression is blocked, on a known branch and on a new one."""
    configure, install = MANAGERS[name]
    configure(pushed, tmp_path)
    pushed.commit("managed")
    done = call(pushed, *install)
    assert done.returncode == 0, done.stdout + done.stderr
    done = call(pushed, "git", "push", "origin", "main")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "regression" not in done.stdout + done.stderr
    pushed.git("branch", "--set-upstream-to=origin/main")
    pushed.write("agent/prompts/rewrite.md", "Be WRONG.\n")
    env = {"SCRIPTED_URL": scripted.url}
    assert evalgate("run", "--record", cwd=pushed.path, env=env).returncode == 0
    pushed.commit("edit")
    for ref in ("main", "main:refs/heads/new"):
        done = call(pushed, "git", "push", "origin", ref)
        assert done.returncode != 0, done.stdout + done.stderr
        assert "evalgate: regression: Merging this" in done.stdout + done.stderr


def test_nobody_tells_anything(pushed, scripted, evalgate):
    """By hand, HEAD is held against its upstream; without one, against what remotes have."""
    pushed.write("agent/prompts/rewrite.md", "Be WRONG.\n")
    env = {"SCRIPTED_URL": scripted.url}
    assert evalgate("run", "--record", cwd=pushed.path, env=env).returncode == 0
    pushed.commit("edit")
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


@pytest.mark.parametrize("name", ["lefthook.yml", ".pre-commit-config.yaml", "prek.toml"])
def test_what_install_prints_works(pushed, scripted, evalgate, name):
    """Added to the manager's file word for word, it blocks a recorded regression."""
    pushed.write(name, "")
    said = evalgate("hook", "install", cwd=pushed.path).stderr
    lines = said.partition("add to it:\n")[2].partition("\nor: evalgate")[0].splitlines()
    *entry, last = lines
    text = "\n".join(entry) + "\n"
    if name == ".pre-commit-config.yaml":
        text = "repos:\n" + text
    pushed.write(name, text)
    pushed.commit("managed")
    done = call(pushed, *last.removeprefix("# and once: ").split())
    assert done.returncode == 0, done.stdout + done.stderr
    pushed.write("agent/prompts/rewrite.md", "Be WRONG.\n")
    env = {"SCRIPTED_URL": scripted.url}
    assert evalgate("run", "--record", cwd=pushed.path, env=env).returncode == 0
    pushed.commit("edit")
    done = call(pushed, "git", "push", "origin", "main")
    assert done.returncode != 0, done.stdout + done.stderr
    assert "evalgate: regression: Merging this" in done.stdout + done.stderr
