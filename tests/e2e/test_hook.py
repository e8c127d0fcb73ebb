"""The pre-push hook with a real `git push` to a real bare repository."""

from __future__ import annotations

import subprocess

import pytest


@pytest.fixture
def pushed(recorded, evalgate, tmp_path):
    """A recorded repository with the hook installed and a bare remote that has its main."""
    remote = tmp_path / "remote.git"
    recorded.git("init", "-q", "--bare", str(remote))
    recorded.git("remote", "add", "origin", str(remote))
    recorded.git("push", "-q", "origin", "main")
    done = evalgate("hook", "install", cwd=recorded.path)
    assert done.returncode == 0, done.stderr
    return recorded


def push(repo, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["git", "push", *(arguments or ("origin", "main"))],
        cwd=repo.path,
        env={**repo.environment, **environment},
        capture_output=True,
        text=True,
    )


def record(repo, scripted, evalgate, prompt: str) -> None:
    repo.write("agent/prompts/rewrite.md", prompt)
    env = {"SCRIPTED_URL": scripted.url}
    assert evalgate("run", "--record", cwd=repo.path, env=env).returncode == 0
    repo.commit(prompt)


def test_a_push_that_touches_no_part_is_silent(pushed):
    """Nothing is said."""
    pushed.write("README.md", "words\n")
    pushed.commit("words")
    done = push(pushed)
    assert done.returncode == 0
    assert "evalgate" not in done.stderr


def test_a_recorded_regression_is_blocked(pushed, scripted, evalgate):
    """The remote does not get it, and one line says why."""
    record(pushed, scripted, evalgate, "Be WRONG.\n")
    done = push(pushed)
    assert done.returncode != 0
    assert "evalgate: regression: Merging this lowers the pass rate: 100 % → 0 %" in done.stderr
    assert pushed.git("rev-parse", "main") != pushed.git("rev-parse", "origin/main")


def test_a_recorded_harmless_edit_goes_through(pushed, scripted, evalgate):
    """One line says so."""
    record(pushed, scripted, evalgate, "Fix it.\n")
    done = push(pushed)
    assert done.returncode == 0
    assert "evalgate: undecided: No detectable change" in done.stderr


def test_an_unmeasured_edit_gets_a_plumbing_replay_and_goes_through(pushed):
    """The plumbing works; this edit is not measured; the command and its cost."""
    pushed.write("agent/prompts/rewrite.md", "Unmeasured.\n")
    pushed.commit("edit")
    done = push(pushed)
    assert done.returncode == 0, done.stderr
    assert "the plumbing works" in done.stderr
    assert "this edit is not measured" in done.stderr
    assert "evalgate run --record" in done.stderr
    assert "estimate: 6 trials" in done.stderr


def test_a_plumbing_test_takes_the_sandbox_that_was_recorded_in(repo, scripted, evalgate, tmp_path):
    """A push is no moment to look for another one, or to build its image."""
    env = {"SCRIPTED_URL": scripted.url}
    command = ("run", "--record", "--sandbox", "process")
    assert evalgate(*command, cwd=repo.path, env=env).returncode == 0
    assert evalgate("baseline", "accept", "-k", "1", cwd=repo.path).returncode == 0
    repo.commit("Recordings and baseline")
    remote = tmp_path / "remote.git"
    repo.git("init", "-q", "--bare", str(remote))
    repo.git("remote", "add", "origin", str(remote))
    repo.git("push", "-q", "origin", "main")
    assert evalgate("hook", "install", cwd=repo.path).returncode == 0
    repo.write("agent/prompts/rewrite.md", "Unmeasured.\n")
    repo.commit("edit")
    done = push(repo)
    assert "the plumbing works" in done.stderr
    assert "sandbox: process:" in done.stderr


def test_a_broken_agent_shows_in_the_plumbing_replay(pushed):
    """An agent that no longer starts is said to be broken."""
    pushed.write("agent/agent.py", "raise SystemExit('no prompt file')\n")
    pushed.commit("break")
    done = push(pushed)
    assert "the plumbing is broken" in done.stderr
    assert "no prompt file" in done.stderr


def test_an_unmeasured_edit_is_blocked_where_the_project_says_so(pushed):
    """hook.on_stale = "block"."""
    config = (pushed.path / "evalgate.toml").read_text()
    pushed.write("evalgate.toml", config + '\n[hook]\non_stale = "block"\n')
    pushed.write("agent/prompts/rewrite.md", "Unmeasured.\n")
    pushed.commit("edit")
    assert push(pushed).returncode != 0


def test_a_skip_is_honoured_and_said(pushed, scripted, evalgate):
    """EVALGATE_SKIP=reason lets a regression through aloud."""
    record(pushed, scripted, evalgate, "Be WRONG.\n")
    done = push(pushed, EVALGATE_SKIP="hotfix")
    assert done.returncode == 0
    assert "skipped: EVALGATE_SKIP=hotfix" in done.stderr


def test_a_new_branch_a_tag_and_a_deletion(pushed, scripted, evalgate):
    """A new branch is judged from where it left what the remote has; tags and deletions pass."""
    pushed.git("switch", "-qc", "feature")
    record(pushed, scripted, evalgate, "Be WRONG.\n")
    assert push(pushed, "origin", "feature").returncode != 0
    assert push(pushed, "origin", "feature", EVALGATE_SKIP="x").returncode == 0
    assert push(pushed, "origin", ":feature").returncode == 0
    pushed.git("tag", "v1", "main")
    assert push(pushed, "origin", "v1").returncode == 0


def test_from_a_linked_worktree(pushed, scripted, evalgate, tmp_path):
    """Git sets GIT_DIR there; the right repository is judged."""
    record(pushed, scripted, evalgate, "Be WRONG.\n")
    pushed.git("worktree", "add", "-q", str(tmp_path / "linked"), "-b", "other")
    done = subprocess.run(
        ["git", "push", "origin", "other"],
        cwd=tmp_path / "linked",
        env=pushed.environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode != 0
    assert "regression" in done.stderr


def test_without_a_baseline_a_push_goes_through_with_a_word(repo, evalgate, tmp_path):
    """An unmeasured base can not block anybody."""
    remote = tmp_path / "remote.git"
    repo.git("init", "-q", "--bare", str(remote))
    repo.git("remote", "add", "origin", str(remote))
    repo.git("push", "-q", "origin", "main")
    assert evalgate("hook", "install", cwd=repo.path).returncode == 0
    repo.write("agent/prompts/rewrite.md", "x\n")
    repo.commit("edit")
    done = push(repo)
    assert done.returncode == 0
    assert "no baseline" in done.stderr


def test_a_branch_without_evalgate_goes_through_with_a_word(pushed):
    """What is checked out need not have a configuration."""
    pushed.git("switch", "-q", "--orphan", "pages")
    pushed.write("index.html", "x")
    pushed.commit("pages")
    done = push(pushed, "origin", "pages")
    assert done.returncode == 0
    assert "evalgate: not judged: no evalgate configuration" in done.stderr


def test_what_can_not_be_judged_is_said_and_goes_through(pushed):
    """A hook that blocks for reasons of its own is switched off; the check in CI is the gate."""
    pushed.write("evalgate.toml", (pushed.path / "evalgate.toml").read_text() + "\n[polcy]\n")
    pushed.commit("break")
    done = push(pushed)
    assert done.returncode == 0
    assert "not judged: evalgate.toml" in done.stderr


def test_a_regression_after_an_unmeasured_push_is_said(pushed, scripted, evalgate):
    """Push, be warned, record, push: the comparison is with the harness measured before."""
    pushed.write("agent/prompts/rewrite.md", "Unmeasured.\n")
    pushed.commit("edit")
    assert push(pushed).returncode == 0
    record(pushed, scripted, evalgate, "Be WRONG.\n")
    done = push(pushed)
    assert done.returncode == 0, "two changes can not be told apart, so nothing is blocked"
    assert "no baseline: The base was not measured" in done.stderr
    assert "1 change(s) back" in done.stderr
    assert "lowers the pass rate: 100 % → 0 %" in done.stderr


def test_a_project_below_the_top_is_judged(recorded, scripted, evalgate, tmp_path):
    """Git runs hooks at the top of the repository; the project may lie below."""
    inner = recorded.path / "services/one"
    inner.mkdir(parents=True)
    for name in ("agent", "tasks", "evalgate.toml", "cassettes", "baselines"):
        recorded.git("mv", name, f"services/one/{name}")
    recorded.commit("moved")
    remote = tmp_path / "remote.git"
    recorded.git("init", "-q", "--bare", str(remote))
    recorded.git("remote", "add", "origin", str(remote))
    recorded.git("push", "-q", "origin", "main")
    assert evalgate("hook", "install", cwd=inner).returncode == 0
    recorded.write("services/one/agent/prompts/rewrite.md", "Be WRONG.\n")
    env = {"SCRIPTED_URL": scripted.url}
    assert evalgate("run", "--record", cwd=inner, env=env).returncode == 0
    recorded.commit("edit")
    done = push(recorded)
    assert done.returncode != 0
    assert "regression" in done.stderr
